// Package script is the scenario engine: whole journeys through the real main,
// written as txtar files and run by testscript in this process.
//
// It belongs to harness and knows nothing about agents: words that know the
// runtime are a table that the caller hands in. It does not compare JSON contracts
// or Go values: package snapshot does.
//
// # A scenario
//
// A scenario is <root>/<area>/<name>.txtar. Its first line says what and why; then
// come words, one a line; then files, which are laid out in a folder of their own
// ($WORK) before the first word runs:
//
//	# a card is renamed through a draft, and the store has the new name
//	cassette content/rename
//	soundstage run 'rename Ada to Ida'
//	stdout 'verified'
//	-- card.json --
//	{"spec":"chara_card_v2"}
//
// Words are testscript's own (cmp, stdout, exists, …), this package's (see
// [Words]) and the caller's. Every word and every flag is checked before the first
// one runs, so that a typing error behind a stop or a condition is found too.
//
// # Rules that keep scenarios true
//
//   - The program runs in this process, through its own main, with every door given
//     as a value ([Doors]). Scripts run side by side: nothing here calls os.Setenv
//     or os.Chdir, and main must not either.
//   - Time stands still until the word clock moves it.
//   - The word cassette opens one seam, which every program after it shares: the
//     calls of a journey are in one order in one file. A miss that the script does
//     not expect fails it, also when the program went on.
//   - The engine opens the cassette itself, so that go test knows the file and does
//     not answer from its cache after it changed.
//   - A root without scenarios is a failure, never an empty pass.
//   - What needs a second process or a real signal uses exec $SOUNDSTAGE, which is
//     the test binary again (see [Main]). That costs about thirty times as much; a
//     test in repocheck keeps it rare.
package script

// Package repocheck is tests about the repository itself: who imports whom, how
// large files grow, which doors to the outside are used where, and that data,
// goldens and generated documents belong to something.
//
// It belongs to harness and is tests only. The tests read the files in this process:
// asking "go list" would be shorter, but go test's cache cannot see what a child
// process reads and would answer with an old pass after a breach. Each rule has a
// breach of its own, planted in a string, that it must find.
//
// Adding a line to a table here is a decision about the architecture: say why beside
// it. It does not check types; staticcheck and vet do.
package repocheck

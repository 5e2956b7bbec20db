package script

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Word is what a reader needs to know of a word.
type Word struct {
	Name, Args, Help string
}

// Words lists every word that scripts can use, but for testscript's own, by name.
func Words[X any](o Options[X]) []Word {
	all := allWords(o)
	var words []Word
	for _, name := range slices.Sorted(maps.Keys(all)) {
		words = append(words, Word{name, all[name].Args, all[name].Help})
	}
	return words
}

// Readme is the text of the scenarios' README.md: intro, then the words.
func Readme[X any](o Options[X], intro string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n## Words\n\n", strings.TrimSpace(intro))
	b.WriteString("| word | what it does |\n|---|---|\n")
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, w := range Words(o) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", cell.Replace(strings.TrimSpace(w.Name+" "+w.Args)), cell.Replace(w.Help))
	}
	fmt.Fprintf(&b, "\ntestscript's own words work too: %s.\n", "`"+strings.Join(builtin, "` `")+"`")
	b.WriteString("A leading `!` turns a word's expectation round; `[cond]` before a word runs it on that condition only:\n" +
		"`[replay]` leaves it out while recording, where a trace names another mode.\n")
	for _, name := range slices.Sorted(maps.Keys(o.Conditions)) {
		fmt.Fprintf(&b, "`[%s]` holds %s.\n", o.Conditions[name].spelled(name), o.Conditions[name].Help)
	}
	return b.Bytes()
}

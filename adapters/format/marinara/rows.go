package marinara

import (
	"strconv"

	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// texted are the values of a preset that its rows have as JSON in a text. In a list of
// rows * is each of them.
var texted = [][]string{
	{"preset", "sectionOrder"},
	{"preset", "groupOrder"},
	{"preset", "variableGroups"},
	{"preset", "variableValues"},
	{"preset", "parameters"},
	{"preset", "defaultChoices"},
	{"sections", "*", "markerConfig"},
	{"choiceBlocks", "*", "options"},
}

// textedIn calls visit with the pointer of each such value.
func textedIn(doc *canon.Node, visit func(ptr string)) {
	for _, t := range texted {
		if t[1] != "*" {
			visit(canon.JoinPointer("data", t[0], t[1]))
			continue
		}
		for i := range doc.At("/data/" + t[0]).Items() {
			visit(canon.JoinPointer("data", t[0], strconv.Itoa(i), t[2]))
		}
	}
}

// opened is the document with those texts as what they say. A text that is no JSON
// stays one.
func opened(doc *canon.Node) *canon.Node {
	doc = doc.Clone()
	textedIn(doc, func(ptr string) {
		n := doc.At(ptr)
		if n.Kind() != canon.String {
			return
		}
		if inner, err := canon.ParseTree([]byte(n.Text())); err == nil {
			twin.Set(doc, ptr, inner)
		}
	})
	return doc
}

// closed puts values back into texts, as the file has them. One that says the same takes
// the tokens of the file. Where the file has none of them in a text, they stay as they are.
func closed(doc, file *canon.Node) *canon.Node {
	known, native := map[string]*canon.Node{}, false
	textedIn(file, func(ptr string) {
		switch n := file.At(ptr); n.Kind() {
		case canon.String:
			if inner, err := canon.ParseTree([]byte(n.Text())); err == nil {
				known[string(inner.Bytes())] = n
			}
		case canon.Array, canon.Object:
			native = true
		}
	})
	textedIn(doc, func(ptr string) {
		n := doc.At(ptr)
		if n == nil {
			return
		}
		old := file.At(ptr)
		text, same := known[string(n.Bytes())]
		switch {
		case old.Kind() == canon.String && string(old.Bytes()) == string(n.Bytes()): // no JSON
		case old != nil && string(old.Bytes()) == string(n.Bytes()) && old.Kind() != canon.String:
		case same:
			twin.Set(doc, ptr, text)
		case n.Kind() == canon.Null, native && len(known) == 0:
		default:
			twin.Set(doc, ptr, canon.NewText(string(n.Bytes())))
		}
	})
	return doc
}

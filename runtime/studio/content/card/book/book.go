// Package book reads and writes the lorebook of the Character Card specifications: the
// character_book of a card of version 2 or 3, alone in a file or within a card, with the
// keys that SillyTavern and Risu add to it.
//
// It is a pure codec beside content/card. Read gives the canonical body of a lorebook;
// Lay puts a changed one over the node that it was read from, and says what has no
// place. Decorators, the lines that begin with @@ in a text, are read as the fields
// that they mean, where there are such. It opens no file and scans no chat.
package book

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Fresh is the smallest book.
func Fresh() *canon.Node { return twin.Parsed(`{"extensions":{},"entries":[]}`) }

// Is reports a node that has the shape of a book: entries, a list of objects or an
// object of them, whose keys are spelled as the specification does.
func Is(node *canon.Node) bool {
	if node.Kind() != canon.Object {
		return false
	}
	entries := node.Field("entries")
	if entries.Kind() != canon.Array && entries.Kind() != canon.Object {
		return false
	}
	for _, e := range entries.Items() {
		return spelled(e)
	}
	for _, e := range entries.Members() {
		return spelled(e)
	}
	return entries.Kind() == canon.Array && node.Field("extensions").Kind() == canon.Object
}

func spelled(e *canon.Node) bool {
	return e.Field("keys") != nil && e.Field("key") == nil && e.Field("uid") == nil
}

// Read gives the canonical body of a book, without a name where it has none, and what
// could not be taken as it stands.
func Read(node *canon.Node) (body *canon.Node, problems []string) { return twin.Read(node, fields) }

// Lay writes body over node, which it changes. The losses have no Target yet.
func Lay(node, body *canon.Node) []twin.Loss { return twin.Lay(node, fields, body) }

// Regular gives each entry the key use_regex, which version 3 demands.
func Regular(node *canon.Node) {
	for _, e := range node.Field("entries").Items() {
		if e.Kind() == canon.Object && e.Field("use_regex") == nil {
			set(e, "/use_regex", canon.NewBool(hasPattern(e.Field("keys"))))
		}
	}
}

// set makes the objects on its way; one of another kind, as "extensions": null, holds
// nothing and is replaced.
func set(n *canon.Node, ptr string, v *canon.Node) {
	if n.Set(ptr, v) == nil {
		return
	}
	toks, err := canon.SplitPointer(ptr)
	must(err)
	for i := range toks[:len(toks)-1] {
		if parent := canon.JoinPointer(toks[:i+1]...); n.At(parent).Kind() != canon.Object {
			must(n.Set(parent, canon.NewObject()))
		}
	}
	must(n.Set(ptr, v))
}

// must is for pointers of our own into objects.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

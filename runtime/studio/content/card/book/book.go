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
	"strconv"

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

// numbered is the list of entries. A new one whose id is no number is given the next,
// because programs take an entry without one for that of its place in the list.
func numbered(list twin.Codec) twin.Codec {
	return twin.Codec{
		Read: list.Read, Empty: list.Empty,
		Write: func(val, old *canon.Node) *canon.Node {
			put, _ := layNumbered(list, val, old)
			return put
		},
		Lay: func(val, old *canon.Node) (*canon.Node, []twin.Loss) { return layNumbered(list, val, old) },
	}
}

func layNumbered(list twin.Codec, val, old *canon.Node) (*canon.Node, []twin.Loss) {
	was, _ := list.Read(old)
	there, next := map[string]bool{}, 0
	see := func(id string) {
		if n, ok := whole(id); ok && n >= next {
			next = n + 1
		}
	}
	for _, it := range was.Items() {
		there[it.Field("id").Text()] = true
	}
	for _, it := range old.Items() {
		see(it.Field("id").Raw())
	}
	for name, it := range old.Members() {
		see(name)
		see(it.Field("id").Raw())
	}
	next = max(next, old.Len())
	for _, it := range val.Items() {
		see(it.Field("id").Text())
	}
	val = val.Clone()
	var losses []twin.Loss
	for i, it := range val.Items() {
		id := it.Field("id").Text()
		if _, ok := whole(id); ok || there[id] {
			continue
		}
		set(it, "/id", canon.NewText(strconv.Itoa(next)))
		losses = append(losses, twin.Loss{
			Path: "/" + strconv.Itoa(i) + "/id", Value: twin.Clip(canon.NewText(id)), Verdict: twin.Renamed,
			Reason: "entries of a book are numbered; it becomes " + strconv.Itoa(next),
		})
		next++
	}
	put, more := list.Lay(val, old)
	return put, append(losses, more...)
}

// whole reads an id that is a number in files.
func whole(id string) (int, bool) {
	n, err := strconv.Atoi(id)
	return n, err == nil && n >= 0 && n < 1<<31 && strconv.Itoa(n) == id
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

// Package merge joins two edits of one JSON document, and says what differs between
// two.
//
// It stands below the studio's tools and is pure. A list whose members are objects with
// an id is taken by id, so that an entry added in front changes no other. What was
// changed differently on both sides is a conflict, which is data: the merge goes on
// with ours. It does not know what a document means, and stores nothing.
package merge

import (
	"slices"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// A Conflict is one value that both sides changed, each in its own way. A nil value is
// one that is not there.
type Conflict struct {
	// Path points into the merged document. Where nothing stands there, because ours
	// removed it, a member of a list is named by its id in place of its index.
	Path               string
	Base, Ours, Theirs *canon.Node
	// Order says that only the order of a list is meant: the values list its ids.
	Order bool
}

// Options are what the caller knows of the documents.
type Options struct {
	// Set says whether the list under a name holds texts in no order that matters, such
	// as tags: what both sides add and remove is joined. nil is none.
	Set func(name string) bool
}

// Three merges what ours and theirs made of base. Where they conflict, the merged
// document has ours. The nodes of the result may be those of the arguments: do not
// change one and go on using the others.
func Three(base, ours, theirs *canon.Node, o Options) (*canon.Node, []Conflict) {
	m := merger{set: o.Set}
	merged := m.node(nil, base, ours, theirs)
	conflicts := make([]Conflict, len(m.found))
	for i, f := range m.found {
		conflicts[i] = f.Conflict
		conflicts[i].Path = canon.JoinPointer(f.at...)
	}
	return merged, conflicts
}

type merger struct {
	set   func(name string) bool
	found []conflict
}

// A conflict is on its way: the index of a list's member is known when the list is
// whole.
type conflict struct {
	Conflict
	at []string
}

func (m *merger) node(at []string, b, o, t *canon.Node) *canon.Node {
	switch {
	case same(o, t), same(b, t):
		return o
	case same(b, o):
		return t
	case is(o, canon.Object) && is(t, canon.Object):
		return m.object(at, b, o, t)
	case is(o, canon.Array) && is(t, canon.Array):
		if merged, ok := m.list(at, b, o, t); ok {
			return merged
		}
	}
	m.conflict(at, b, o, t)
	return o
}

func (m *merger) conflict(at []string, b, o, t *canon.Node) {
	m.found = append(m.found, conflict{Conflict{Base: b, Ours: o, Theirs: t}, slices.Clone(at)})
}

func (m *merger) object(at []string, b, o, t *canon.Node) *canon.Node {
	if !is(b, canon.Object) {
		b = canon.NewObject()
	}
	merged := canon.NewObject()
	put := func(name string, v *canon.Node) {
		if v != nil {
			_ = merged.Set(canon.JoinPointer(name), v) // a member of an object can always be set
		}
	}
	for name, v := range o.Members() {
		put(name, m.node(append(at, name), b.Field(name), v, t.Field(name)))
	}
	for name, v := range t.Members() {
		if o.Field(name) == nil {
			put(name, m.node(append(at, name), b.Field(name), nil, v))
		}
	}
	return merged
}

// list merges lists, or says that it cannot.
func (m *merger) list(at []string, b, o, t *canon.Node) (*canon.Node, bool) {
	if !is(b, canon.Array) {
		b = canon.NewArray()
	}
	name := ""
	if len(at) > 0 {
		name = at[len(at)-1]
	}
	key := idOf
	if m.set != nil && m.set(name) {
		key = textOf
	}
	lb, okB := index(b, key)
	lo, okO := index(o, key)
	lt, okT := index(t, key)
	switch {
	case okB && okO && okT:
		return m.keyed(at, lb, lo, lt), true
	case b.Len() == o.Len() && b.Len() == t.Len():
		merged := canon.NewArray()
		for i, v := range o.Items() {
			place := strconv.Itoa(i)
			push(merged, m.node(append(at, place), b.At("/"+place), v, t.At("/"+place)))
		}
		return merged, true
	}
	return appended(b, o, t)
}

// appended joins two lists that both only grew at the end.
func appended(b, o, t *canon.Node) (*canon.Node, bool) {
	items := func(n *canon.Node) (all []*canon.Node) {
		for _, v := range n.Items() {
			all = append(all, v)
		}
		return all
	}
	base, ours, theirs := items(b), items(o), items(t)
	common := 0
	for common < min(len(ours), len(theirs)) && same(ours[common], theirs[common]) {
		if common < len(base) && !same(base[common], ours[common]) {
			return nil, false
		}
		common++
	}
	if common < len(base) {
		return nil, false
	}
	return canon.NewArray(append(slices.Clone(ours), theirs[common:]...)...), true
}

// same says whether two values are equal; nothing equals only nothing.
func same(a, b *canon.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return canon.Equal(a, b)
}

func is(n *canon.Node, k canon.Kind) bool { return n != nil && n.Kind() == k }

func push(list, v *canon.Node) {
	_ = list.Set("/-", v) // the end of a list can always be set
}

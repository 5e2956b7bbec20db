package merge

import (
	"slices"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// A keyed list is one whose members have names of their own.
type keyed struct {
	order []string
	by    map[string]*canon.Node
}

// idOf is the id of an object that has one.
func idOf(n *canon.Node) string {
	if !is(n, canon.Object) || !is(n.Field("id"), canon.String) {
		return ""
	}
	return n.Field("id").Text()
}

// textOf is a text, as its own name.
func textOf(n *canon.Node) string {
	if !is(n, canon.String) {
		return ""
	}
	return n.Text()
}

// index takes a list by the names of its members; not ok where one has none, or two
// have the same.
func index(n *canon.Node, key func(*canon.Node) string) (keyed, bool) {
	k := keyed{by: make(map[string]*canon.Node, n.Len())}
	for _, v := range n.Items() {
		name := key(v)
		if name == "" || k.by[name] != nil {
			return k, false
		}
		k.by[name] = v
		k.order = append(k.order, name)
	}
	return k, true
}

// keyed merges lists by the names of their members.
func (m *merger) keyed(at []string, b, o, t keyed) *canon.Node {
	kept := map[string]*canon.Node{}
	first, whose := len(m.found), []string{} // of each conflict found below: the member
	for _, name := range append(slices.Clone(o.order), t.order...) {
		if _, done := kept[name]; done {
			continue
		}
		kept[name] = m.node(append(at, name), b.by[name], o.by[name], t.by[name])
		for len(whose) < len(m.found)-first {
			whose = append(whose, name)
		}
	}
	for name, v := range kept {
		if v == nil {
			delete(kept, name)
		}
	}
	merged, place := canon.NewArray(), map[string]int{}
	for i, name := range m.order(at, kept, b, o, t) {
		push(merged, kept[name])
		place[name] = i
	}
	for i, name := range whose {
		if n, ok := place[name]; ok {
			m.found[first+i].at[len(at)] = strconv.Itoa(n)
		}
	}
	return merged
}

// order is that of the side that changed it, with what only the other side has behind
// what it stands behind there.
func (m *merger) order(at []string, kept map[string]*canon.Node, b, o, t keyed) []string {
	common := func(k keyed) []string {
		return slices.DeleteFunc(slices.Clone(k.order), func(name string) bool {
			return b.by[name] == nil || o.by[name] == nil || t.by[name] == nil
		})
	}
	base, ours, theirs := common(b), common(o), common(t)
	main, other := o, t
	switch {
	case slices.Equal(base, ours):
		if !slices.Equal(ours, theirs) {
			main, other = t, o
		}
	case !slices.Equal(base, theirs) && !slices.Equal(ours, theirs):
		m.found = append(m.found, conflict{Conflict{Base: texts(base), Ours: texts(ours), Theirs: texts(theirs), Order: true}, slices.Clone(at)})
	}
	return join(kept, b, main, other)
}

// join puts what only other has into the order of main.
func join(kept map[string]*canon.Node, b, main, other keyed) []string {
	behind, anchor := map[string][]string{}, ""
	for _, name := range other.order {
		switch {
		case kept[name] == nil:
		case main.by[name] != nil:
			anchor = name
		default:
			behind[anchor] = append(behind[anchor], name)
		}
	}
	order := make([]string, 0, len(kept))
	waiting := behind[""]
	for _, name := range main.order {
		if kept[name] == nil {
			continue
		}
		if b.by[name] != nil { // what main added at the same place stays before
			order, waiting = append(order, waiting...), nil
		}
		order = append(order, name)
		waiting = append(waiting, behind[name]...)
	}
	return append(order, waiting...)
}

func texts(names []string) *canon.Node {
	list := canon.NewArray()
	for _, name := range names {
		push(list, canon.NewText(name))
	}
	return list
}

package value

import (
	"maps"
	"slices"
	"sync/atomic"
)

// layer is how many members a box may have over its base.
const layer = 24

// A box is the members of a map, or the items of a list. It never changes: a map with
// another member is a box of its own over the one before, so that a large world is not
// copied for each key that is set.
type box struct {
	list []Value
	m    map[string]Value
	base *box // a map below m, with no base itself
	n    int  // members in all
	seen atomic.Pointer[native]
}

func listOf(items []Value) Value { return Value{kind: List, box: &box{list: items, n: len(items)}} }

func mapOf(m map[string]Value) Value { return Value{kind: Map, box: &box{m: m, n: len(m)}} }

func (b *box) get(name string) (Value, bool) {
	if b == nil {
		return Value{}, false
	}
	v, ok := b.m[name]
	if !ok && b.base != nil {
		v, ok = b.base.m[name]
	}
	return v, ok
}

// names are the names of a map, sorted.
func (b *box) names() []string {
	if b == nil {
		return nil
	}
	names := make([]string, 0, b.n)
	for name := range b.m {
		names = append(names, name)
	}
	if b.base != nil {
		for name := range b.base.m {
			if _, over := b.m[name]; !over {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// flat is all members, in a map of the caller's.
func (b *box) flat(room int) map[string]Value {
	if b == nil {
		return make(map[string]Value, room)
	}
	if b.base == nil {
		if b.m == nil {
			return make(map[string]Value, room)
		}
		return maps.Clone(b.m)
	}
	m := maps.Clone(b.base.m)
	maps.Copy(m, b.m)
	return m
}

// with is a box with these members over those of b.
func (b *box) with(more map[string]Value) *box {
	if b == nil || b.n == 0 {
		return &box{m: maps.Clone(more), n: len(more)}
	}
	base, over := b, map[string]Value(nil)
	if b.base != nil {
		base, over = b.base, b.m
	}
	if len(base.m) < 2*layer || len(over)+len(more) > layer {
		m := b.flat(len(more))
		maps.Copy(m, more)
		return &box{m: m, n: len(m)}
	}
	m := make(map[string]Value, len(over)+len(more))
	maps.Copy(m, over)
	maps.Copy(m, more)
	n := len(base.m)
	for name := range m {
		if _, ok := base.m[name]; !ok {
			n++
		}
	}
	return &box{m: m, base: base, n: n}
}

func (b *box) items() []Value {
	if b == nil {
		return nil
	}
	return b.list
}

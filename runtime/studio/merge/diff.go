package merge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// A Row is one value that differs between two documents. A nil value is one that is not
// there.
type Row struct {
	// Path points into the later document, or into the earlier one where After is nil.
	Path          string
	Before, After *canon.Node
	// Items are the ids of the list members on the way, outermost first.
	Items []string
	// Order says that only the order of a list is meant: the values list its ids.
	Order bool
}

// Diff gives the smallest values that differ, in the order of the documents.
func Diff(before, after *canon.Node) []Row {
	d := differ{}
	d.node(nil, nil, before, after)
	return d.rows
}

type differ struct{ rows []Row }

func (d *differ) row(at, items []string, a, b *canon.Node, order bool) {
	d.rows = append(d.rows, Row{Path: canon.JoinPointer(at...), Before: a, After: b, Items: slices.Clone(items), Order: order})
}

func (d *differ) node(at, items []string, a, b *canon.Node) {
	switch {
	case same(a, b):
	case isMore(a, canon.Object) && isMore(b, canon.Object) && (a != nil || b.Len() > 0) && (b != nil || a.Len() > 0):
		d.object(at, items, a, b)
	case is(a, canon.Array) && is(b, canon.Array):
		d.list(at, items, a, b)
	default:
		d.row(at, items, a, b, false)
	}
}

// isMore is is, for what may also be not there: an object that came or went as a whole
// is shown by its fields.
func isMore(n *canon.Node, k canon.Kind) bool { return n == nil || n.Kind() == k }

func (d *differ) object(at, items []string, a, b *canon.Node) {
	names := []string{}
	for name := range a.Members() {
		names = append(names, name)
	}
	for name := range b.Members() {
		if a.Field(name) == nil {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, strings.Compare)
	for _, name := range names {
		d.node(append(at, name), items, a.Field(name), b.Field(name))
	}
}

func (d *differ) list(at, items []string, a, b *canon.Node) {
	la, okA := index(a, idOf)
	lb, okB := index(b, idOf)
	switch {
	case okA && okB:
		d.keyed(at, items, la, lb)
	case a.Len() == b.Len():
		for i, v := range b.Items() {
			place := strconv.Itoa(i)
			d.node(append(at, place), items, a.At("/"+place), v)
		}
	default:
		d.row(at, items, a, b, false)
	}
}

func (d *differ) keyed(at, items []string, a, b keyed) {
	for i, name := range a.order {
		if b.by[name] == nil {
			d.row(append(at, strconv.Itoa(i)), append(items, name), a.by[name], nil, false)
		}
	}
	for i, name := range b.order {
		place := append(at, strconv.Itoa(i))
		if a.by[name] == nil {
			d.row(place, append(items, name), nil, b.by[name], false)
			continue
		}
		d.node(place, append(items, name), a.by[name], b.by[name])
	}
	both := func(k, other keyed) []string {
		return slices.DeleteFunc(slices.Clone(k.order), func(name string) bool { return other.by[name] == nil })
	}
	if was, now := both(a, b), both(b, a); !slices.Equal(was, now) {
		d.row(at, items, texts(was), texts(now), true)
	}
}

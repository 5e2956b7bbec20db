package chatpreset

import (
	"slices"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// unlistedInOrder moves prompts that are in no order behind the others, where they do
// not already stand as the blocks do: nothing else tells their order.
func unlistedInOrder(list []*canon.Node, now []next) []*canon.Node {
	var want, have []string
	place := map[string]int{}
	for _, n := range now {
		if n.unlisted {
			place[n.id] = len(want)
			want = append(want, n.id)
		}
	}
	seen := map[string]bool{}
	for _, it := range list {
		id := it.Field("identifier").Text()
		if _, is := place[id]; is && !seen[id] {
			seen[id] = true
			have = append(have, id)
		}
	}
	if slices.Equal(want, have) {
		return list
	}
	slices.SortStableFunc(list, func(a, b *canon.Node) int {
		x, ox := place[a.Field("identifier").Text()]
		y, oy := place[b.Field("identifier").Text()]
		switch {
		case ox && oy:
			return x - y
		case ox:
			return 1
		case oy:
			return -1
		}
		return 0
	})
	return list
}

func sameOrder(was []row, now []next) bool {
	return slices.EqualFunc(was, now, func(r row, n next) bool {
		return r.id == n.id && r.enabled == n.enabled && r.unlisted == n.unlisted
	})
}

// layOrder writes the order. What it has beside the blocks, such as a name without a
// prompt, stays behind what it stood behind.
func (p plan) layOrder(doc *canon.Node, now []next) {
	known, entries, behind, last := map[string]bool{}, map[string]*canon.Node{}, map[string][]*canon.Node{}, ""
	list, _, _ := p.rows()
	for _, r := range list {
		known[r.id] = true
	}
	for _, o := range p.order.Items() {
		if id := o.Field("identifier").Text(); known[id] && entries[id] == nil {
			entries[id], last = o, id
		} else {
			behind[last] = append(behind[last], o)
		}
	}
	out := behind[""]
	delete(behind, "")
	for _, n := range now {
		if n.unlisted {
			continue
		}
		o := entries[n.id].Clone()
		if o == nil {
			o = canon.NewObject()
			twin.Set(o, "/identifier", canon.NewText(n.id))
		}
		if on, _ := twin.Bool.Read(o.Field("enabled")); on == nil || (on.Raw() == "true") != n.enabled {
			twin.Set(o, "/enabled", twin.Bool.Write(canon.NewBool(n.enabled), o.Field("enabled")))
		}
		out = append(append(out, o), behind[n.id]...)
		delete(behind, n.id)
	}
	homeless := map[*canon.Node]bool{}
	for _, rest := range behind {
		for _, o := range rest {
			homeless[o] = true
		}
	}
	for _, o := range p.order.Items() {
		if homeless[o] {
			out = append(out, o)
		}
	}
	order := twin.Refill(p.order, out)
	switch {
	case p.order != nil:
		twin.Set(doc, p.orderAt, order)
	case p.at != "":
		twin.Set(doc, p.orderAt, order)
	default:
		entry := canon.NewObject()
		twin.Set(entry, "/character_id", canon.NewInt(100001))
		twin.Set(entry, "/order", order)
		all := doc.At(p.orderAt)
		if all.Kind() != canon.Array {
			all = canon.NewArray()
			twin.Set(doc, p.orderAt, all)
		}
		twin.Set(doc, p.orderAt+"/-", entry)
	}
}

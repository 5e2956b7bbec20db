package twin

import (
	"fmt"
	"math"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// MaxItems is how many items one list of objects may have; what is beyond is told as a
// problem and stays in the original.
const MaxItems = 10_000

// Objects is a list of objects with fields of their own. id is the path of a field that
// tells them apart, or "": an item without one, or with one that is taken, is given
// prefix and its place, counted from 1. fresh is the smallest item, as JSON.
//
// An item that is written finds the twin's item of the same id, else one that is
// equal: what nobody knows there stays with it, wherever the item has moved.
func Objects(fields []Field, id, prefix, fresh string) Codec {
	o := objects{fields: fields, id: id, prefix: prefix, fresh: fresh}
	return Codec{Read: o.read, Write: o.write, Lay: o.lay, Empty: `[]`}
}

type objects struct {
	fields            []Field
	id, prefix, fresh string
}

// An item is one item of a list, as it stands and as it is read.
type item struct {
	name     string // where the list is an object
	wish     string // of a new item there: its id
	raw, val *canon.Node
	fresh    bool // it has no twin
}

// key is by what an item finds its twin.
func (o objects) key(val *canon.Node) string {
	if o.id != "" {
		return val.At(o.id).Text()
	}
	return key(val)
}

// items reads a list, or the members of an object that some programs write instead.
func (o objects) items(n *canon.Node) (list []item, problems []string) {
	for _, raw := range n.Items() {
		list = append(list, item{raw: raw})
	}
	for name, raw := range n.Members() {
		if raw == n.Field(name) { // of doubled keys the last
			list = append(list, item{name: name, raw: raw})
		}
	}
	if len(list) > MaxItems {
		problems = append(problems, fmt.Sprintf("has %d items; those beyond %d stay in the original file and are not used", len(list), MaxItems))
	}
	taken := map[string]bool{}
	for i := range list[:min(len(list), MaxItems)] {
		it := &list[i]
		if it.raw.Kind() != canon.Object {
			problems = append(problems, fmt.Sprintf("item %d is %s; it stays in the original file and is not used", i, it.raw.Kind()))
			continue
		}
		val, more := Read(it.raw, o.fields)
		for _, p := range more {
			problems = append(problems, fmt.Sprintf("item %d %s", i, p))
		}
		if o.id != "" {
			if was := val.At(o.id).Text(); was == "" || taken[was] {
				if was != "" {
					problems = append(problems, fmt.Sprintf("item %d has the id %q of another; it is given one of its own", i, was))
				}
				must(val.Set(o.id, canon.NewText(o.free(i+1, taken))))
			}
			taken[val.At(o.id).Text()] = true
		}
		it.val = val
	}
	return list, problems
}

func (o objects) free(n int, taken map[string]bool) string {
	id := o.prefix + strconv.Itoa(n)
	for ; taken[id]; n++ {
		id = o.prefix + strconv.Itoa(n+1)
	}
	return id
}

func (o objects) read(n *canon.Node) (*canon.Node, string) {
	switch n.Kind() {
	case canon.Null:
		return nil, ""
	case canon.Array, canon.Object:
	default:
		return nil, fmt.Sprintf("is %s where a list belongs; it stays in the original file and is not used", n.Kind())
	}
	list, problems := o.items(n)
	var vals []*canon.Node
	for _, it := range list {
		if it.val != nil {
			vals = append(vals, it.val)
		}
	}
	if len(vals) == 0 {
		return nil, told(problems)
	}
	return canon.NewArray(vals...), told(problems)
}

// told joins problems, the first few of them in words.
func told(problems []string) string {
	text := ""
	for i, p := range problems {
		if i == mostProblems {
			return fmt.Sprintf("%s; and %d more", text, len(problems)-i)
		}
		if i > 0 {
			text += "; "
		}
		text += p
	}
	return text
}

func (o objects) write(val, old *canon.Node) *canon.Node {
	put, _ := o.lay(val, old)
	return put
}

func (o objects) lay(val, old *canon.Node) (*canon.Node, []Loss) {
	was, _ := o.items(old)
	byKey := map[string][]int{}
	for i, it := range was {
		if it.val != nil {
			k := o.key(it.val)
			byKey[k] = append(byKey[k], i)
		}
	}
	var losses []Loss
	puts := make([]item, 0, val.Len())
	for i, now := range val.Items() {
		put, k := item{}, o.key(now)
		if left := byKey[k]; len(left) > 0 {
			put.name, put.raw, byKey[k] = was[left[0]].name, was[left[0]].raw.Clone(), left[1:]
		} else {
			fresh, err := canon.ParseTree([]byte(o.fresh))
			must(err)
			put.raw, put.wish, put.fresh = fresh, k, true
		}
		for _, l := range Lay(put.raw, o.without(now, put.raw, put.fresh), now) {
			l.Path = "/" + strconv.Itoa(i) + l.Path
			losses = append(losses, l)
		}
		puts = append(puts, put)
	}
	for _, it := range was {
		if it.val == nil {
			puts = append(puts, it) // what could not be read stays, at the end
		}
	}
	if old.Kind() == canon.Object {
		return members(old, puts), losses
	}
	raws := make([]*canon.Node, len(puts))
	for i, it := range puts {
		raws[i] = it.raw
	}
	return Refill(old, raws), losses
}

// members is an object of items, over the one that they came from. A new item is named
// by its id where that is a whole number and free, else by the next whole number.
func members(old *canon.Node, list []item) *canon.Node {
	next, taken := 0, map[string]bool{}
	see := func(name string) {
		taken[name] = true
		if n, err := strconv.Atoi(name); err == nil && n >= next && n < math.MaxInt32 {
			next = n + 1
		}
	}
	for _, it := range list {
		if it.name != "" {
			see(it.name)
		}
	}
	for i, it := range list {
		if it.name != "" {
			continue
		}
		if n, err := strconv.Atoi(it.wish); err != nil || n < 0 || strconv.Itoa(n) != it.wish || taken[it.wish] {
			it.wish = strconv.Itoa(next)
		}
		list[i].name = it.wish
		see(it.wish)
	}
	out := old.Clone()
	if !sameOrder(old, list) {
		out = canon.NewObject()
	}
	for name := range old.Members() {
		if !taken[name] {
			_, err := out.Delete(canon.JoinPointer(name))
			must(err)
		}
	}
	for _, it := range list {
		must(out.Set(canon.JoinPointer(it.name), it.raw))
	}
	return out
}

// sameOrder reports that those of the items which old has stand in its order, before
// all others.
func sameOrder(old *canon.Node, list []item) bool {
	places, i := map[string]int{}, 0
	for name := range old.Members() {
		places[name] = i
		i++
	}
	last := -1
	for _, it := range list {
		at, ok := places[it.name]
		if !ok {
			at = i
		}
		if at < last {
			return false
		}
		last = at
	}
	return true
}

// without is the fields, but for an id that reading made up: the document has none.
func (o objects) without(now, doc *canon.Node, fresh bool) []Field {
	if o.id == "" {
		return o.fields
	}
	list := make([]Field, 0, len(o.fields))
	for _, f := range o.fields {
		if f.Path == o.id && f.Ptr != "" && !fresh {
			if val, _ := f.Codec.Read(doc.At(f.Ptr)); !canon.Equal(val, now.At(o.id)) {
				f = Field{Path: o.id, Over: &asItWas} // made up, because there is none, or it is taken or not readable
			}
		}
		if f.Path == o.id && f.Ptr == "" && f.Over == nil {
			f = Field{Path: o.id, Over: &asItWas} // an id of ours is no loss
		}
		list = append(list, f)
	}
	return list
}

// asItWas leaves the document alone.
var asItWas = Over{
	Read:  func(*canon.Node) (*canon.Node, string) { return nil, "" },
	Write: func(_, _ *canon.Node) []Loss { return nil },
}

// Object is one object with fields of its own. fresh is the smallest one, as JSON.
func Object(fields []Field, fresh string) Codec {
	lay := func(val, old *canon.Node) (*canon.Node, []Loss) {
		doc := old.Clone()
		if doc.Kind() != canon.Object {
			made, err := canon.ParseTree([]byte(fresh))
			must(err)
			doc = made
		}
		losses := Lay(doc, fields, val)
		return doc, losses
	}
	return Codec{
		Read: func(n *canon.Node) (*canon.Node, string) {
			switch n.Kind() {
			case canon.Null:
				return nil, ""
			case canon.Object:
			default:
				return nil, fmt.Sprintf("is %s where an object belongs; it stays in the original file and is not used", n.Kind())
			}
			val, problems := Read(n, fields)
			if val.Len() == 0 {
				val = nil
			}
			return val, told(problems)
		},
		Write: func(val, old *canon.Node) *canon.Node {
			put, _ := lay(val, old)
			return put
		},
		Lay: lay, Empty: fresh,
	}
}

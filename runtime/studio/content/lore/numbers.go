package lore

import (
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// NumberID is an id that most programs write as a number.
var NumberID = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		if n.Kind() == canon.String {
			return twin.ReadText(n)
		}
		v, problem := twin.Int.Read(n)
		if v == nil {
			return nil, problem
		}
		return canon.NewText(v.Raw()), problem
	},
	Write: func(val, old *canon.Node) *canon.Node {
		if n, ok := Number(val.Text()); ok && old.Kind() != canon.String {
			return canon.NewInt(int64(n))
		}
		return val
	},
	Empty: "0",
}

// Number reads an id that is a number in files.
func Number(id string) (int, bool) {
	n, err := strconv.Atoi(id)
	return n, err == nil && n >= 0 && n < 1<<31 && strconv.Itoa(n) == id
}

// After is the least number behind every name of old's members and every id of its
// items, which stand at key.
func After(old *canon.Node, key string) int {
	next := 0
	see := func(id string) {
		if n, ok := Number(id); ok && n >= next {
			next = n + 1
		}
	}
	for name, e := range old.Members() {
		see(name)
		see(e.Field(key).Raw())
	}
	for _, e := range old.Items() {
		see(e.Field(key).Raw())
	}
	return next
}

// Numbered is a list of objects whose ids are numbers in the file. An item that is new
// there, and has another id, is given the next number, from `from` up; why says what
// becomes of it: "entries are numbered".
func Numbered(list twin.Codec, from func(old *canon.Node) int, why string) twin.Codec {
	lay := func(val, old *canon.Node) (*canon.Node, []twin.Loss) {
		was, _ := list.Read(old)
		val, losses := renumber(val, was, from(old), why)
		put, more := list.Lay(val, old)
		return put, append(losses, more...)
	}
	return twin.Codec{
		Read: list.Read, Empty: list.Empty, Lay: lay,
		Write: func(val, old *canon.Node) *canon.Node {
			put, _ := lay(val, old)
			return put
		},
	}
}

func renumber(val, was *canon.Node, next int, why string) (*canon.Node, []twin.Loss) {
	there := map[string]bool{}
	for _, it := range was.Items() {
		there[it.Field("id").Text()] = true
	}
	for _, it := range val.Items() {
		if n, ok := Number(it.Field("id").Text()); ok && n >= next {
			next = n + 1
		}
	}
	val = val.Clone()
	var losses []twin.Loss
	for i, it := range val.Items() {
		id := it.Field("id").Text()
		if _, ok := Number(id); ok || there[id] {
			continue
		}
		to := strconv.Itoa(next)
		twin.Set(it, "/id", canon.NewText(to))
		losses = append(losses, twin.Loss{
			Path: "/" + strconv.Itoa(i) + "/id", Value: twin.Clip(canon.NewText(id)), Verdict: twin.Renamed,
			Reason: why + "; it becomes " + to,
		})
		next++
	}
	return val, losses
}

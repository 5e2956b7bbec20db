package content

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// unused are those of the places, and of the places in them, that nothing is read from.
func (o *escrowed) unused(ptrs []string) []string {
	return o.sift(ptrs, func(*canon.Node) *canon.Node { return canon.NewNull() }, func(ptr string) []string {
		var parts []string
		for tok, v := range children(o.doc.At(ptr)) {
			if !isEmpty(v) {
				parts = append(parts, ptr+tok)
			}
		}
		return o.unused(parts)
	})
}

// unknown are those of places that nothing is read from whose keys the reader does not
// look at, whatever stands there. The others say what an absent key says.
func (o *escrowed) unknown(ptrs []string) []string {
	return o.sift(ptrs, another, func(ptr string) (found []string) {
		if o.doc.At(ptr).Len() == 0 {
			return nil
		}
		was := o.doc.At(ptr)
		must(o.doc.Set(ptr, another(was)))
		base := o.base
		if r, err := o.formats.read(o.format, o.file); err == nil {
			o.base = r.Found // whatever a known key says, beside others that say something
		}
		for _, at := range leavesOf(was, ptr) {
			if o.reads--; o.reads < 0 {
				o.short = true
				break
			}
			if o.same([]string{at}, func(*canon.Node) *canon.Node { return was.At(strings.TrimPrefix(at, ptr)) }) {
				found = append(found, at)
			}
		}
		o.base = base
		must(o.doc.Set(ptr, was))
		return found
	})
}

// leavesOf are the places of what is no list or object and says something.
func leavesOf(n *canon.Node, at string) (ptrs []string) {
	if n.Kind() != canon.Array && n.Kind() != canon.Object {
		if isEmpty(n) {
			return nil
		}
		return []string{at}
	}
	for tok, v := range children(n) {
		ptrs = append(ptrs, leavesOf(v, at+tok)...)
	}
	return ptrs
}

// another is a value of the same kind that says something else.
func another(n *canon.Node) *canon.Node {
	switch n.Kind() {
	case canon.Bool:
		return canon.NewBool(n.Raw() == "false")
	case canon.Number:
		if n.Raw() == "1" {
			return canon.NewInt(2)
		}
		return canon.NewInt(1)
	case canon.String:
		return canon.NewText(n.Text() + "x")
	case canon.Array, canon.Object:
		n = n.Clone()
		for tok, v := range children(n) {
			must(n.Set(tok, another(v)))
		}
	}
	return n
}

// sift gives the places that can hold something else, all at once, and the file reads
// as before; of one that cannot, what within says. Where the bound of reads is met the
// rest is left out, and short says so.
func (o *escrowed) sift(ptrs []string, other func(*canon.Node) *canon.Node, within func(ptr string) []string) []string {
	if len(ptrs) == 0 {
		return nil
	}
	if o.reads--; o.reads < 0 {
		o.short = true
		return nil
	}
	if o.same(ptrs, other) {
		return ptrs
	}
	if len(ptrs) == 1 {
		return within(ptrs[0])
	}
	half := len(ptrs) / 2
	return append(slices.Clone(o.sift(ptrs[:half], other, within)), o.sift(ptrs[half:], other, within)...)
}

// same reports that the file reads as before where these places hold something else.
func (o *escrowed) same(ptrs []string, other func(*canon.Node) *canon.Node) bool {
	was := make([]*canon.Node, len(ptrs))
	for i, ptr := range ptrs {
		was[i] = o.doc.At(ptr)
		must(o.doc.Set(ptr, other(was[i])))
	}
	r, err := o.formats.read(o.format, o.file)
	for i := len(ptrs) - 1; i >= 0; i-- {
		must(o.doc.Set(ptrs[i], was[i]))
	}
	return err == nil && slices.EqualFunc(r.Found, o.base, func(a, b Found) bool { return a.Kind == b.Kind && canon.Equal(a.Body, b.Body) })
}

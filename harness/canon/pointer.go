package canon

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// SplitPointer returns the reference tokens of an RFC 6901 pointer; "" has none.
func SplitPointer(ptr string) ([]string, error) {
	if ptr == "" {
		return nil, nil
	}
	if ptr[0] != '/' {
		return nil, fault.New(CodeTreePointer, "canon.pointer", "pointer %q does not begin with a slash", ptr)
	}
	if !utf8.ValidString(ptr) {
		return nil, fault.New(CodeTreePointer, "canon.pointer", "pointer %q is not UTF-8", ptr)
	}
	toks := strings.Split(ptr[1:], "/")
	if !strings.Contains(ptr, "~") {
		return toks, nil
	}
	for i, t := range toks {
		plain := strings.ReplaceAll(strings.ReplaceAll(t, "~0", ""), "~1", "")
		if strings.Contains(plain, "~") {
			return nil, fault.New(CodeTreePointer, "canon.pointer", "pointer %q has a tilde that is not ~0 or ~1", ptr)
		}
		toks[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return toks, nil
}

// JoinPointer is the inverse of SplitPointer.
func JoinPointer(toks ...string) string {
	var b strings.Builder
	for _, t := range toks {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(t, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// Get is the node at ptr. A place that is not there is fault.NotFound.
func (n *Node) Get(ptr string) (*Node, error) {
	toks, err := SplitPointer(ptr)
	if err != nil {
		return nil, err
	}
	at := n
	for i, t := range toks {
		next := at.child(t)
		if next == nil {
			return nil, fault.New(fault.NotFound, "canon.get", "nothing at %q: %s has no %q", ptr,
				orRoot(JoinPointer(toks[:i]...)), t)
		}
		at = next
	}
	return at, nil
}

// At is Get for a pointer that the caller wrote: a place that is not there is nil.
func (n *Node) At(ptr string) *Node {
	at, err := n.Get(ptr)
	if err != nil {
		return nil
	}
	return at
}

func orRoot(ptr string) string {
	if ptr == "" {
		return "the root"
	}
	return strconv.Quote(ptr)
}

func (n *Node) child(tok string) *Node {
	if n.Kind() == Array {
		if i, ok := index(tok, len(n.items)); ok && i < len(n.items) {
			return n.items[i]
		}
		return nil
	}
	return n.Field(tok)
}

// index reads an array index up to and with size; "-" is size.
func index(tok string, size int) (int, bool) {
	if tok == "-" {
		return size, true
	}
	i, err := strconv.Atoi(tok)
	if err != nil || i < 0 || i > size || strconv.Itoa(i) != tok {
		return 0, false
	}
	return i, true
}

// Set puts a copy of v at ptr. Objects that are missing on the way are made; a
// place in a list must exist or be the one behind its end, which "-" names too. A
// new member takes the white space of its neighbours.
func (n *Node) Set(ptr string, v *Node) error {
	toks, err := SplitPointer(ptr)
	if err != nil {
		return err
	}
	if len(toks) > MaxTreeDepth {
		return fault.New(CodeTreeDepth, "canon.set", "pointer of %d steps, the bound is %d", len(toks), MaxTreeDepth)
	}
	v = v.Clone()
	if len(toks) == 0 {
		v.lead, v.trail = n.lead, n.trail
		*n = *v
		return nil
	}
	at := n
	for i, t := range toks[:len(toks)-1] {
		next := at.child(t)
		if next == nil {
			next = NewObject()
			if err := at.put(t, next); err != nil {
				return fault.Wrap(err, CodeTreePointer, "canon.set", "no place for %q at step %d", ptr, i+1)
			}
		}
		at = next
	}
	if err := at.put(toks[len(toks)-1], v); err != nil {
		return fault.Wrap(err, CodeTreePointer, "canon.set", "no place for %q", ptr)
	}
	return nil
}

func (n *Node) put(tok string, v *Node) error {
	switch n.kind {
	case Object:
		n.putMember(tok, v)
		return nil
	case Array:
		i, ok := index(tok, len(n.items))
		if !ok {
			return fault.New(CodeTreePointer, "", "a list of %d has no place %q", len(n.items), tok)
		}
		n.putItem(i, v)
		return nil
	}
	return fault.New(CodeTreePointer, "", "%s holds no %q", n.kind, tok)
}

func (n *Node) putMember(name string, v *Node) {
	if i := n.find(name); i >= 0 {
		old := n.members[i].val
		v.lead, v.trail = old.lead, old.trail
		n.members[i].val = v
		return
	}
	m := member{raw: quote(name), name: name, val: v}
	v.lead, v.trail = nil, nil
	if last := len(n.members) - 1; last >= 0 {
		l := n.members[last]
		m.lead, m.mid = l.lead, l.mid
		v.lead, v.trail, l.val.trail = l.val.lead, l.val.trail, nil
	} else {
		v.trail, n.inner = n.inner, nil
	}
	n.members = append(n.members, m)
	if n.places != nil {
		n.places[name] = len(n.members) - 1
	} else {
		n.reindex()
	}
}

func (n *Node) putItem(i int, v *Node) {
	if i < len(n.items) {
		v.lead, v.trail = n.items[i].lead, n.items[i].trail
		n.items[i] = v
		return
	}
	v.lead, v.trail = nil, nil
	if last := len(n.items) - 1; last >= 0 {
		l := n.items[last]
		v.lead, v.trail, l.trail = l.lead, l.trail, nil
	} else {
		v.trail, n.inner = n.inner, nil
	}
	n.items = append(n.items, v)
}

// Delete removes what is at ptr, every copy of a doubled key, and reports whether
// there was something. The root cannot be removed.
func (n *Node) Delete(ptr string) (bool, error) {
	toks, err := SplitPointer(ptr)
	if err != nil {
		return false, err
	}
	if len(toks) == 0 {
		return false, fault.New(CodeTreePointer, "canon.delete", "the root cannot be removed")
	}
	at, last := n, toks[len(toks)-1]
	for _, t := range toks[:len(toks)-1] {
		if at = at.child(t); at == nil {
			return false, nil
		}
	}
	switch at.kind {
	case Array:
		i, ok := index(last, len(at.items))
		if !ok || i == len(at.items) {
			return false, nil
		}
		at.items = dropItem(at.items, i)
		return true, nil
	case Object:
		return at.dropMember(last), nil
	}
	return false, nil
}

func dropItem(items []*Node, i int) []*Node {
	switch {
	case i > 0 && i == len(items)-1:
		items[i-1].trail = items[i].trail
	case i == 0 && len(items) > 1:
		items[1].lead = items[0].lead
	}
	return slices.Delete(items, i, i+1)
}

func (n *Node) dropMember(name string) bool {
	before := len(n.members)
	if before == 0 {
		return false
	}
	start, end := n.members[0].lead, n.members[before-1].val.trail
	n.members = slices.DeleteFunc(n.members, func(m member) bool { return m.name == name })
	n.reindex()
	if after := len(n.members); after > 0 {
		n.members[0].lead, n.members[after-1].val.trail = start, end
	}
	return len(n.members) < before
}

package twin

import "github.com/soundstage-dev/soundstage/harness/canon"

// Set puts v at ptr. Like Drop it is for pointers of a format's own into objects that
// are there: what it cannot do is a bug of ours, and panics.
func Set(n *canon.Node, ptr string, v *canon.Node) { must(n.Set(ptr, v)) }

// Drop takes away what stands at ptr; nothing there is well too.
func Drop(n *canon.Node, ptr string) {
	_, err := n.Delete(ptr)
	must(err)
}

// Lift puts v at ptr; what stands on the way and is no object is replaced, because nothing
// can be kept in it, and is a loss.
func Lift(n *canon.Node, ptr string, v *canon.Node) []Loss {
	l := layer{doc: n}
	l.set(ptr, v)
	return l.losses
}

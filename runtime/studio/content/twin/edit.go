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

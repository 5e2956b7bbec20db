//go:build !unix

package storydir

// nonBlock has no meaning here.
const nonBlock = 0

// sync is done by the system itself.
func (r *root) sync(string) error { return nil }

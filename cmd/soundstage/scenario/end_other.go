//go:build !linux

package scenario

// endAll is for systems that tell which processes there are.
func endAll(string) {}

//go:build !unix

package folder

// syncDir does nothing where a folder cannot be opened as a file: there a file's
// own Sync keeps its name too.
func syncDir(string) error { return nil }

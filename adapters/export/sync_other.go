//go:build !unix

package export

import "os"

// syncDir does nothing where a folder cannot be opened as a file: there a file's
// own Sync keeps its name too.
func syncDir(*os.Root, string) error { return nil }

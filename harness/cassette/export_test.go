package cassette

import "os"

// WithoutSync lets a test write thousands of episodes without thousands of waits
// for the disk.
func (w *Writer) WithoutSync() { w.sync = func(*os.File) error { return nil } }

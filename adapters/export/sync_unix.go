//go:build unix

package export

import "os"

// syncDir puts a folder's list of names on the disk.
func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // only a handle
	return d.Sync()
}

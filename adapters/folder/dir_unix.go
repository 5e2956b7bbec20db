//go:build unix

package folder

import "os"

// syncDir puts a folder's list of names on the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

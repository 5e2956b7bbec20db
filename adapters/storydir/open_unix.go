//go:build unix

package storydir

import (
	"errors"
	"syscall"
)

// nonBlock opens a pipe without waiting for its other end.
const nonBlock = syscall.O_NONBLOCK

// sync has the names in dir reach the disk.
func (r *root) sync(dir string) error {
	f, err := r.os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

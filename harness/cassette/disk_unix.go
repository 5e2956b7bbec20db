//go:build !windows

package cassette

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// nonBlock has a named pipe opened, and so refused, instead of waited for; noFollow
// refuses a link that took a name's place after it was looked at.
const (
	nonBlock = syscall.O_NONBLOCK
	noFollow = syscall.O_NOFOLLOW
)

// syncDir makes the name of the file at path as durable as its bytes.
func syncDir(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// lock takes f for this Writer alone, until f is closed or the process dies; ok
// is false when another has it, or has removed the file meanwhile.
func lock(f *os.File) (ok bool, err error) {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return false, err
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Stat(f.Name())
	return err == nil && os.SameFile(mine, now), nil
}

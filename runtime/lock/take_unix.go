//go:build !windows

package lock

import (
	"errors"
	"os"
	"syscall"
)

// take takes f for this open file alone. Without wait, got is false where another
// one has it.
func take(f *os.File, wait bool) (got bool, err error) {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how); {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, err
		}
	}
}

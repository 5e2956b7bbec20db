package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// take takes f for this open file alone. Without wait, got is false where another
// one has it.
func take(f *os.File, wait bool) (got bool, err error) {
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

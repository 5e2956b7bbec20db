//go:build !windows

package trace

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// claim takes the trace for this Log alone. The system gives it back when the file is
// closed or the process dies, so that a crash needs no repair. busy says that
// another Log has it, here or in another process.
func claim(f *os.File) (c io.Closer, busy bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, true, nil
	}
	return io.NopCloser(f), false, err // the lock goes with the file
}

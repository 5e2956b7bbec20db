package trace

import (
	"errors"
	"io"
	"os"
	"syscall"
)

const (
	deleteOnClose    = 0x04000000 // FILE_FLAG_DELETE_ON_CLOSE
	sharingViolation = syscall.Errno(32)
)

// claim takes the trace for this Log alone: a file beside it that nobody may open a
// second time, and that the system removes when it is closed or the process dies.
// busy says that another Log has it, here or in another process.
func claim(f *os.File) (c io.Closer, busy bool, err error) {
	name, err := syscall.UTF16PtrFromString(f.Name() + ".lock")
	if err != nil {
		return nil, false, err
	}
	const alone = 0 // shared with nobody
	h, err := syscall.CreateFile(name, syscall.GENERIC_WRITE, alone, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL|deleteOnClose, 0)
	if errors.Is(err, sharingViolation) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	return os.NewFile(uintptr(h), f.Name()+".lock"), false, nil
}

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropTyped forgets what was typed into a terminal and not read yet.
func dropTyped(f *os.File) {
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) // a terminal that cannot is asked all the same
}

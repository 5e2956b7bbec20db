//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropTyped forgets what was typed into a terminal and not read yet.
func dropTyped(f *os.File) {
	const read = 1                                                 // FREAD: only what comes in
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read) // a terminal that cannot is asked all the same
}

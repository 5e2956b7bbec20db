package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// dropTyped forgets what was typed into a terminal and not read yet.
func dropTyped(f *os.File) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) // a terminal that cannot is asked all the same
}

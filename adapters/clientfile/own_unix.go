//go:build unix

package clientfile

import (
	"io/fs"
	"os"
	"syscall"
)

// own says whether a file is this person's: in its place they would get one of their own.
func own(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) == os.Geteuid()
}

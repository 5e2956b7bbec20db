//go:build unix

package cli

import (
	"syscall"
	"testing"
)

func fifo(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
}

//go:build unix

package storydir_test

import "syscall"

func fifo(name string) bool { return syscall.Mkfifo(name, 0o600) == nil }

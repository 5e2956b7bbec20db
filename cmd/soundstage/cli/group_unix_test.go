//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the process that is to be started, and all that it starts, a group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// groupIsThere says whether a process of the group is left.
func groupIsThere(id int) bool { return syscall.Kill(-id, 0) == nil }

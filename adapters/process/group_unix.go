//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// A group is a program with everything that it started.
type group struct{ cmd *exec.Cmd }

// newGroup makes cmd the leader of a process group of its own. A cancelled context kills
// the group.
func newGroup(cmd *exec.Cmd) (*group, error) {
	g := &group{cmd}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = g.kill
	return g, nil
}

func (*group) adopt(*exec.Cmd) error { return nil }

func (g *group) kill() error {
	if g.cmd.Process == nil {
		return os.ErrProcessDone
	}
	err := syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// end kills what is left. The group's number cannot be somebody else's while one of its
// members lives, and where none does there is nothing to kill but by the rarest chance.
func (g *group) end() { _ = g.kill() }

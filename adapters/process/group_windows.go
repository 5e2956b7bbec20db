package process

import (
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A group is a program with everything that it started: a job that ends with its last
// handle, also when we are killed.
type group struct{ job windows.Handle }

func newGroup(cmd *exec.Cmd) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	g := &group{job}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	cmd.Cancel = func() error { return windows.TerminateJobObject(job, 1) }
	return g, nil
}

// adopt puts a program that was started into the job. What it starts before that, in its
// first moments, is not in it.
func (g *group) adopt(cmd *exec.Cmd) error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(p) }()
	return windows.AssignProcessToJobObject(g.job, p)
}

func (g *group) end() { _ = windows.CloseHandle(g.job) }

// Package process runs programs: it is the runner behind the seam's door for
// commands, and starts MCP servers that speak on their standard streams.
//
// It is an adapter. A program gets the environment it is given and nothing of ours, and
// it and everything that it started are dead when Run or Close returns: on POSIX systems as one
// process group, on Windows as one job. A program that leaves its group on purpose is
// not followed. It does not decide what may run, and it keeps nothing.
package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// The codes of this package.
const (
	CodeStart fault.Code = "PROCESS_NOT_STARTED" // there is no such program, or it cannot be run
	CodeLost  fault.Code = "PROCESS_LOST"        // it was ended by a signal, or its streams broke
)

// MaxOutput bounds what a program may say on each of its two streams, in bytes.
const MaxOutput = 8 << 20

// grace is how long a stream that a program's child keeps open is waited for.
const grace = time.Second

// Runner runs programs. The zero value is ready.
type Runner struct{}

var _ seam.Runner = Runner{}

// Run implements seam.Runner. When ctx ends, the program is killed with all that it
// started.
func (Runner) Run(ctx context.Context, dir string, c seam.Command) (seam.Outcome, error) {
	const op = "process.run"
	if len(c.Args) == 0 {
		return seam.Outcome{}, fault.New(fault.Invalid, op, "a command has no program")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, environment(c.Env), grace
	cmd.Stdin = bytes.NewReader(c.Stdin)
	stdout, stderr := &bounded{stop: cancel}, &bounded{stop: cancel}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	g, err := newGroup(cmd)
	if err != nil {
		return seam.Outcome{}, fault.Wrap(err, CodeStart, op, "program %q", c.Args[0])
	}
	defer g.end() // also what a program left running in the background
	if err := cmd.Start(); err != nil {
		return seam.Outcome{}, fault.Wrap(err, CodeStart, op, "program %q in folder %q", c.Args[0], dir).
			WithHint("check that the program is installed and in PATH, and that the folder is there")
	}
	if err := g.adopt(cmd); err != nil {
		err = errors.Join(err, cmd.Process.Kill())
		return seam.Outcome{}, errors.Join(fault.Wrap(err, CodeStart, op, "program %q", c.Args[0]), cmd.Wait())
	}
	err = cmd.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return seam.Outcome{}, cause
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		err = nil
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended, and a child of it kept its streams
	}
	if err != nil {
		return seam.Outcome{}, fault.Wrap(err, CodeLost, op, "program %q", c.Args[0])
	}
	return seam.Outcome{Stdout: stdout.buf.Bytes(), Stderr: stderr.buf.Bytes(), Exit: cmd.ProcessState.ExitCode()}, nil
}

// environment is never nil: a program without variables would get ours.
func environment(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	return out
}

// A bounded stream ends the program that says too much.
type bounded struct {
	buf  bytes.Buffer
	stop context.CancelCauseFunc
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.buf.Len()+len(p) > MaxOutput {
		b.stop(fault.New(fault.TooLarge, "process.run", "a program said more than %d bytes", MaxOutput))
		return 0, io.ErrShortWrite
	}
	return b.buf.Write(p)
}

package process

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// patience is how long a program that is told to end may take.
const patience = 2 * time.Second

// PipeOptions start a program that is spoken with: an MCP server on stdio.
type PipeOptions struct {
	Dir     string // absolute
	Command seam.Command
	Stderr  io.Writer // nil: what it says there is dropped
	Clock   clock.Clock
}

// A Pipe is a program's standard streams: what is written is its input, what is read its
// output. It is the reader and the writer of an SDK's transport over streams.
type Pipe struct {
	cmd   *exec.Cmd
	group *group
	in    io.WriteCloser
	out   io.ReadCloser
	clock clock.Clock
	ctx   context.Context // for waiting, without an end
	once  sync.Once
	err   error
}

var _ io.ReadWriteCloser = (*Pipe)(nil)

// Open starts a program. When ctx ends it is killed; Close is needed all the same.
func Open(ctx context.Context, o PipeOptions) (*Pipe, error) {
	const op = "process.open"
	if len(o.Command.Args) == 0 || o.Clock == nil {
		return nil, fault.New(fault.Invalid, op, "a program and a clock are needed")
	}
	p := &Pipe{cmd: exec.CommandContext(ctx, o.Command.Args[0], o.Command.Args[1:]...), clock: o.Clock, ctx: context.WithoutCancel(ctx)}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr, p.cmd.WaitDelay = o.Dir, environment(o.Command.Env), o.Stderr, grace
	if err := p.start(); err != nil {
		return nil, fault.Wrap(err, CodeStart, op, "program %q in folder %q", o.Command.Args[0], o.Dir).
			WithHint("check that the program is installed and in PATH, and that the folder is there")
	}
	return p, nil
}

func (p *Pipe) start() (err error) {
	if p.group, err = newGroup(p.cmd); err != nil {
		return err
	}
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		p.out, err = p.cmd.StdoutPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.group.end()
		return err
	}
	if err = p.group.adopt(p.cmd); err != nil {
		return errors.Join(err, p.cmd.Process.Kill(), p.Close())
	}
	return nil
}

// Read implements io.Reader.
func (p *Pipe) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write implements io.Writer.
func (p *Pipe) Write(b []byte) (int, error) { return p.in.Write(b) }

// CloseInput ends the program's input, so that what it still says can be read before Close.
func (p *Pipe) CloseInput() error { return p.in.Close() }

// Close ends the program's input, gives it a while to end, and kills it if it does not,
// with everything that it started in any case. Nothing of it is left when Close returns.
// How a server ends that is told to is no error.
func (p *Pipe) Close() error {
	p.once.Do(func() {
		if p.err = p.in.Close(); errors.Is(p.err, os.ErrClosed) {
			p.err = nil // CloseInput
		}
		ctx, cancel := context.WithCancel(p.ctx)
		late := make(chan struct{})
		go func() {
			defer close(late)
			if p.clock.Sleep(ctx, patience) == nil {
				_ = p.cmd.Cancel() // it may have ended just now
			}
		}()
		_ = p.cmd.Wait()
		cancel()
		<-late
		p.group.end()
	})
	return p.err
}

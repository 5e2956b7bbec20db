package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	programs "github.com/soundstage-dev/soundstage/adapters/process"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// tapGrace is how long a server may go on after its client has left.
const tapGrace = 5 * time.Second

// The codes of mcp tap.
const (
	codeTapEnded  fault.Code = "PROCESS_ENDED" // the server ended before its client
	codeTapClient fault.Code = "MCP_TAP"       // the client takes no more
)

func (a *app) cmdMCPTap() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "tap [--log FILE] -- COMMAND [ARG...]",
		Short: "Run an MCP server and log what it and its client say",
		Long: `Tap starts COMMAND, an MCP server on stdio, and passes both directions on byte for byte. Each
message is a line on standard error, or in FILE (at its end): the time in seconds, a → from the
client or a ← from the server, the method and the content. Secrets of this environment are
masked in the log, and long lines are cut there; the client and the server get everything.

It stands in a client's configuration in the place of the server. When the client leaves, the
server gets the end of its input, and after ` + tapGrace.String() + ` it is ended with all that it started.`,
		Example: `  soundstage mcp tap -- soundstage mcp ~/studio
  soundstage mcp tap --log /tmp/mcp.log -- npx -y some-server`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() != 0 {
				return fault.New(fault.Invalid, "mcp.tap", "the server's command stands behind --").WithHint("soundstage mcp tap -- %s", strings.Join(args, " "))
			}
			return a.tap(c.Context(), file, args)
		},
	}
	c.Flags().StringVar(&file, "log", "", "write the log to this `file`, and not to standard error")
	return c
}

func (a *app) tap(ctx context.Context, file string, command []string) error {
	stderr := &oneAtATime{w: a.doors.Stderr} // the server writes there too
	var log io.Writer = stderr
	if file != "" {
		f, err := os.OpenFile(a.path(file), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return notWritten(err, "mcp.tap", file)
		}
		defer f.Close() //nolint:errcheck // a log; its writes were looked at
		log = f
	}
	t := mcp.NewTap(mcp.TapOptions{Log: log, Mask: a.redactor(a.doors.Dir).Mask, Clock: a.doors.Clock})
	p, err := programs.Open(ctx, programs.PipeOptions{
		Dir: a.doors.Dir, Command: seam.Command{Args: command, Env: a.doors.Env}, Clock: a.doors.Clock, Stderr: stderr,
	})
	if err != nil {
		return err
	}
	err = a.between(ctx, t, p)
	return firstOf(err, p.Close(), t.Err())
}

// between passes both directions on until one side ends.
func (a *app) between(ctx context.Context, t *mcp.Tap, p *programs.Pipe) error {
	asked, answered := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := io.Copy(p, io.TeeReader(a.doors.Stdin, t.Client()))
		asked <- err
	}()
	go func() {
		_, err := io.Copy(a.doors.Stdout, io.TeeReader(p, t.Server()))
		answered <- err
	}()
	select {
	case <-ctx.Done():
		return tapCancelled()
	case err := <-answered:
		if ctx.Err() != nil { // it was killed for that
			return tapCancelled()
		}
		return a.serverEnded(t, err)
	case <-asked: // the client left, or the server reads no more: its last words decide
	}
	t.Note("the client has left")
	if err := p.CloseInput(); err != nil && !errors.Is(err, os.ErrClosed) {
		t.Note("%v", err)
	}
	late, stop := context.WithCancel(ctx)
	defer stop()
	timeout := make(chan struct{})
	go func() {
		if a.doors.Clock.Sleep(late, tapGrace) == nil {
			close(timeout)
		}
	}()
	select {
	case <-answered:
		t.Note("the server has ended")
	case <-timeout:
		t.Note("the server did not end: it is ended")
	case <-ctx.Done():
		return tapCancelled()
	}
	return nil
}

func tapCancelled() error {
	return fault.New(fault.Cancelled, "mcp.tap", "interrupted; the server has ended")
}

func (a *app) serverEnded(t *mcp.Tap, err error) error {
	if err != nil && !errors.Is(err, os.ErrClosed) {
		t.Note("the client takes no more: %v", err)
		return fault.Wrap(err, codeTapClient, "mcp.tap", "the client takes no more")
	}
	t.Note("the server has ended, and the client has not")
	return fault.New(codeTapEnded, "mcp.tap", "the server ended before its client").WithHint("see what it printed on standard error")
}

// oneAtATime lets several sides write.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (o *oneAtATime) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

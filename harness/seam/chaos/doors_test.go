package chaos_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// ran counts the commands that were run.
type ran int

func (r *ran) Run(context.Context, seam.Command) (seam.Outcome, error) {
	*r++
	return seam.Outcome{Stdout: []byte("on branch main")}, nil
}

func TestCommands(t *testing.T) {
	b := set(t, "exec://git@1 exit code=128", "2 timeout after=30s", "3 refused", "exec://*@4 truncate bytes=2", "5 429")
	below := new(ran)
	door := b.plan.OverExec(below, b.clock)
	run := func() (seam.Outcome, error) {
		return door.Run(t.Context(), seam.Command{Args: []string{"/usr/bin/git", "status"}})
	}
	if out, err := run(); err != nil || out.Exit != 128 || !strings.Contains(string(out.Stderr), "a fault of the scenario") {
		t.Errorf("exit: %+v, %v", out, err)
	}
	_, err := run()
	if e, ok := errors.AsType[net.Error](err); !ok || !e.Timeout() || b.clock.Now().Sub(clock.Epoch) != 30*time.Second {
		t.Errorf("timeout: %v at %s", err, b.clock.Now())
	}
	if _, err := run(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("refused: %v", err)
	}
	if *below != 0 {
		t.Errorf("%d commands were run", *below)
	}
	if out, err := run(); err != nil || string(out.Stdout) != "on" {
		t.Errorf("truncate: %q, %v", out.Stdout, err)
	}
	if out, err := run(); err != nil || string(out.Stdout) != "on branch main" {
		t.Errorf("what is not for commands: %q, %v", out.Stdout, err)
	}
	if err := b.plan.Done(); !strings.Contains(errText(err), `call 5 is "exec://git", for which status is nothing`) || strings.Count(errText(err), "never fired") != 1 {
		t.Error(err)
	}
}

// An echo is an MCP server that answers each call, and notes what it got.
type echo struct {
	got  []string
	out  chan []byte
	done chan struct{}
}

func (e *echo) Read(ctx context.Context) ([]byte, error) {
	select {
	case b := <-e.out:
		return b, nil
	case <-e.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e *echo) Write(_ context.Context, b []byte) error {
	e.got = append(e.got, string(b))
	if strings.Contains(string(b), `"id":`) {
		e.out <- []byte(`{"answer":` + string(b) + `}`)
	}
	return nil
}

func (e *echo) Close() error { close(e.done); return nil }

func TestMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := set(t, "mcp://notes/tools/call@1 500", "mcp://notes/*@2 timeout", "3 refused", "5 reset chunk=0")
		server := &echo{out: make(chan []byte, 9), done: make(chan struct{})}
		conn := b.plan.OverMCP(t.Context(), "notes", server, b.clock)
		write := func(text string) error { return conn.Write(t.Context(), []byte(text)) }
		read := func() (string, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			text, err := conn.Read(ctx)
			return string(text), err
		}
		const call = `{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{}}`
		id := func(n string) string { return strings.Replace(call, "ID", n, 1) }

		if err := write(id("1")); err != nil {
			t.Error(err)
		}
		if got, err := read(); err != nil || !strings.Contains(got, `"id":1,"error":{"code":-32603`) {
			t.Errorf("an error: %s, %v", got, err)
		}
		// A server that hangs: nothing comes, and what gives the call up is not sent on.
		if err := write(id(`"two"`)); err != nil || b.clock.Now().Sub(clock.Epoch) != time.Minute {
			t.Errorf("%v at %s", err, b.clock.Now())
		}
		if got, err := read(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a server that hangs said %q, %v", got, err)
		}
		if err := write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"two"}}`); err != nil {
			t.Error(err)
		}
		if err := write(id("3")); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("refused: %v", err)
		}
		if len(server.got) != 0 {
			t.Errorf("the server got %q", server.got)
		}
		if err := write(id("4")); err != nil {
			t.Error(err)
		}
		if got, err := read(); err != nil || !strings.Contains(got, `"answer"`) {
			t.Errorf("no fault: %s, %v", got, err)
		}
		if err := write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
			t.Error(err)
		}
		if err := write(id("5")); err != nil {
			t.Error(err)
		}
		if got, err := read(); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("reset: %s, %v", got, err)
		}
		if err := errors.Join(b.plan.Done(), conn.Close()); err != nil || len(server.got) != 3 {
			t.Errorf("%v; the server got %q", err, server.got)
		}
		if _, err := read(); err == nil {
			t.Error("a closed connection reads on")
		}
	})
}

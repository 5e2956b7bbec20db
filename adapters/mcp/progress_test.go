package mcp_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9,"reason":"enough"}}`

// A client that gave a token hears each second that its call runs, until it cancels it:
// the run ends, and stands in the trace as what it was.
func TestProgressAndCancellation(t *testing.T) {
	for _, token := range []string{`"a token"`, `7`} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := newFullStage(clock.Real{})
			w := s.dial(t)
			w.initialize("2025-06-18", `{}`, "2025-06-18")
			w.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"studio.search","_meta":{"progressToken":` + token + `}}}`)
			for _, want := range []string{`"progress":1`, `"progress":2`, `"progress":3`} {
				w.wants("progress", w.await("notifications/progress"), want, `"progressToken":`+token, `studio.search, for `)
			}
			w.gone = "9"
			w.send(cancelled)
			s.tape.waitFor(func(lines []string) bool { return len(lines) == 2 })
			if want := []string{"called studio.search", "finished studio.search false CANCELLED"}; !slices.Equal(s.tape.lines(), want) {
				t.Errorf("trace = %q, want %q", s.tape.lines(), want)
			}
			time.Sleep(10 * time.Second) // nothing more is told
			w.wants("ping", w.ask(`10`, "ping", ``), `"result":{}`)
			for _, frame := range w.told {
				t.Errorf("told after it was cancelled: %s", frame)
			}
		})
	}
}

// Without a token nobody wants to know.
func TestNoProgressWithoutAToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newFullStage(clock.Real{})
		w := s.dial(t)
		w.initialize("2025-06-18", `{}`, "2025-06-18")
		w.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"studio.search"}}`)
		time.Sleep(5 * time.Second)
		w.gone = "9"
		w.send(cancelled)
		w.wants("ping", w.ask(`10`, "ping", ``), `"result":{}`)
		if len(w.told) > 0 {
			t.Errorf("told %q", w.told)
		}
	})
}

// A call that waits for a person is no silence either.
func TestProgressWhileAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newFullStage(clock.Real{})
		w := s.dial(t)
		w.initialize("2025-06-18", `{"elicitation":{}}`, "2025-06-18")
		w.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"change.apply","arguments":{"id":"d"},"_meta":{"progressToken":1}}}`)
		frame, method, id := w.read()
		if method != "elicitation/create" {
			t.Fatalf("%s came, want a question", frame)
		}
		w.wants("progress", w.await("notifications/progress"), `"progress":1`, `change.apply, for 1s`)
		w.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":{"answer":"once"}}}`)
		frame, _, _ = w.read()
		w.wants("the answer", frame, `"id":9`, `applied`)
	})
}

// newBench is a server with tools that say how far they have come, and that hold a lock.
func newBench(c clock.Clock, began chan struct{}) *stage {
	table := trust.NewTable(append(trust.Rows(), trust.Row{ID: "test.steps", Class: trust.Read}, trust.Row{ID: "test.hold", Class: trust.Read})...)
	hold := spec("test.hold", "Holds a lock.", tool.Read, tool.Direct)
	hold.Concurrency = "piece:{id}"
	reg := tool.NewRegistry(
		tool.New(spec("test.steps", "Goes in steps.", tool.Read, tool.Direct), func(ctx context.Context, c tool.Call, _ none) (tool.Reply[none], error) {
			for _, done := range []float64{1, 1, 2, 0, 3, 10} {
				c.Progress(done, 10, "a step")
				if err := (clock.Real{}).Sleep(ctx, 90*time.Millisecond); err != nil {
					return tool.Reply[none]{}, err
				}
			}
			go func() {
				time.Sleep(time.Second)
				c.Progress(11, 12, "too late")
			}()
			return tool.Reply[none]{Text: "done"}, nil
		}),
		tool.New(hold, func(ctx context.Context, _ tool.Call, in target) (tool.Reply[none], error) {
			began <- struct{}{}
			if in.ID == "ada" {
				<-ctx.Done()
			}
			return tool.Reply[none]{Text: "held"}, ctx.Err()
		}),
	)
	g := gate.New(gate.Options{Registry: reg, Table: table, Clock: c})
	r := &tape{more: make(chan struct{}, 1)}
	return &stage{&studio{reg: reg}, r, mcp.New(mcp.Options{
		Registry: reg, Gate: g, Table: table, Clock: c, Name: "soundstage", Version: "v0.0.1",
	}, mcp.Session{ID: "s-0001", Recorder: r})}
}

// What a tool says of itself is passed on as it grows, not too often, and never after
// the answer.
func TestProgressOfATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBench(clock.Real{}, nil).dial(t)
		w.ask(`0`, "initialize", `"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":`+clientInfo)
		w.wants("the answer", w.ask(`1`, "tools/call", `"name":"test.steps","_meta":{"progressToken":1}`), "done")
		time.Sleep(5 * time.Second)
		w.ask(`2`, "ping", ``)
		var got []string
		for _, frame := range w.told {
			_, value, _ := strings.Cut(frame, `"progress":`)
			got = append(got, value[:strings.IndexAny(value, ",}")])
			w.wants("progress", frame, `"total":10`, `"message":"a step"`)
		}
		if want := []string{"1", "2", "3", "10"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// A call that is cancelled holds no lock, nor does one that was cancelled while it
// waited for one.
func TestCancelLeavesNoLock(t *testing.T) {
	began := make(chan struct{}, 10)
	s := newBench(clock.NewFixed(clock.Epoch), began)
	w := s.dial(t)
	w.ask(`0`, "initialize", `"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":`+clientInfo)
	w.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"test.hold","arguments":{"id":"ada"}}}`)
	<-began
	// The second waits for the lock of the first.
	w.send(`{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"test.hold","arguments":{"id":"ada"}}}`)
	s.tape.waitFor(func(lines []string) bool { return len(lines) == 2 })
	w.send(strings.Replace(cancelled, `:9`, `:11`, 1))
	s.tape.waitFor(func(lines []string) bool { return len(lines) == 3 })
	w.send(cancelled)
	s.tape.waitFor(func(lines []string) bool { return len(lines) == 4 })
	// The third has it at once.
	w.send(`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"test.hold","arguments":{"id":"ada"}}}`)
	<-began
	w.send(strings.Replace(cancelled, `:9`, `:12`, 1))
	s.tape.waitFor(func(lines []string) bool { return len(lines) == 6 })
	for i, line := range s.tape.lines() {
		if strings.HasPrefix(line, "finished") && line != "finished test.hold false CANCELLED" {
			t.Errorf("line %d: %s", i, line)
		}
	}
}

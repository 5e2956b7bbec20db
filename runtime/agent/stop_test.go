package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

func TestStops(t *testing.T) {
	saying := func(n int) (s []say) {
		for i := range n {
			s = append(s, say{calls: []string{fmt.Sprintf(`test_say {"text":"%d"}`, i)}})
		}
		return s
	}
	many := func(n int) (calls []string) {
		for i := range n {
			calls = append(calls, fmt.Sprintf(`test_say {"text":"%d"}`, i))
		}
		return calls
	}
	read := say{calls: []string{`studio_read {"text":"ada"}`}}
	tests := []struct {
		name   string
		script []say
		limits agent.Limits
		setup  func(*world)
		stop   fault.Code
		rounds int
		calls  int
		ran    int
	}{
		{name: "rounds", script: saying(3), limits: agent.Limits{Rounds: 3}, stop: agent.StopRounds, rounds: 3, calls: 3, ran: 3},
		{name: "a batch too large", script: []say{{calls: many(3)}}, limits: agent.Limits{Batch: 2}, stop: agent.StopCalls, rounds: 1},
		{name: "a batch over what is left", script: []say{{calls: many(2)}, {calls: many(2)}}, limits: agent.Limits{Calls: 3}, stop: agent.StopCalls, rounds: 2, calls: 2, ran: 2},
		{name: "a batch that just fits", script: []say{{calls: many(3)}, {text: "ok"}}, limits: agent.Limits{Calls: 3, Batch: 3}, rounds: 2, calls: 3, ran: 3},
		{name: "errors only", script: []say{{calls: []string{"test_break {}"}}, {calls: []string{"no_such {}"}}}, limits: agent.Limits{Idle: 2}, stop: agent.StopIdle, rounds: 2, calls: 2},
		{name: "the same again", script: []say{{calls: many(1)}, {calls: many(1)}, {calls: many(1)}}, limits: agent.Limits{Idle: 2}, stop: agent.StopIdle, rounds: 3, calls: 3, ran: 3},
		{name: "a repeated read", script: []say{read, read}, stop: agent.StopRepeat, rounds: 2, calls: 2, ran: 2},
		{name: "twice in one batch is one look", script: []say{{calls: []string{read.calls[0], read.calls[0]}}, {text: "ok"}}, rounds: 2, calls: 2, ran: 2},
		{name: "a repeated read with something between", script: []say{read, {calls: many(1)}, read}, stop: agent.StopRepeat, rounds: 3, calls: 3, ran: 3},
		{name: "a read after a change", script: []say{read, {calls: []string{edit}}, read, {text: "ok"}}, setup: func(w *world) { w.person.answers = []gate.Answer{yes()} }, rounds: 4, calls: 3, ran: 4},
		{name: "another read", script: []say{read, {calls: []string{`studio_read {"text":"bob"}`}}, {text: "ok"}}, rounds: 3, calls: 2, ran: 2},
		{name: "elapsed", script: []say{{calls: many(1)}}, limits: agent.Limits{Elapsed: time.Minute}, setup: func(w *world) {
			w.model.script[0].before = func() { w.clock.Advance(time.Minute) }
		}, stop: agent.StopElapsed, rounds: 1, calls: 1},
		{name: "a person's time is free", script: []say{{calls: []string{edit}}, {calls: []string{`change_apply {"draft":"d-1"}`}}, {text: "ok"}}, limits: agent.Limits{Elapsed: time.Minute}, setup: func(w *world) {
			w.person.answers = []gate.Answer{yes()}
			w.person.before = func() { w.clock.Advance(time.Hour) }
		}, rounds: 3, calls: 2, ran: 2},
		{name: "refusal", script: []say{{text: "I can't.", reason: model.Refusal}}, stop: agent.StopRefused, rounds: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.script...)
			w.opts.Limits = tt.limits
			if tt.setup != nil {
				tt.setup(w)
			}
			out := w.turn(t.Context())
			if out.Stop != tt.stop || out.Rounds != tt.rounds || out.Calls != tt.calls || len(w.ran) != tt.ran {
				t.Errorf("stop %q, %d rounds, %d calls, %d ran; want %q, %d, %d, %d (%+v)", out.Stop, out.Rounds, out.Calls, len(w.ran), tt.stop, tt.rounds, tt.calls, tt.ran, out)
			}
			if (tt.stop != "") != (out.Label == agent.Stopped) || (out.Stop != "") != (fault.CodeOf(out.Err) == out.Stop && out.Err != nil) {
				t.Errorf("outcome %+v", out)
			}
		})
	}
}

func TestABatchOverBudgetIsNotInHistory(t *testing.T) {
	w := newWorld(t, say{text: "All at once!", calls: []string{"test_say {}", "test_say {}"}})
	w.opts.Limits.Batch = 1
	out := w.turn(t.Context())
	if len(out.History) != 1 || strings.Contains(fmt.Sprint(out.History), "All at once") {
		t.Errorf("history %+v", out.History)
	}
	n := 0
	for _, p := range w.trace.said {
		if p, ok := p.(trace.ToolFinished); ok && p.NotRun && p.Code == string(agent.StopCalls) {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d calls not run on the trace, want 2", n)
	}
}

func TestCancel(t *testing.T) {
	t.Run("while a batch runs", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := newWorld(t, say{calls: []string{`test_slow {"text":"a"}`, edit, `test_slow {"text":"b"}`}})
		w.slow = func(string) { cancel() }
		out := w.turn(ctx)
		got := results(out.History)
		if out.Label != agent.Cancelled || out.Stop != agent.StopCancelled || len(got) != 3 || got[0].Error || !got[1].Error || !got[2].Error || len(w.ran) != 1 {
			t.Errorf("outcome %+v, results %+v, ran %v", out, got, w.ran)
		}
		not := 0
		for _, p := range w.trace.said {
			if p, ok := p.(trace.ToolFinished); ok && p.NotRun {
				not++
			}
		}
		if not != 2 {
			t.Errorf("%d calls not run, want 2", not)
		}
	})
	t.Run("while reads run", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := newWorld(t, say{calls: []string{`test_slow {"text":"a"}`, `test_slow {"text":"b"}`}})
		w.opts.Limits.Parallel = 1
		w.slow = func(string) { cancel() }
		out := w.turn(ctx)
		if out.Label != agent.Cancelled || len(results(out.History)) != 2 || len(w.ran) != 1 {
			t.Errorf("outcome %+v, ran %v", out, w.ran)
		}
	})
	t.Run("before a request", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		w := newWorld(t)
		if out := w.turn(ctx); out.Label != agent.Cancelled || len(w.model.requests) != 0 {
			t.Errorf("outcome %+v", out)
		}
	})
	t.Run("in a stream", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := newWorld(t, say{before: cancel})
		if out := w.turn(ctx); out.Label != agent.Cancelled || len(out.History) != 1 {
			t.Errorf("outcome %+v", out)
		}
	})
	t.Run("while a person is asked", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := newWorld(t, say{calls: []string{edit}}, say{text: "Save?"})
		w.person.before = cancel
		w.person.answers = []gate.Answer{{Choice: gate.TimedOut, By: gate.Nobody}}
		out := w.turn(ctx)
		if out.Label != agent.Cancelled || len(out.Open) != 1 || slices.Contains(w.ran, "change.apply d-1") {
			t.Errorf("outcome %+v, ran %v", out, w.ran)
		}
	})
}

func TestAStreamThatHangsIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, say{calls: []string{"test_say {}"}}, say{text: "ok"})
		w.model.script[1].before = func() { time.Sleep(time.Hour) }
		w.opts.Limits.Elapsed = time.Minute
		if out := w.turn(t.Context()); out.Stop != agent.StopElapsed {
			t.Errorf("outcome %+v", out)
		}
	})
}

package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

func TestRetries(t *testing.T) {
	tests := []struct {
		name     string
		script   []say
		label    string
		requests int
		slept    time.Duration
	}{
		{name: "passes", script: []say{{err: busy}, {err: busy}, {text: "ok"}}, label: agent.Answered, requests: 3, slept: 3 * time.Second},
		{name: "gives up", script: []say{{err: busy}, {err: busy}, {err: busy}, {err: busy}, {text: "never"}}, label: agent.Failed, requests: 4, slept: 7 * time.Second},
		{name: "as long as was asked for", script: []say{{err: busyFor(9 * time.Second)}, {text: "ok"}}, label: agent.Answered, requests: 2, slept: 9 * time.Second},
		{name: "too long", script: []say{{err: busyFor(2 * time.Minute)}, {text: "never"}}, label: agent.Failed, requests: 1},
		{name: "after something was seen", script: []say{{text: "We", cut: true, err: busy}, {text: "never"}}, label: agent.Failed, requests: 1},
		{name: "another error", script: []say{{err: fault.New(model.CodeAuth, "x", "no key")}, {text: "never"}}, label: agent.Failed, requests: 1},
		{name: "a cut stream", script: []say{{text: "We", cut: true}, {text: "never"}}, label: agent.Failed, requests: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.script...)
			out := w.turn(t.Context())
			if out.Label != tt.label || len(w.model.requests) != tt.requests || w.clock.Slept() != tt.slept || out.Rounds != 1 {
				t.Errorf("outcome %+v, %d requests, slept %v", out, len(w.model.requests), w.clock.Slept())
			}
			if got := strings.Count(w.trace.types(), "model.retried"); got != tt.requests-1 {
				t.Errorf("%d retries on the trace, want %d", got, tt.requests-1)
			}
			if (out.Label == agent.Failed) != (out.Err != nil) {
				t.Errorf("error %v", out.Err)
			}
		})
	}
}

func TestACutReplyRunsNothing(t *testing.T) {
	w := newWorld(t, say{calls: []string{edit}}, say{
		text: "Now", calls: []string{"test_say {}"}, cut: true,
		err: fault.Wrap(&model.HTTPError{Status: 200, Partial: model.Usage{State: model.Partial, Input: 5}}, model.CodeStreamCut, "model.stream", "cut"),
	})
	out := w.turn(t.Context())
	if out.Label != agent.Failed || fault.CodeOf(out.Err) != model.CodeStreamCut || fmt.Sprint(w.ran) != "[character.identity.update]" || fmt.Sprint(out.Open) != "[d-1]" {
		t.Errorf("outcome %+v, ran %v", out, w.ran)
	}
	if !strings.Contains(out.Guidance, "d-1") || w.skin.partial != "" || strings.Contains(fmt.Sprint(out.History), "Now") {
		t.Errorf("guidance %q, partial %q", out.Guidance, w.skin.partial)
	}
	// The next turn goes on from this history.
	w.model.script = append(w.model.script, say{text: "ok"})
	next, err := agent.New(w.opts).Turn(t.Context(), agent.Input{Turn: 2, Text: "go on", History: out.History})
	if err != nil || next.Label != agent.Answered {
		t.Errorf("next turn %+v, %v", next, err)
	}
	w.paired(next.History)
}

func TestASeamMissEndsTheTurn(t *testing.T) {
	for name, script := range map[string][]say{
		"of the model": {{err: fault.New("SEAM_MISS", "model.stream", "no recording")}, {text: "never"}},
		"of a tool":    {{calls: []string{"test_miss {}"}}, {text: "never"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script...)
			out := w.turn(t.Context())
			if out.Label != agent.Failed || fault.CodeOf(out.Err) != "SEAM_MISS" || len(w.model.requests) != 1 || strings.Count(w.trace.types(), "seam.missed") != 1 {
				t.Errorf("outcome %+v, events %s", out, w.trace.types())
			}
		})
	}
}

func TestTheLedger(t *testing.T) {
	prices := ledger.NewPriceList(map[string]*model.Price{"fake/one": {Input: 1_000_000, Output: 1_000_000}})
	setup := func(w *world, l ledger.PriceList, limit int64) {
		w.opts.Ledger = ledger.New(ledger.Options{Rows: w.rows, Clock: w.clock, Prices: l, Saved: true})
		if limit > 0 {
			w.opts.Caps = []ledger.Cap{{Scope: ledger.ScopeSession, ID: "s-1", Limit: limit}}
		}
	}
	t.Run("every attempt has a row", func(t *testing.T) {
		w := newWorld(t, say{err: busy}, say{calls: []string{"test_say {}"}}, say{text: "ok"})
		setup(w, prices, 1_000_000_000_000)
		out := w.turn(t.Context())
		rows, _ := w.rows.ListRows(t.Context(), "s-1")
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprintf("%s %s %d", r.ID, r.State, r.Cost))
		}
		if want := "[s-1.t1r1a1 released 0 s-1.t1r1a2 settled 12000000 s-1.t1r2a1 settled 12000000]"; fmt.Sprint(got) != want || out.Cost != 24_000_000 {
			t.Errorf("rows %v, cost %d, want %s", got, out.Cost, want)
		}
	})
	t.Run("over the cap", func(t *testing.T) {
		w := newWorld(t, say{text: "never"})
		setup(w, prices, 1_000)
		out := w.turn(t.Context())
		if out.Label != agent.Stopped || out.Stop != agent.StopBudget || fault.CodeOf(out.Err) != ledger.CodeOverCap || len(w.model.requests) != 0 {
			t.Errorf("outcome %+v", out)
		}
	})
	t.Run("without a price", func(t *testing.T) {
		w := newWorld(t, say{text: "never"})
		setup(w, ledger.PriceList{}, 1_000_000_000_000)
		out := w.turn(t.Context())
		if out.Stop != agent.StopBudget || fault.CodeOf(out.Err) != ledger.CodeUnpriced || len(w.model.requests) != 0 {
			t.Errorf("outcome %+v", out)
		}
	})
	t.Run("a cut reply", func(t *testing.T) {
		w := newWorld(t, say{text: "We", cut: true})
		setup(w, prices, 1_000_000_000_000)
		out := w.turn(t.Context())
		rows, _ := w.rows.ListRows(t.Context(), "s-1")
		if len(rows) != 1 || rows[0].State != ledger.Settled || rows[0].Usage.State != model.UsageUnknown || out.Cost != rows[0].Reserve || out.Cost == 0 {
			t.Errorf("rows %+v, cost %d", rows, out.Cost)
		}
	})
}

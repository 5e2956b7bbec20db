package session_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/store/memory"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

type books struct {
	*memory.Store
	*ledger.Memory
}

type anything struct{}

func (anything) CheckPiece(context.Context, store.Piece) error { return nil }

var ada = store.Ref{Kind: "character", ID: "ada"}

// journey is a session with one request, one draft and its apply, in the trace and
// in the books.
func journey(t *testing.T) (dir string, b books, reserved, settled ledger.Row, r draft.Receipt, steps []step) {
	t.Helper()
	b = books{memory.New(), ledger.NewMemory()}
	p, err := b.Create(t.Context(), store.Piece{Ref: ada, Body: []byte(`{"n":1}`)}, store.Stamp{})
	if err != nil {
		t.Fatal(err)
	}
	svc := draft.New(b.Store, b.Store, clock.NewFixed(clock.Epoch), anything{})
	after := p
	after.Body = []byte(`{"n":2}`)
	d, err := svc.Compose(t.Context(), "s-1", draft.Proposal{Baseline: p, Proposed: after})
	if err != nil {
		t.Fatal(err)
	}
	if r, err = svc.Apply(t.Context(), "s-1", d.ID, 3); err != nil {
		t.Fatal(err)
	}
	reserved = ledger.Row{ID: "s-1.t1r1a1", Session: "s-1", State: ledger.Reserved, Reserve: 10, At: clock.Epoch.Add(7), Usage: model.Usage{State: model.UsageUnknown}}
	settled = reserved
	settled.State, settled.Cost, settled.Usage = ledger.Settled, 4, model.Usage{State: model.Exact, Input: 1, Output: 2}
	if err := b.ReserveRow(t.Context(), reserved, nil); err != nil {
		t.Fatal(err)
	}
	if err := b.SettleRow(t.Context(), settled); err != nil {
		t.Fatal(err)
	}
	steps = []step{
		{1, trace.TurnOpened{Input: "x"}},
		{1, trace.ModelRequested{Row: &reserved}},
		{1, trace.CostSettled{Row: settled}},
		{1, trace.DraftSettled{Receipt: r}},
		{1, trace.TurnClosed{}},
	}
	return t.TempDir(), b, reserved, settled, r, steps
}

func TestCompareIsClean(t *testing.T) {
	dir, b, _, settled, r, steps := journey(t)
	events := write(t, dir, "s-1", steps...)
	a, err := session.Compare(t.Context(), dir, b)
	if err != nil || !a.Clean() || len(a.Differences) != 0 || a.Sessions != 1 || a.Rows != 1 || a.Receipts != 1 {
		t.Errorf("Compare = %+v, %v, want nothing that differs", a, err)
	}
	rows, err := session.Rows(events)
	if err != nil || len(rows) != 1 || rows[0] != settled {
		t.Errorf("Rows = %+v, %v, want %+v", rows, err, settled)
	}
	receipts, err := session.Receipts(events)
	if err != nil || len(receipts) != 1 || receipts[0] != r {
		t.Errorf("Receipts = %+v, %v, want %+v", receipts, err, r)
	}
}

func TestCompareFinds(t *testing.T) {
	tests := []struct {
		name  string
		edit  func(t *testing.T, b books, steps []step) []step
		what  string
		crash bool
	}{
		{"the process died before the settlement was traced", func(_ *testing.T, _ books, s []step) []step { return append(s[:2:2], s[3:]...) }, "row s-1.t1r1a1", true},
		{"a settled row without any event", func(_ *testing.T, _ books, s []step) []step { return append(s[:1:1], s[3:]...) }, "row s-1.t1r1a1", false},
		{"another cost", func(_ *testing.T, _ books, s []step) []step {
			row := s[2].p.(trace.CostSettled).Row
			row.Cost++
			s[2].p = trace.CostSettled{Row: row}
			return s
		}, "row s-1.t1r1a1", false},
		{"a row that the store lost", func(_ *testing.T, _ books, s []step) []step {
			row := s[2].p.(trace.CostSettled).Row
			row.ID = "s-1.t9r9a9"
			return append(s, step{1, trace.CostSettled{Row: row}})
		}, "row s-1.t9r9a9", false},
		{"a reservation whose event a crash kept away", func(t *testing.T, b books, s []step) []step {
			if err := b.ReserveRow(t.Context(), ledger.Row{ID: "late", Session: "s-1", State: ledger.Reserved}, nil); err != nil {
				t.Fatal(err)
			}
			return s
		}, "row late", true},
		{"a row of no session", func(t *testing.T, b books, s []step) []step {
			if err := b.ReserveRow(t.Context(), ledger.Row{ID: "odd", Session: "s-9", State: ledger.Reserved}, nil); err != nil {
				t.Fatal(err)
			}
			return s
		}, "row odd", false},
		{"an apply whose receipt a crash kept away", func(_ *testing.T, _ books, s []step) []step { return append(s[:3:3], s[4:]...) }, "draft d-0001", true},
		{"another outcome", func(_ *testing.T, _ books, s []step) []step {
			r := s[3].p.(trace.DraftSettled).Receipt
			r.Outcome, r.Revision = draft.Stale, 0
			s[3].p = trace.DraftSettled{Receipt: r}
			return s
		}, "draft d-0001", false},
		{"another revision", func(_ *testing.T, _ books, s []step) []step {
			r := s[3].p.(trace.DraftSettled).Receipt
			r.Revision++
			s[3].p = trace.DraftSettled{Receipt: r}
			return s
		}, "draft d-0001", false},
		{"a draft that the store lost", func(_ *testing.T, _ books, s []step) []step {
			return append(s, step{1, trace.DraftSettled{Receipt: draft.Receipt{Draft: "d-9", Outcome: draft.Discarded}}})
		}, "draft d-9", false},
		{"a draft that says applied and was not", func(t *testing.T, b books, s []step) []step {
			if err := b.PutDraft(t.Context(), draft.Draft{ID: "d-7", Rev: 1, Owner: "", State: draft.Applied, Proposed: store.Piece{Ref: ada}}); err != nil {
				t.Fatal(err)
			}
			return s
		}, "draft d-7", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, b, _, _, _, steps := journey(t)
			write(t, dir, "s-1", tt.edit(t, b, steps)...)
			a, err := session.Compare(t.Context(), dir, b)
			if err != nil || len(a.Differences) != 1 || a.Differences[0].What != tt.what || a.Differences[0].Crash != tt.crash || a.Clean() != tt.crash {
				t.Errorf("Compare = %+v, %v, want one difference: %s, crash %v", a, err, tt.what, tt.crash)
			}
		})
	}
}

func TestCompareRefusesADamagedTrace(t *testing.T) {
	dir, b, _, _, _, steps := journey(t)
	write(t, dir, "s-1", steps...)
	write(t, dir, "s-2", steps[0])
	s := open(t, dir, "s-3")
	if _, err := s.Record(t.Context(), 1, trace.Steered{}); err != nil {
		t.Fatal(err)
	}
	breakFile(t, dir+"/s-2.jsonl")
	if _, err := session.Compare(t.Context(), dir, b); err == nil || !strings.Contains(err.Error(), "s-2") {
		t.Errorf("Compare = %v, want an error that names the trace", err)
	}
}

// breakFile puts a line that is no event at the end of a trace.
func breakFile(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("{}\n"); err != nil {
		t.Fatal(err)
	}
}

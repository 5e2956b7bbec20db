// Package ledgertest is the suite that every backend of a ledger passes.
//
// It is part of the kernel's tests, above ledger. It tests ledger.Rows and nothing
// of how a backend keeps them.
package ledgertest

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

// noon is when every row of the suite is made.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func row(id, session string, reserve int64) ledger.Row {
	return ledger.Row{
		ID: id, Session: session, Run: "r-1", Turn: 1, Round: 2, Attempt: 3, Role: "lead", Billing: ledger.Metered,
		Ref: "anthropic/x", Origin: "scripted", State: ledger.Reserved, Usage: model.Usage{State: model.UsageUnknown},
		Reserve: reserve, Priced: "abc", At: noon,
	}
}

func settled(r ledger.Row, cost int64) ledger.Row {
	r.State, r.Cost, r.List = ledger.Settled, cost, cost
	r.Usage = model.Usage{State: model.Exact, Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 1}
	return r
}

// Run tests the Rows that open returns, fresh and empty each time.
func Run(t *testing.T, open func(t *testing.T) ledger.Rows) {
	for name, test := range map[string]func(*testing.T, ledger.Rows){
		"rows come back as they went in": comeBack,
		"a row is reserved once":         once,
		"only reserved rows settle":      settleOnce,
		"caps":                           caps,
		"scopes":                         scopes,
		"saved rows stay in the session": saved,
		"a refusal writes nothing":       refusal,
		"amounts do not overflow":        overflow,
		"many at once":                   many,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func reserve(t *testing.T, rows ledger.Rows, r ledger.Row, caps ...ledger.Cap) {
	t.Helper()
	if err := rows.ReserveRow(t.Context(), r, caps); err != nil {
		t.Fatalf("reserve %s: %v", r.ID, err)
	}
}

func settle(t *testing.T, rows ledger.Rows, r ledger.Row) {
	t.Helper()
	if err := rows.SettleRow(t.Context(), r); err != nil {
		t.Fatalf("settle %s: %v", r.ID, err)
	}
}

func list(t *testing.T, rows ledger.Rows, session string) []ledger.Row {
	t.Helper()
	got, err := rows.ListRows(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func comeBack(t *testing.T, rows ledger.Rows) {
	// The ids are not in order of the alphabet: rows come in order of insertion.
	a, b, c := row("z", "s-1", 10), row("m", "s-2", 20), row("a", "s-1", 30)
	c.ParentRun, c.Saved, c.At = "r-0", true, noon.Add(time.Nanosecond)
	for _, r := range []ledger.Row{a, b, c} {
		reserve(t, rows, r)
	}
	a = settled(a, 7)
	settle(t, rows, a)
	for session, want := range map[string][]ledger.Row{"s-1": {a, c}, "s-2": {b}, "": {a, b, c}, "s-3": {}} {
		got := list(t, rows, session)
		if len(got) != len(want) {
			t.Errorf("ListRows(%q) has %d rows, want %d", session, len(got), len(want))
			continue
		}
		for i := range want {
			g := got[i]
			if !g.At.Equal(want[i].At) {
				t.Errorf("row %s: at %v, want %v", want[i].ID, g.At, want[i].At)
			}
			g.At = want[i].At
			if g != want[i] {
				t.Errorf("ListRows(%q)[%d]\n got %+v\nwant %+v", session, i, g, want[i])
			}
		}
	}
}

func once(t *testing.T, rows ledger.Rows) {
	reserve(t, rows, row("a", "s-1", 10))
	if err := rows.ReserveRow(t.Context(), row("a", "s-1", 99), nil); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("the same id: %v, want %s", err, fault.Conflict)
	}
	if got := list(t, rows, ""); len(got) != 1 || got[0].Reserve != 10 {
		t.Errorf("rows %+v", got)
	}
}

func settleOnce(t *testing.T, rows ledger.Rows) {
	a := row("a", "s-1", 10)
	if err := rows.SettleRow(t.Context(), settled(a, 5)); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a row that is not there: %v, want %s", err, fault.Conflict)
	}
	reserve(t, rows, a)
	settle(t, rows, settled(a, 5))
	released := a
	released.State = ledger.Released
	for _, r := range []ledger.Row{settled(a, 6), released} {
		if err := rows.SettleRow(t.Context(), r); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("settled again: %v, want %s", err, fault.Conflict)
		}
	}
	if got := list(t, rows, ""); got[0].Cost != 5 {
		t.Errorf("cost %d, want 5", got[0].Cost)
	}
}

func caps(t *testing.T, rows ledger.Rows) {
	limit := ledger.Cap{Scope: ledger.ScopeSession, ID: "s-1", Limit: 100}
	a, b := row("a", "s-1", 60), row("b", "s-1", 40)
	reserve(t, rows, a, limit)
	reserve(t, rows, b, limit) // exactly full
	if err := rows.ReserveRow(t.Context(), row("c", "s-1", 1), []ledger.Cap{limit}); fault.CodeOf(err) != ledger.CodeOverCap {
		t.Fatalf("one over: %v, want %s", err, ledger.CodeOverCap)
	}
	settle(t, rows, settled(a, 10))
	b.State = ledger.Released
	settle(t, rows, b)
	reserve(t, rows, row("d", "s-1", 90), limit) // 10 spent, 40 given back
	got, err := rows.SumRows(t.Context(), limit)
	if want := (ledger.Sum{Rows: 3, Open: 90, Cost: 10}); err != nil || got != want {
		t.Errorf("SumRows = %+v, %v, want %+v", got, err, want)
	}
}

func scopes(t *testing.T, rows ledger.Rows) {
	mine, other := row("a", "s-1", 100), row("b", "s-2", 100)
	other.Run, other.ParentRun, other.At = "r-2", "r-1", noon.Add(24*time.Hour)
	reserve(t, rows, mine)
	reserve(t, rows, other)
	for _, tt := range []struct {
		cap  ledger.Cap
		open int64
	}{
		{ledger.Cap{Scope: ledger.ScopeSession, ID: "s-1"}, 100},
		{ledger.Cap{Scope: ledger.ScopeSession, ID: "s-9"}, 0},
		{ledger.Cap{Scope: ledger.ScopeRun, ID: "r-1"}, 200}, // and what it started
		{ledger.Cap{Scope: ledger.ScopeRun, ID: "r-2"}, 100},
		{ledger.Cap{Scope: ledger.ScopeDay, ID: "2026-01-02"}, 100},
		{ledger.Cap{Scope: ledger.ScopeDay, ID: "2026-01-03"}, 100},
		{ledger.Cap{Scope: ledger.ScopeDay, ID: "2026-01-04"}, 0},
		{ledger.Cap{Scope: ledger.ScopeStudio}, 200},
	} {
		sum, err := rows.SumRows(t.Context(), tt.cap)
		if err != nil || sum.Open != tt.open {
			t.Errorf("%s: open %d, %v, want %d", tt.cap, sum.Open, err, tt.open)
		}
		tt.cap.Limit = tt.open + 5
		for reserve, want := range map[int64]fault.Code{6: ledger.CodeOverCap} {
			if err := rows.ReserveRow(t.Context(), row("x", "s-9", reserve), []ledger.Cap{tt.cap}); fault.CodeOf(err) != want {
				t.Errorf("%s: %d over: %v, want %s", tt.cap, reserve, err, want)
			}
		}
	}
}

func saved(t *testing.T, rows ledger.Rows) {
	a := row("a", "s-1", 50)
	a.Saved = true
	open := row("b", "s-1", 30)
	open.Saved = true
	reserve(t, rows, a)
	reserve(t, rows, open)
	settle(t, rows, settled(a, 40))
	studio := ledger.Cap{Scope: ledger.ScopeStudio, Limit: 100}
	// The session's own saved rows count, 40 + 30; another session's do not.
	if err := rows.ReserveRow(t.Context(), row("c", "s-1", 31), []ledger.Cap{studio}); fault.CodeOf(err) != ledger.CodeOverCap {
		t.Errorf("in the session: %v, want %s", err, ledger.CodeOverCap)
	}
	reserve(t, rows, row("d", "s-1", 30), studio)
	reserve(t, rows, row("e", "s-2", 70), studio) // beside d's 30
	sum, err := rows.SumRows(t.Context(), studio)
	if want := (ledger.Sum{Rows: 4, Open: 130, Cost: 0, Saved: 40}); err != nil || sum != want {
		t.Errorf("SumRows = %+v, %v, want %+v", sum, err, want)
	}
}

func refusal(t *testing.T, rows ledger.Rows) {
	wide, narrow := ledger.Cap{Scope: ledger.ScopeStudio, Limit: 1000}, ledger.Cap{Scope: ledger.ScopeRun, ID: "r-1", Limit: 5}
	err := rows.ReserveRow(t.Context(), row("a", "s-1", 10), []ledger.Cap{wide, narrow})
	if fault.CodeOf(err) != ledger.CodeOverCap || !strings.Contains(err.Error(), "run r-1") || fault.HintOf(err) == "" {
		t.Errorf("ReserveRow = %v, hint %q, want %s that names the run", err, fault.HintOf(err), ledger.CodeOverCap)
	}
	if got := list(t, rows, ""); len(got) != 0 {
		t.Errorf("rows %+v", got)
	}
}

func overflow(t *testing.T, rows ledger.Rows) {
	limit := ledger.Cap{Scope: ledger.ScopeStudio, Limit: math.MaxInt64}
	reserve(t, rows, row("a", "s-1", math.MaxInt64), limit)
	if err := rows.ReserveRow(t.Context(), row("b", "s-1", math.MaxInt64), []ledger.Cap{limit}); fault.CodeOf(err) != ledger.CodeOverCap {
		t.Errorf("beyond an int64: %v, want %s", err, ledger.CodeOverCap)
	}
}

func many(t *testing.T, rows ledger.Rows) {
	limit := ledger.Cap{Scope: ledger.ScopeStudio, Limit: 10}
	var wg sync.WaitGroup
	var mu sync.Mutex
	won, failed := 0, 0
	for i := range 32 {
		wg.Go(func() {
			err := rows.ReserveRow(t.Context(), row(fmt.Sprint("row-", i), "s-1", 1), []ledger.Cap{limit})
			mu.Lock()
			defer mu.Unlock()
			switch fault.CodeOf(err) {
			case "":
				won++
			case ledger.CodeOverCap:
			default:
				failed++
				t.Errorf("row %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if won != 10 || failed != 0 {
		t.Errorf("%d of 32 got through, want 10", won)
	}
}

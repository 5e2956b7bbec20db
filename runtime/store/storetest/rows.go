package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// RunDrafts checks a backend of [draft.Drafts]. Each call of open gives an empty
// one.
func RunDrafts(t *testing.T, open func(t *testing.T) draft.Drafts) {
	t.Run("put", func(t *testing.T) { testPutDraft(t, open(t)) })
	t.Run("list", func(t *testing.T) { testListDrafts(t, open(t)) })
	t.Run("one of many wins", func(t *testing.T) {
		ds := open(t)
		d := sampleDraft("d-1", 1)
		if err := ds.PutDraft(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		d.Rev++
		got := race(func(int) error { return ds.PutDraft(t.Context(), d) })
		if got[""] != 1 || got[fault.Conflict] != many-1 {
			t.Errorf("outcomes %v, want 1 success and %d %s", got, many-1, fault.Conflict)
		}
	})
}

func sampleDraft(id string, n int64) draft.Draft {
	p := stored(piece("character", "ada"), 3, stamp(1))
	p.Escrow = []store.Escrow{{Format: "f", Name: "n", Raw: []byte{0, 1, 0xff}}}
	p.Profiles = []byte(`{"p":1}`)
	after := p
	after.Body = []byte(`{"name":"<Ada> & 12345678901234567890"}`)
	return draft.Draft{
		ID: id, Rev: 1, Owner: "s-1", Baseline: p, Proposed: after, State: draft.Open,
		Ops: []draft.Op{{
			Capability: "character.identity.update", Input: `{"name":"x"}`,
			Changes:  []draft.Change{{Path: "/name", Label: "Name", Before: "ada", After: "Ada"}},
			Warnings: []string{"w"}, Impact: []draft.Impact{{Platform: "risu", Effect: "none"}},
		}},
		Created: store.Instant(stamp(n).At), Updated: store.Instant(stamp(n + 1).At),
	}
}

func testPutDraft(t *testing.T, ds draft.Drafts) {
	ctx := t.Context()
	d := sampleDraft("d-1", 1)
	_, err := ds.GetDraft(ctx, "d-1")
	wantCode(t, "Get of none", err, fault.NotFound)
	d.Rev = 2
	wantCode(t, "Put over none", ds.PutDraft(ctx, d), fault.Conflict)
	d.Rev = 1
	if err := ds.PutDraft(ctx, d); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "Put of the same revision", ds.PutDraft(ctx, d), fault.Conflict)
	got, err := ds.GetDraft(ctx, "d-1")
	if err != nil {
		t.Fatal(err)
	}
	wantPiece(t, got.Baseline, d.Baseline)
	wantPiece(t, got.Proposed, d.Proposed)
	if fmt.Sprint(got.Ops) != fmt.Sprint(d.Ops) || got.Owner != d.Owner || got.State != d.State || !got.Created.Equal(d.Created) || !got.Updated.Equal(d.Updated) {
		t.Errorf("got %+v, want %+v", got, d)
	}
	d.Rev, d.State, d.Reason = 2, draft.Discarded, "a person said no"
	if err := ds.PutDraft(ctx, d); err != nil {
		t.Fatal(err)
	}
	if got, err = ds.GetDraft(ctx, "d-1"); err != nil || got.State != draft.Discarded || got.Reason != d.Reason || got.Rev != 2 {
		t.Errorf("got %+v, %v, want the second revision", got, err)
	}
	d.Rev = 4
	wantCode(t, "Put that skips a revision", ds.PutDraft(ctx, d), fault.Conflict)
}

func testListDrafts(t *testing.T, ds draft.Drafts) {
	states := []draft.State{draft.Open, draft.Applied, draft.Applying, draft.Stale, draft.Failed, draft.Discarded, draft.Open}
	for i, state := range states {
		d := sampleDraft(fmt.Sprint("d-", i), int64(i/2)) // pairs have the same time
		d.State = state
		if err := ds.PutDraft(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	for all, want := range map[bool]string{true: "d-6 d-5 d-4 d-3 d-2 d-1 d-0", false: "d-6 d-2 d-0"} {
		list, err := ds.ListDrafts(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, d := range list {
			ids = append(ids, d.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("ListDrafts(%v) = %s, want %s", all, got, want)
		}
	}
}

// RunRows checks a backend of [ledger.Rows]. Each call of open gives an empty one.
func RunRows(t *testing.T, open func(t *testing.T) ledger.Rows) {
	t.Run("reserve and settle", func(t *testing.T) { testSettle(t, open(t)) })
	t.Run("caps", func(t *testing.T) { testCaps(t, open(t)) })
	t.Run("scopes", func(t *testing.T) { testScopes(t, open(t)) })
	t.Run("many against one cap", func(t *testing.T) {
		rows := open(t)
		got := race(func(i int) error {
			return rows.ReserveRow(t.Context(), row(fmt.Sprint("r-", i), 10), []ledger.Cap{{Scope: "session", ID: "s-1", Limit: 105}})
		})
		if got[""] != 10 || got[ledger.CodeOverCap] != many-10 {
			t.Errorf("outcomes %v, want 10 successes and %d %s", got, many-10, ledger.CodeOverCap)
		}
	})
}

func row(id string, reserve int64) ledger.Row {
	return ledger.Row{
		ID: id, Session: "s-1", Run: "run-1", Turn: 1, Round: 2, Attempt: 1, Role: "lead", Billing: "metered",
		Ref: "anthropic/x", Origin: "live", State: ledger.Reserved, Reserve: reserve, Priced: "digest", At: store.Instant(stamp(1).At),
	}
}

func settled(r ledger.Row, cost int64) ledger.Row {
	r.State, r.Cost, r.List = ledger.Settled, cost, cost
	r.Usage = model.Usage{State: model.Exact, Input: 3, Output: 4, CacheRead: 5}
	return r
}

func testSettle(t *testing.T, rows ledger.Rows) {
	ctx := t.Context()
	a, b := row("a", 7), row("b", 9)
	b.Session = "s-2"
	for _, r := range []ledger.Row{a, b} {
		if err := rows.ReserveRow(ctx, r, nil); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, "same id", rows.ReserveRow(ctx, a, nil), fault.Conflict)
	wantCode(t, "settling nothing", rows.SettleRow(ctx, settled(row("x", 1), 1)), fault.NotFound)
	if err := rows.SettleRow(ctx, settled(a, 5)); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "settling twice", rows.SettleRow(ctx, settled(a, 6)), fault.Conflict)
	released := b
	released.State = ledger.Released
	if err := rows.SettleRow(ctx, released); err != nil {
		t.Fatal(err)
	}
	for session, want := range map[string][]ledger.Row{"": {settled(a, 5), released}, "s-2": {released}, "s-3": nil} {
		got, err := rows.ListRows(ctx, session)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i].At = got[i].At.UTC()
		}
		if !slices.Equal(got, want) {
			t.Errorf("ListRows(%q) = %+v, want %+v", session, got, want)
		}
	}
	sum, err := rows.SumRows(ctx, ledger.Cap{Scope: "studio"})
	if want := (ledger.Sum{Rows: 2, Cost: 5}); err != nil || sum != want {
		t.Errorf("sum %+v, %v, want %+v", sum, err, want)
	}
}

func testCaps(t *testing.T, rows ledger.Rows) {
	ctx := t.Context()
	session := func(limit int64) ledger.Cap { return ledger.Cap{Scope: "session", ID: "s-1", Limit: limit} }
	studio := func(limit int64) ledger.Cap { return ledger.Cap{Scope: "studio", Limit: limit} }
	if err := rows.ReserveRow(ctx, row("exact", 10), []ledger.Cap{session(10)}); err != nil {
		t.Errorf("a reservation that just fits: %v", err)
	}
	err := rows.ReserveRow(ctx, row("over", 1), []ledger.Cap{studio(100), session(10)})
	wantCode(t, "one more", err, ledger.CodeOverCap)
	if err == nil || !strings.Contains(err.Error(), `session "s-1"`) {
		t.Errorf("error %v does not name the cap", err)
	}
	if err := rows.SettleRow(ctx, settled(row("exact", 10), 4)); err != nil {
		t.Fatal(err)
	}
	if err := rows.ReserveRow(ctx, row("freed", 6), []ledger.Cap{session(10)}); err != nil {
		t.Errorf("settling for less frees the rest: %v", err)
	}
	wantCode(t, "huge", rows.ReserveRow(ctx, row("huge", 1<<62), []ledger.Cap{session(1 << 62)}), ledger.CodeOverCap)
	// What was saved counts in its own session only.
	saved := row("saved", 50)
	saved.Session, saved.Saved = "s-2", true
	if err := rows.ReserveRow(ctx, saved, []ledger.Cap{studio(60)}); err != nil {
		t.Fatal(err)
	}
	if err := rows.SettleRow(ctx, settled(saved, 50)); err != nil {
		t.Fatal(err)
	}
	if err := rows.ReserveRow(ctx, row("other", 50), []ledger.Cap{studio(60)}); err != nil {
		t.Errorf("another session's saved rows count: %v", err)
	}
	again := row("again", 1)
	again.Session, again.Saved = "s-2", true
	wantCode(t, "own saved rows", rows.ReserveRow(ctx, again, []ledger.Cap{{Scope: "session", ID: "s-2", Limit: 50}}), ledger.CodeOverCap)
	wantCode(t, "scope", rows.ReserveRow(ctx, row("x", 1), []ledger.Cap{{Scope: "galaxy"}}), fault.Invalid)
}

func testScopes(t *testing.T, rows ledger.Rows) {
	ctx := t.Context()
	child := row("child", 20)
	child.Run, child.ParentRun = "run-2", "run-1"
	grand := row("grand", 300)
	grand.Run, grand.ParentRun, grand.Session = "run-3", "run-2", "s-2"
	late := row("late", 4000)
	late.Run, late.At = "run-9", late.At.AddDate(0, 0, 1)
	for _, r := range []ledger.Row{row("a", 1), child, grand, late} {
		if err := rows.ReserveRow(ctx, r, nil); err != nil {
			t.Fatal(err)
		}
	}
	for c, want := range map[ledger.Cap]int64{
		{Scope: "session", ID: "s-1"}:    4021,
		{Scope: "session", ID: "s-3"}:    0,
		{Scope: "run", ID: "run-1"}:      321,
		{Scope: "run", ID: "run-2"}:      320,
		{Scope: "run", ID: "run-9"}:      4000,
		{Scope: "day", ID: "2026-01-02"}: 321,
		{Scope: "day", ID: "2026-01-03"}: 4000,
		{Scope: "studio"}:                4321,
	} {
		got, err := rows.SumRows(ctx, c)
		if err != nil || got.Open != want {
			t.Errorf("SumRows(%+v) = %+v, %v, want %d open", c, got, err, want)
		}
	}
	_, err := rows.SumRows(ctx, ledger.Cap{Scope: "galaxy"})
	wantCode(t, "scope", err, fault.Invalid)
}

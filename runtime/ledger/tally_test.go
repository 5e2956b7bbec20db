package ledger_test

import (
	"math"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

func TestTally(t *testing.T) {
	day := time.Date(2026, 5, 1, 23, 30, 0, 0, time.FixedZone("", -3600))
	rows := []ledger.Row{
		{Session: "s-2", Ref: "a/b", State: ledger.Settled, Billing: ledger.Metered, Cost: 5, Priced: "x", At: day, Usage: model.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, Output: 4}},
		{Session: "s-1", Ref: "a/b", State: ledger.Settled, Billing: ledger.Metered, Cost: 7, Saved: true, Priced: "x", At: day},
		{Session: "s-1", Ref: "a/c", State: ledger.Reserved, Billing: ledger.Metered, Reserve: 9, Priced: "x", At: day.Add(-time.Hour)},
		{Session: "s-1", Ref: "a/c", State: ledger.Released, Billing: ledger.Metered, Reserve: 9, At: day},
		{Session: "s-1", Ref: "a/d", State: ledger.Settled, Billing: ledger.Metered, At: day},
	}
	for by, want := range map[string][]ledger.Group{
		ledger.BySession: {{Name: "s-1", Requests: 4, Saved: 7, Reserved: 9, Unpriced: 1}, {Name: "s-2", Requests: 1, Spent: 5, In: 6, Out: 4}},
		ledger.ByDay:     {{Name: "2026-05-01", Requests: 1, Reserved: 9}, {Name: "2026-05-02", Requests: 4, Spent: 5, Saved: 7, Unpriced: 1, In: 6, Out: 4}},
		ledger.ByModel: {
			{Name: "a/b", Requests: 2, Spent: 5, Saved: 7, In: 6, Out: 4},
			{Name: "a/c", Requests: 2, Reserved: 9},
			{Name: "a/d", Requests: 1, Unpriced: 1},
		},
	} {
		got, err := ledger.Tally(rows, by)
		if err != nil || len(got) != len(want) {
			t.Fatalf("by %s: %+v, %v", by, got, err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("by %s\n got %+v\nwant %+v", by, got[i], want[i])
			}
		}
		if total := ledger.Total(got); total != (ledger.Group{Name: "total", Requests: 5, Spent: 5, Saved: 7, Reserved: 9, Unpriced: 1, In: 6, Out: 4}) {
			t.Errorf("by %s: total %+v", by, total)
		}
	}
	if _, err := ledger.Tally(rows, "moon"); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("by moon: %v", err)
	}
	huge := []ledger.Row{{State: ledger.Settled, Cost: math.MaxInt64}, {State: ledger.Settled, Cost: 1}}
	if got, err := ledger.Tally(huge, ledger.ByModel); err != nil || got[0].Spent != math.MaxInt64 {
		t.Errorf("%+v, %v", got, err)
	}
}

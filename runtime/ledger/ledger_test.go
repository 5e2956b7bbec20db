package ledger_test

import (
	"math"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/ledger/ledgertest"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

func TestMemory(t *testing.T) {
	ledgertest.Run(t, func(*testing.T) ledger.Rows { return ledger.NewMemory() })
}

// One dollar and five dollars for a million tokens.
var prices = ledger.NewPriceList(map[string]*model.Price{
	"a/cheap":  {Input: 1_000_000, Output: 5_000_000, CacheRead: 100_000, CacheWrite: 1_250_000},
	"a/bare":   {Input: 1_000_000, Output: 5_000_000},
	"a/free":   {},
	"a/nil":    nil,
	"a/absurd": {Input: math.MaxInt64, Output: 1},
})

func book(saved bool) (*ledger.Ledger, *ledger.Memory) {
	rows := ledger.NewMemory()
	return ledger.New(ledger.Options{Rows: rows, Clock: clock.NewFixed(clock.Epoch), Prices: prices, Saved: saved}), rows
}

func want(ref string, caps ...ledger.Cap) ledger.Want {
	return ledger.Want{Session: "s-1", Run: "r-1", Turn: 1, Round: 2, Attempt: 1, Ref: ref, Input: 1_000, MaxOutput: 200, Caps: caps}
}

func TestReserveTakesTheMostThatCanComeOut(t *testing.T) {
	l, _ := book(false)
	r, err := l.Reserve(t.Context(), want("a/cheap"))
	// 1,000 at the price of writing the cache, the dearest, and 200 out.
	if want := int64(1_000*1_250_000 + 200*5_000_000); err != nil || r.Reserve != want {
		t.Errorf("Reserve = %d, %v, want %d", r.Reserve, err, want)
	}
	if r.ID != "s-1.t1r2a1" || r.Priced != prices.Digest() || r.State != ledger.Reserved || r.Role != "lead" || r.Billing != ledger.Metered {
		t.Errorf("row %+v", r)
	}
}

// A typing error must not make a metered request free: what is not metered is not paid.
func TestReserveRefusesWhatItCannotBook(t *testing.T) {
	for name, change := range map[string]func(*ledger.Want){
		"role":    func(w *ledger.Want) { w.Role = "leed" },
		"billing": func(w *ledger.Want) { w.Billing = "meterd" },
		"input":   func(w *ledger.Want) { w.Input = -1 },
		"output":  func(w *ledger.Want) { w.MaxOutput = -1 },
	} {
		l, rows := book(false)
		w := want("a/cheap")
		change(&w)
		if _, err := l.Reserve(t.Context(), w); fault.CodeOf(err) != fault.Invalid || fault.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
		if list, err := rows.ListRows(t.Context(), ""); err != nil || len(list) != 0 {
			t.Errorf("%s: %d rows, %v", name, len(list), err)
		}
	}
	for _, role := range []string{ledger.Lead, ledger.Child, ledger.OneShot, ledger.Tool, ledger.Compute} {
		for _, billing := range []string{ledger.Metered, ledger.Plan, ledger.Local} {
			l, _ := book(false)
			w := want("a/cheap")
			w.Role, w.Billing = role, billing
			if r, err := l.Reserve(t.Context(), w); err != nil || r.Role != role || r.Billing != billing || (r.Reserve > 0) != (billing == ledger.Metered) {
				t.Errorf("%s, %s: %+v, %v", role, billing, r, err)
			}
		}
	}
}

func TestSettle(t *testing.T) {
	usage := func(s model.UsageState) model.Usage {
		return model.Usage{State: s, Input: 100, Output: 20, CacheRead: 10, CacheWrite: 4, Reasoning: 15}
	}
	const exact = 100*1_000_000 + 20*5_000_000 + 10*100_000 + 4*1_250_000
	const bare = 114*1_000_000 + 20*5_000_000
	const high = 1_000*1_250_000 + 200*5_000_000
	tests := []struct {
		name, ref, billing string
		usage              model.Usage
		cost, list         int64
		state              ledger.State
		says               model.UsageState
	}{
		{name: "exact", ref: "a/cheap", usage: usage(model.Exact), cost: exact, list: exact, state: ledger.Settled, says: model.Exact},
		{name: "partial is priced as far as it goes", ref: "a/cheap", usage: usage(model.Partial), cost: exact, list: exact, state: ledger.Settled, says: model.Partial},
		{name: "no price for the cache is the price of input", ref: "a/bare", usage: usage(model.Exact), cost: bare, list: bare, state: ledger.Settled, says: model.Exact},
		{name: "unknown is the reservation", ref: "a/cheap", usage: model.Usage{State: model.UsageUnknown}, cost: high, list: high, state: ledger.Settled, says: model.UsageUnknown},
		{name: "a state that was not set is unknown", ref: "a/cheap", usage: model.Usage{}, cost: high, list: high, state: ledger.Settled, says: model.UsageUnknown},
		{name: "none is given back", ref: "a/cheap", usage: model.Usage{State: model.None}, state: ledger.Released, says: model.None},
		{name: "a plan pays nothing", ref: "a/cheap", billing: ledger.Plan, usage: usage(model.Exact), list: exact, state: ledger.Settled, says: model.Exact},
		{name: "no price", ref: "a/unheard", usage: usage(model.Exact), state: ledger.Settled, says: model.Exact},
		{name: "0/0 is no price", ref: "a/free", usage: usage(model.Exact), state: ledger.Settled, says: model.Exact},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, rows := book(false)
			w := want(tt.ref)
			w.Billing = tt.billing
			r, err := l.Reserve(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			if r, err = l.Settle(t.Context(), r, tt.usage); err != nil {
				t.Fatal(err)
			}
			if r.Cost != tt.cost || r.List != tt.list || r.State != tt.state || r.Usage.State != tt.says {
				t.Errorf("settled %+v, want cost %d, list %d, %s, %s", r, tt.cost, tt.list, tt.state, tt.says)
			}
			if priced := strings.HasSuffix(tt.ref, "cheap") || strings.HasSuffix(tt.ref, "bare"); (r.Priced != "") != priced {
				t.Errorf("priced by %q", r.Priced)
			}
			if kept, _ := rows.ListRows(t.Context(), ""); len(kept) != 1 || kept[0] != r {
				t.Errorf("kept %+v, want %+v", kept, r)
			}
		})
	}
}

func TestUnpriced(t *testing.T) {
	limit := ledger.Cap{Scope: ledger.ScopeSession, ID: "s-1", Limit: math.MaxInt64}
	for _, ref := range []string{"a/unheard", "a/free"} {
		l, rows := book(true)
		_, err := l.Reserve(t.Context(), want(ref, limit))
		if fault.CodeOf(err) != ledger.CodeUnpriced || !strings.Contains(err.Error(), ref) || fault.HintOf(err) == "" {
			t.Errorf("%s under a cap: %v, want %s", ref, err, ledger.CodeUnpriced)
		}
		if kept, _ := rows.ListRows(t.Context(), ""); len(kept) != 0 {
			t.Errorf("%s left %+v", ref, kept)
		}
		w := want(ref, limit)
		w.Billing = ledger.Local
		if _, err := l.Reserve(t.Context(), w); err != nil {
			t.Errorf("%s on this machine: %v", ref, err)
		}
	}
}

func TestSavedRowsCountInTheirSession(t *testing.T) {
	l, _ := book(true)
	limit := ledger.Cap{Scope: ledger.ScopeSession, ID: "s-1", Limit: 3_000_000_000}
	r, err := l.Reserve(t.Context(), want("a/cheap", limit))
	if err != nil || !r.Saved {
		t.Fatalf("Reserve = %+v, %v", r, err)
	}
	if _, err := l.Settle(t.Context(), r, model.Usage{State: model.Exact, Input: 1_000}); err != nil {
		t.Fatal(err)
	}
	second := want("a/cheap", limit)
	second.Round = 3
	if _, err := l.Reserve(t.Context(), second); fault.CodeOf(err) != ledger.CodeOverCap {
		t.Errorf("second request: %v, want %s", err, ledger.CodeOverCap)
	}
}

func TestOverflow(t *testing.T) {
	l, _ := book(false)
	if _, err := l.Reserve(t.Context(), want("a/absurd")); fault.CodeOf(err) != ledger.CodeOverflow {
		t.Errorf("Reserve = %v, want %s", err, ledger.CodeOverflow)
	}
	r, err := l.Reserve(t.Context(), want("a/cheap"))
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []model.Usage{{State: model.Exact, Input: math.MaxInt64}, {State: model.Exact, Output: -1}} {
		if _, err := l.Settle(t.Context(), r, u); fault.CodeOf(err) != ledger.CodeOverflow {
			t.Errorf("Settle(%+v) = %v, want %s", u, err, ledger.CodeOverflow)
		}
	}
}

func TestDigestIsOfThePrices(t *testing.T) {
	a := map[string]*model.Price{"x": {Input: 1, Output: 2}, "y": {Input: 3}}
	b := map[string]*model.Price{"y": {Input: 3}, "x": {Input: 1, Output: 2}, "free": {}}
	if ledger.NewPriceList(a).Digest() != ledger.NewPriceList(b).Digest() {
		t.Error("equal lists have different digests")
	}
	b["x"] = &model.Price{Input: 1, Output: 3}
	if ledger.NewPriceList(a).Digest() == ledger.NewPriceList(b).Digest() {
		t.Error("different lists have one digest")
	}
}

func TestEstimateInput(t *testing.T) {
	req := model.Request{
		System:   []model.Part{{Kind: model.Text, Text: strings.Repeat("a", 100)}},
		Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "abc"}, {Kind: model.Image, Data: make([]byte, 1<<20)}}}},
		Tools:    []model.ToolSpec{{Name: "ab", Description: "cd", Schema: []byte("{}")}},
	}
	if got, want := ledger.EstimateInput(req), int64(50+16+16+(16+2)+(16+5_000)+(16+3)); got != want {
		t.Errorf("EstimateInput = %d, want %d", got, want)
	}
}

func TestFormat(t *testing.T) {
	for pico, want := range map[int64]string{
		0: "$0", 1: "<$0.0001", 49_999_999: "<$0.0001", 50_000_000: "$0.0001", 12_345_000_000: "$0.0123", 12_350_000_000: "$0.0124",
		999_949_999_999: "$0.9999", 999_950_000_000: "$1.00", 1_000_000_000_000: "$1.00", 12_345_000_000_000: "$12.35",
		math.MaxInt64: "$9223372.04", -12_345_000_000: "-$0.0123", math.MinInt64: "-$9223372.04",
	} {
		if got := ledger.Format(pico); got != want {
			t.Errorf("Format(%d) = %s, want %s", pico, got, want)
		}
	}
}

func TestParseDollars(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "2.50": 2_500_000_000_000, "$0.01": 10_000_000_000, "0.000000000001": 1, ".5": 500_000_000_000, "9223372": 9_223_372_000_000_000_000,
	} {
		if got, err := ledger.ParseDollars(text); err != nil || got != want {
			t.Errorf("ParseDollars(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "$", ".", "-1", "+1", "1e3", "1,50", "1.2.3", "0.0000000000001", "9223373", "99999999999999999999", " 1", "0x1", "١"} {
		if got, err := ledger.ParseDollars(text); fault.CodeOf(err) != fault.Invalid || fault.HintOf(err) == "" {
			t.Errorf("ParseDollars(%q) = %d, %v, want %s", text, got, err, fault.Invalid)
		}
	}
}

func FuzzParseDollars(f *testing.F) {
	for _, s := range []string{"0", "2.50", "$0.01", "x", "1.2.3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ledger.ParseDollars(s); err == nil && n < 0 {
			t.Errorf("ParseDollars(%q) = %d", s, n)
		}
	})
}

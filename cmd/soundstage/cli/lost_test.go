package cli

import (
	"io"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// A program that died between reserving and settling must not hold a cap down, and
// one that is alive must not be settled for.
func TestLostReservationsAreSettled(t *testing.T) {
	d := Doors{Dir: t.TempDir(), Clock: clock.NewFixed(clock.Epoch), Stdout: io.Discard, Stderr: io.Discard}
	d.Args = []string{"init", "."}
	if code := Main(d); code != exitOK {
		t.Fatalf("init: exit status %d", code)
	}
	a := &app{doors: d}
	h, err := a.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	ref := "anthropic/claude-sonnet-4-5"
	book := ledger.New(ledger.Options{Rows: h.store, Clock: h.clock, Prices: ledger.NewPriceList(map[string]*model.Price{ref: {Input: 1, Output: 2}})})
	for _, id := range []string{"s-dead", "s-alive"} {
		log, err := session.Open(t.Context(), h.sessions(), id, h.tracing(id))
		if err != nil {
			t.Fatal(err)
		}
		row, err := book.Reserve(t.Context(), ledger.Want{Session: id, Run: id, Turn: 1, Round: 1, Attempt: 1, Role: "lead", Billing: ledger.Metered, Ref: ref, Input: 10, MaxOutput: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []trace.Payload{trace.SessionOpened{Skin: "cli"}, trace.TurnOpened{Input: "hi"}, trace.ModelRequested{Round: 1, Ref: ref, Row: &row}} {
			if _, err := log.Record(t.Context(), 1, p); err != nil {
				t.Fatal(err)
			}
		}
		if id == "s-dead" {
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		} else {
			defer log.Close() //nolint:errcheck // the test is over
		}
	}
	if err := h.settleLost(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]ledger.State{"s-dead": ledger.Settled, "s-alive": ledger.Reserved}
	rows, err := h.store.ListRows(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.State != want[r.Session] {
			t.Errorf("row of %s is %s, want %s", r.Session, r.State, want[r.Session])
		}
		if r.Session == "s-dead" && (r.Cost != r.Reserve || r.Usage.State != model.UsageUnknown) {
			t.Errorf("lost row costs %d of %d, usage %s", r.Cost, r.Reserve, r.Usage.State)
		}
	}
	audit, err := session.Compare(t.Context(), h.sessions(), h.store)
	if err != nil || !audit.Clean() || len(audit.Differences) > 0 {
		t.Errorf("audit %+v, %v", audit, err)
	}
}

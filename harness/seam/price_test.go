package seam_test

import (
	"errors"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/seam"
)

// A replay costs what the recording did, whatever the catalogue says by then.
func TestPriceIsTheRecordings(t *testing.T) {
	o := options(t, seam.Record, sse(`{}`))
	price := func(text string) func() ([]byte, error) {
		return func() ([]byte, error) { return []byte(text), nil }
	}
	s := open(t, o)
	if !s.Scripted() {
		t.Error("a seam over the scripted provider is not Scripted")
	}
	if got, err := s.Price("anthropic/a", price(`{"output":2, "input":1}`)); err != nil || string(got) != `{"output":2, "input":1}` {
		t.Errorf("record: Price = %s, %v, want what it is now", got, err)
	}
	if _, err := s.Price("anthropic/b", price(`{"input":`)); err == nil {
		t.Error("record: a price that is no JSON was kept")
	}
	broken := errors.New("no catalogue")
	if _, err := s.Price("anthropic/c", func() ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("record: Price = %v, want the caller's error", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r := replay(t, o)
	if r.Scripted() {
		t.Error("a replay is Scripted: nothing lies below it")
	}
	for name, want := range map[string]string{"anthropic/a": `{"input":1,"output":2}`, "anthropic/other": "null"} {
		if got, err := r.Price(name, price(`{"input":99}`)); err != nil || string(got) != want {
			t.Errorf("replay: Price(%q) = %s, %v, want %s", name, got, err, want)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

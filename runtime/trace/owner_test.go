package trace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// A trace has one owner, and who comes second touches nothing: what seems a torn
// line to it is one that the owner is about to finish.
func TestOneOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s-1.jsonl")
	opt := trace.Options{Session: "s-1", Clock: clock.NewFixed(clock.Epoch)}
	first, err := trace.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Record(t.Context(), 1, trace.TurnOpened{Input: "hello"}); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"v":1,"seq":2,`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	if _, err := trace.Open(path, opt); fault.CodeOf(err) != trace.CodeBusy || fault.HintOf(err) == "" {
		t.Errorf("a second owner: %v", err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Errorf("the second wrote %q over %q", after, before)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := trace.Open(path, opt)
	if err != nil {
		t.Fatalf("after the first has gone: %v", err)
	}
	defer second.Close()
	if second.Seq() != 1 {
		t.Errorf("it goes on at %d, want 1", second.Seq())
	}
}

package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/snapshot"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

func openLog(t testing.TB, path string, mask func([]byte) []byte) *trace.Log {
	t.Helper()
	l, err := trace.Open(path, trace.Options{Session: "s-1", Clock: clock.NewFixed(clock.Epoch), Mask: mask})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func record(t testing.TB, l *trace.Log, turn int, p trace.Payload) trace.Event {
	t.Helper()
	e, err := l.Record(t.Context(), turn, p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func readAll(t testing.TB, path string) []trace.Event {
	t.Helper()
	var all []trace.Event
	for e, err := range trace.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func wantCode(t *testing.T, what string, err error, want fault.Code) {
	t.Helper()
	if got := fault.CodeOf(err); got != want {
		t.Errorf("%s: error %v has code %q, want %q", what, err, got, want)
	}
}

// every is one payload of each type, with each field set.
func every() []trace.Payload {
	row := ledger.Row{ID: "r", Session: "s-1", At: clock.Epoch, State: ledger.Reserved, Usage: model.Usage{State: model.Exact, Input: 1}}
	review := &draft.Review{Draft: "d-1", Target: "character/ada", Rows: []draft.Change{{Path: "/n", Label: "N", Before: "a", After: "<b> & c"}}}
	return []trace.Payload{
		trace.SessionOpened{Skin: "loop", Mode: "replay", Gate: "guarded", Model: "m", Cassette: "c", Parent: "p", Origin: "user", ReadOnly: true},
		trace.TurnOpened{Input: "ü \u2028 😀", Facts: []string{"f"}, Attach: []model.Part{{Kind: model.Image, Data: []byte{0, 255}, MediaType: "image/png"}}, Reasoning: "low", MaxCalls: 1, MaxRounds: 2, Servers: []trace.Server{{Name: "files", Tools: 3, Dropped: 1, Code: "MCP_SERVER_START"}}},
		trace.Steered{Text: "t", After: true},
		trace.ModelRequested{Round: 1, Ref: "r", Tools: []string{"a.b"}, Messages: 2, MaxOutput: 3, Reservation: "r", Row: &row},
		trace.CostSettled{Row: row},
		trace.ModelRetried{Round: 1, Attempt: 2, Code: "C", Message: "m", WaitMS: 3},
		trace.ModelReplied{Round: 1, Code: "C", Error: "e", Reply: model.Reply{
			Parts:  []model.Part{{Kind: model.CallPart, Call: &model.ToolCall{ID: "1", Name: "n", Input: `{"a":1e2}`, Opaque: []byte("x")}}},
			Reason: model.ToolCalls, Usage: model.Usage{State: model.Partial, Output: 12345678901234567}, Warnings: []string{"w"},
		}},
		trace.ToolCalled{Round: 1, Index: 2, Call: "c", Tool: "t", Input: "{"},
		trace.GateAsked{Question: "q", Call: "c", Tool: "t", Class: "write", Title: "T", Review: review},
		trace.GateAnswered{Question: "q", Choice: "no", By: "person", Note: "n"},
		trace.ToolFinished{Call: "c", Tool: "t", OK: true, Code: "C", Text: "x", Images: []model.Blob{{Data: []byte{1}, MediaType: "m"}}, Handle: "h", Review: review, Reviews: []draft.Review{*review}, Show: &tool.Show{Kind: "choice", Title: "T", Options: []tool.Option{{Label: "L", Fill: "F"}}}, Reveal: []string{"r"}, NotRun: true},
		trace.DraftSettled{Receipt: draft.Receipt{Draft: "d", Outcome: draft.Applied, Revision: 3, Detail: "d"}},
		trace.SeamMissed{Message: "m"},
		trace.TurnClosed{Label: "l", Stop: "S", Guidance: "g", Text: "t", Notes: "n", Rounds: 1, Calls: 2, Cost: 1 << 60},
	}
}

func TestEveryPayloadComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s-1.jsonl")
	l := openLog(t, path, nil)
	for i, p := range every() {
		if e := record(t, l, i, p); e.Seq != int64(i)+1 || e.Turn != i {
			t.Errorf("event %d has seq %d and turn %d", i+1, e.Seq, e.Turn)
		}
	}
	got := readAll(t, path)
	types := map[string]bool{}
	for i, want := range every() {
		p, err := trace.Decode(got[i])
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, want) {
			t.Errorf("event %d is %#v, want %#v", i+1, p, want)
		}
		types[want.EventType()] = true
	}
	if len(types) != len(every()) {
		t.Errorf("%d types for %d payloads", len(types), len(every()))
	}
}

// TestTheEvents is the contract with everything that reads a trace: each type of
// event with every field of its own, as it stands on its line.
func TestTheEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s-1.jsonl")
	l := openLog(t, path, nil)
	for i, p := range every() {
		for f, v := range reflect.ValueOf(p).Fields() {
			if v.IsZero() {
				t.Errorf("%s.%s is not set, so the contract does not have it", p.EventType(), f.Name)
			}
		}
		record(t, l, i, p)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(lines) != len(every()) {
		t.Fatalf("%d lines for %d events", len(lines), len(every()))
	}
	snapshot.JSON(t, "events", []byte("["+strings.Join(lines, ",")+"]"))
}

func TestTheLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s-1.jsonl")
	l := openLog(t, path, nil)
	record(t, l, 0, trace.SessionOpened{Skin: "loop", Mode: "replay", Gate: "guarded", Origin: "user"})
	record(t, l, 1, trace.TurnOpened{Input: "a <b> \xff"})
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"v":1,"seq":1,"at":"2026-01-02T03:04:05.000Z","session":"s-1","type":"session.opened","data":{"gate":"guarded","mode":"replay","origin":"user","skin":"loop"}}
{"v":1,"seq":2,"at":"2026-01-02T03:04:05.000Z","session":"s-1","turn":1,"type":"turn.opened","data":{"input":"a <b> ` + "\uFFFD" + `"}}
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSeqContinuesAndTornLineIsCut(t *testing.T) {
	whole := `{"v":1,"seq":1,"at":"2026-01-02T03:04:05.000Z","session":"s-1","type":"seam.missed","data":{"message":"m"}}` + "\n"
	second := strings.Replace(whole, `"seq":1`, `"seq":2`, 1)
	for name, torn := range map[string]string{"whole": "", "half": second[:len(second)/2], "all but the line end": second[:len(second)-1], "zeros": "\x00\x00"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s-1.jsonl")
			if err := os.WriteFile(path, []byte(whole+torn), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := readAll(t, path); len(got) != 1 {
				t.Errorf("read %d events, want 1", len(got))
			}
			l := openLog(t, path, nil)
			if l.Seq() != 1 {
				t.Errorf("Seq = %d, want 1", l.Seq())
			}
			record(t, l, 0, trace.SeamMissed{Message: "m"})
			if got, err := os.ReadFile(path); err != nil || string(got) != whole+second {
				t.Errorf("file is\n%s, %v, want\n%s", got, err, whole+second)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	line := func(v, seq int, rest string) string {
		return fmt.Sprintf(`{"v":%d,"seq":%d,"at":"2026-01-02T03:04:05.000Z","session":"s-1",%s}`+"\n", v, seq, rest)
	}
	ok := `"type":"x.y","data":{}`
	tests := []struct {
		name, file string
		events     int
		want       fault.Code
	}{
		{"newer", line(1, 1, ok) + line(2, 2, ok), 1, trace.CodeNewer},
		{"newer of another shape", `{"v":2,"seq":"one"}` + "\n", 0, trace.CodeNewer},
		{"gap", line(1, 1, ok) + line(1, 3, ok), 1, trace.CodeDamaged},
		{"twice", line(1, 1, ok) + line(1, 1, ok), 1, trace.CodeDamaged},
		{"not from 1", line(1, 2, ok), 0, trace.CodeDamaged},
		{"damage in the middle", line(1, 1, ok) + "{\n" + line(1, 2, ok), 1, trace.CodeDamaged},
		{"no schema", line(0, 1, ok), 0, trace.CodeDamaged},
		{"no type", line(1, 1, `"data":{}`), 0, trace.CodeDamaged},
		{"no data", line(1, 1, `"type":"x"`), 0, trace.CodeDamaged},
		{"name twice in data", line(1, 1, `"type":"x","data":{"a":1,"a":2}`), 0, trace.CodeDamaged},
		{"empty line", "\n", 0, trace.CodeDamaged},
		{"torn newer line is torn", line(1, 1, ok) + `{"v":2`, 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			var err error
			for _, e := range trace.ReadFrom(strings.NewReader(tt.file)) {
				if err = e; err == nil {
					n++
				}
			}
			wantCode(t, "Read", err, tt.want)
			if n != tt.events {
				t.Errorf("%d events before it, want %d", n, tt.events)
			}
			path := filepath.Join(t.TempDir(), "s-1.jsonl")
			if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := trace.Open(path, trace.Options{Session: "s-1", Clock: clock.Real{}})
			wantCode(t, "Open", err, tt.want)
			if err == nil {
				_ = l.Close()
			} else if got, _ := os.ReadFile(path); string(got) != tt.file {
				t.Error("a refused file was changed")
			}
		})
	}
	for _, err := range trace.Read(filepath.Join(t.TempDir(), "none.jsonl")) {
		wantCode(t, "Read of no file", err, trace.CodeMissing)
	}
	_, err := trace.Decode(trace.Event{Type: "later.invention", Data: []byte("{}")})
	wantCode(t, "Decode of an unknown type", err, trace.CodeUnknown)
}

func TestLineBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s-1.jsonl")
	l := openLog(t, path, nil)
	record(t, l, 0, trace.SeamMissed{})
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	room := trace.MaxLine - int(info.Size())
	if _, err := l.Record(t.Context(), 0, trace.SeamMissed{Message: strings.Repeat("x", room+1)}); fault.CodeOf(err) != trace.CodeTooLong {
		t.Errorf("one byte over: %v, want %s", err, trace.CodeTooLong)
	}
	if e := record(t, l, 0, trace.SeamMissed{Message: strings.Repeat("x", room)}); e.Seq != 2 {
		t.Errorf("seq %d after a refused event, want 2", e.Seq)
	}
	if got := readAll(t, path); len(got) != 2 {
		t.Errorf("%d events, want 2", len(got))
	}
}

func TestMaskBeforeDisk(t *testing.T) {
	const secret = `sk-"odd"` + "\n\\key"
	replaceAll := func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(secret), []byte("[secret]"))
	}
	tests := []struct {
		name string
		mask func([]byte) []byte
		in   string
		want string
	}{
		{"a text that JSON escapes", replaceAll, "before " + secret + " after", "before [secret] after"},
		{"a mask that breaks JSON is kept to texts", func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`"`), nil) }, `say "hi"`, "say hi"},
		{"a mask that eats everything", func([]byte) []byte { return nil }, "x", ""},
		{"a mask that sees field names", func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte(`"input":"p4ss"`), []byte(`"input":"[secret]"`))
		}, "p4ss", "[secret]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s-1.jsonl")
			l := openLog(t, path, tt.mask)
			e := record(t, l, 1, trace.TurnOpened{Input: tt.in})
			if _, err := canon.JSON(e.Data); err != nil {
				t.Fatalf("data %s is not JSON: %v", e.Data, err)
			}
			got := readAll(t, path)
			if len(got) != 1 || !bytes.Equal(got[0].Data, e.Data) {
				t.Fatalf("read %v, want what Record returned: %s", got, e.Data)
			}
			if tt.want == "" {
				return // nothing is left of it, not even the names of fields
			}
			p, err := trace.Decode(got[0])
			if err != nil || p.(trace.TurnOpened).Input != tt.want {
				t.Errorf("input %q, %v, want %q", p.(trace.TurnOpened).Input, err, tt.want)
			}
			disk, _ := os.ReadFile(path)
			escaped, _ := json.Marshal(secret)
			if bytes.Contains(disk, escaped[1:len(escaped)-1]) {
				t.Errorf("the secret is on the disk: %s", disk)
			}
		})
	}
}

func TestConcurrentRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s-1.jsonl")
	l := openLog(t, path, nil)
	const many, each = 64, 20
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			for j := range each {
				if _, err := l.Record(t.Context(), i, trace.Steered{Text: fmt.Sprint(i, "/", j)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := readAll(t, path); len(got) != many*each {
		t.Errorf("%d events, want %d", len(got), many*each)
	}
}

func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s-1.jsonl")
	l := openLog(t, path, nil)
	const before, during = 50, 200
	for range before {
		record(t, l, 0, trace.Steered{})
	}
	const skins = 4
	got := make([][]int64, skins)
	var wg sync.WaitGroup
	for i := range skins {
		wg.Go(func() {
			for e, err := range l.Follow(t.Context(), int64(i*20)) {
				if err != nil {
					t.Errorf("follow: %v", err)
					return
				}
				got[i] = append(got[i], e.Seq)
			}
		})
	}
	for range during {
		record(t, l, 0, trace.Steered{})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for i := range skins {
		var want []int64
		for n := int64(i*20) + 1; n <= before+during; n++ {
			want = append(want, n)
		}
		if !slices.Equal(got[i], want) {
			t.Errorf("follower after %d got %v, want %d to %d once each", i*20, got[i], i*20+1, before+during)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	other := openLog(t, filepath.Join(t.TempDir(), "s-2.jsonl"), nil)
	cancel()
	var err error
	for _, err = range other.Follow(ctx, 0) {
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Follow ended with %v, want %v", err, context.Canceled)
	}
}

func TestClosed(t *testing.T) {
	l := openLog(t, filepath.Join(t.TempDir(), "s-1.jsonl"), nil)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := l.Record(t.Context(), 0, trace.Steered{})
	wantCode(t, "Record", err, trace.CodeClosed)
	wantCode(t, "Sync", l.Sync(), trace.CodeClosed)
	_, err = trace.Open(filepath.Join(t.TempDir(), "no", "folder.jsonl"), trace.Options{Session: "s", Clock: clock.Real{}})
	wantCode(t, "Open without a folder", err, trace.CodeMissing)
}

// FuzzRead checks that no file makes reading panic, that what is read is in order
// and canonical, and that a file that reads whole opens for appending.
func FuzzRead(f *testing.F) {
	var file bytes.Buffer
	for i, p := range every() {
		data, err := canon.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		fmt.Fprintf(&file, `{"v":1,"seq":%d,"at":"2026-01-02T03:04:05.000Z","session":"s-1","type":%q,"data":%s}`+"\n", i+1, p.EventType(), data)
	}
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:file.Len()/2])
	f.Add([]byte("{\"v\":1}\n"))
	f.Add([]byte("\n\n"))
	f.Add([]byte(`{"v":1,"seq":1,"at":"2026-01-02T03:04:05Z","session":"s","type":"turn.opened","data":[]}` + "\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		seq := int64(0)
		var bad error
		for e, err := range trace.ReadFrom(bytes.NewReader(file)) {
			if bad != nil {
				t.Fatal("the sequence went on after an error")
			}
			if bad = err; err != nil {
				continue
			}
			if seq++; e.Seq != seq {
				t.Fatalf("event %d has seq %d", seq, e.Seq)
			}
			if c, err := canon.JSON(e.Data); err != nil || !bytes.Equal(c, e.Data) {
				t.Fatalf("data %q is not canonical: %v", e.Data, err)
			}
			_, _ = trace.Decode(e)
		}
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := trace.Open(path, trace.Options{Session: "s-1", Clock: clock.Real{}})
		if (err == nil) != (bad == nil) {
			t.Fatalf("Open says %v where Read says %v", err, bad)
		}
		if err != nil {
			return
		}
		defer l.Close()
		if _, err := l.Record(t.Context(), 0, trace.Steered{}); err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for _, err := range trace.Read(path) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != seq+1 {
			t.Fatalf("%d events after appending, want %d", n, seq+1)
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	l := openLog(b, filepath.Join(b.TempDir(), "s-1.jsonl"), nil)
	p := trace.ToolFinished{Call: "c", Tool: "studio.read", OK: true, Text: strings.Repeat("lorem ipsum ", 300)}
	for b.Loop() {
		record(b, l, 1, p)
	}
}

package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// A step is one event of a script.
type step struct {
	turn int
	p    trace.Payload
}

func open(t *testing.T, dir, id string) *session.Session {
	t.Helper()
	s, err := session.Open(t.Context(), dir, id, trace.Options{Clock: clock.NewFixed(clock.Epoch)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// write records the steps in a new session and returns its events.
func write(t *testing.T, dir, id string, steps ...step) []trace.Event {
	t.Helper()
	s := open(t, dir, id)
	var events []trace.Event
	for _, st := range steps {
		e, err := s.Record(t.Context(), st.turn, st.p)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return events
}

func say(text string) model.Part { return model.Part{Kind: model.Text, Text: text} }

func call(id, name string) model.Part {
	return model.Part{Kind: model.CallPart, Call: &model.ToolCall{ID: id, Name: name, Input: "{}"}}
}

func replied(parts ...model.Part) trace.ModelReplied {
	return trace.ModelReplied{Reply: model.Reply{Parts: parts, Reason: model.Stop}}
}

func finished(id string, ok bool, text string) trace.ToolFinished {
	return trace.ToolFinished{Call: id, Tool: "x.y", OK: ok, Text: text}
}

// show writes a history in short: one line a message.
func show(messages []model.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s:", m.Role)
		for _, p := range m.Parts {
			switch p.Kind {
			case model.CallPart:
				fmt.Fprintf(&b, " call(%s %s)", p.Call.ID, p.Call.Name)
			case model.ResultPart:
				fmt.Fprintf(&b, " result(%s %s %q error=%v images=%d)", p.Result.ID, p.Result.Name, p.Result.Text, p.Result.Error, len(p.Result.Images))
			default:
				fmt.Fprintf(&b, " %s(%q)", p.Kind, p.Text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestHistory(t *testing.T) {
	notRun := func(id, code string) trace.ToolFinished {
		return trace.ToolFinished{Call: id, Tool: "x.y", Code: code, Text: "not run: " + code, NotRun: true}
	}
	receipt := draft.Receipt{Draft: "d-1", Outcome: draft.Applied, Target: store.Ref{Kind: "character", ID: "ada"}, Revision: 2}
	tests := []struct {
		name  string
		steps []step
		want  string
	}{
		{"a plain turn", []step{
			{0, trace.SessionOpened{Skin: "loop"}},
			{1, trace.TurnOpened{Input: "hi", Facts: []string{"rail: x", "piece: y"}}},
			{1, replied(say("hello"))},
			{1, trace.TurnClosed{Label: "answered", Text: "hello"}},
		}, `user: text("Facts:\n- rail: x\n- piece: y") text("hi")
assistant: text("hello")
`},
		{"calls in the provider's order, text beside them", []step{
			{1, trace.TurnOpened{Input: "hi"}},
			{1, replied(say("let me see"), call("a", "x_y"), call("b", "x_y"))},
			{1, trace.ToolCalled{Call: "a"}},
			{1, trace.ToolCalled{Call: "b"}},
			{1, finished("b", false, "no")},
			{1, trace.ToolFinished{Call: "a", OK: true, Text: "yes", Images: []model.Blob{{}}}},
			{1, replied(say("done"))},
		}, `user: text("hi")
assistant: text("let me see") call(a x_y) call(b x_y)
tool: result(a x_y "yes" error=false images=1) result(b x_y "no" error=true images=0)
assistant: text("done")
`},
		{"cancelled calls have results", []step{
			{1, trace.TurnOpened{Input: "hi"}},
			{1, replied(call("a", "x_y"), call("b", "x_y"))},
			{1, finished("a", true, "yes")},
			{1, notRun("b", "STOP_CANCELLED")},
			{1, trace.TurnClosed{Label: "cancelled"}},
		}, `user: text("hi")
assistant: call(a x_y) call(b x_y)
tool: result(a x_y "yes" error=false images=0) result(b x_y "not run: STOP_CANCELLED" error=true images=0)
`},
		{"a batch over the budget leaves nothing", []step{
			{1, trace.TurnOpened{Input: "hi"}},
			{1, replied(call("a", "x_y"), call("b", "x_y"))},
			{1, notRun("a", "STOP_TOOL_CALLS")},
			{1, notRun("b", "STOP_TOOL_CALLS")},
			{1, trace.TurnClosed{Label: "stopped"}},
			{2, trace.TurnOpened{Input: "smaller"}},
		}, `user: text("hi") text("smaller")
`},
		{"a broken reply leaves nothing", []step{
			{1, trace.TurnOpened{Input: "hi"}},
			{1, trace.ModelReplied{Reply: model.Reply{Parts: []model.Part{say("hal")}}, Code: "MODEL_STREAM_CUT"}},
			{2, trace.TurnOpened{Input: "again"}},
		}, `user: text("hi") text("again")
`},
		{"a call that a crash cut off", []step{
			{1, trace.TurnOpened{Input: "hi"}},
			{1, replied(call("a", "x_y"))},
			{1, trace.ToolCalled{Call: "a"}},
		}, `user: text("hi")
assistant: call(a x_y)
tool: result(a x_y "the program ended before this call did: whether it had an effect is not known" error=true images=0)
`},
		{"steering, and a follow-up that waits", []step{
			{1, trace.TurnOpened{Input: "hi"}},
			{1, replied(call("a", "x_y"))},
			{1, finished("a", true, "yes")},
			{1, trace.Steered{Text: "louder"}},
			{1, trace.Steered{Text: "and then", After: true}},
			{1, replied()},
		}, `user: text("hi")
assistant: call(a x_y)
tool: result(a x_y "yes" error=false images=0)
user: text("louder")
assistant: text("(no answer)")
`},
		{"receipts are told in the next message", []step{
			{1, trace.TurnOpened{Input: "hi"}},
			{1, replied(say("saved?"))},
			{1, trace.DraftSettled{Receipt: receipt}},
			{1, trace.TurnClosed{Label: "verified"}},
			{2, trace.TurnOpened{Input: "more"}},
			{2, trace.TurnClosed{Label: "answered"}},
			{3, trace.TurnOpened{Input: "x"}},
			{3, trace.DraftSettled{Receipt: receipt}},
			{3, trace.TurnClosed{Label: "verified", Notes: "as noted"}},
		}, `user: text("hi")
assistant: text("saved?")
user: text("Draft d-1: applied, character/ada is at revision 2 and was read again.") text("more") text("x") text("as noted")
`},
		{"calls of a client", []step{
			{0, trace.ToolCalled{Call: "c1"}}, {0, finished("c1", true, "x")},
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := session.History(write(t, t.TempDir(), "s-1", tt.steps...))
			if err != nil || show(got) != tt.want {
				t.Errorf("history, %v:\n%s\nwant:\n%s", err, show(got), tt.want)
			}
		})
	}
}

func TestRemembered(t *testing.T) {
	var steps []step
	for i, a := range []trace.GateAnswered{
		{Question: "q1", Choice: "session", By: "person"},
		{Question: "q2", Choice: "once", By: "person"},
		{Question: "q3", Choice: "session", By: "policy"},
		{Question: "q4", Choice: "session", By: "person"},
	} {
		steps = append(steps, step{1, trace.GateAsked{Question: a.Question, Tool: fmt.Sprintf("tool.%d", i+1)}}, step{1, a})
	}
	if got, err := session.Remembered(write(t, t.TempDir(), "s-1", steps...)); err != nil || !slices.Equal(got, []string{"tool.1", "tool.4"}) {
		t.Errorf("remembered %v, %v", got, err)
	}
}

func TestHandles(t *testing.T) {
	events := write(t, t.TempDir(), "s-1",
		step{1, trace.ToolFinished{Call: "a", Tool: "studio.read", OK: true, Handle: "result-1"}},
		step{1, trace.ToolFinished{Call: "b", Tool: "studio.read", OK: true}},
		step{2, trace.ToolFinished{Call: "c", Tool: "studio.read", OK: true, Handle: "result-2"}})
	if got, err := session.Handles(events); err != nil || !slices.Equal(got, []string{"result-1", "result-2"}) {
		t.Errorf("handles %v, %v", got, err)
	}
}

func TestReopenGoesOn(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "s-1",
		step{0, trace.SessionOpened{Skin: "loop"}},
		step{1, trace.TurnOpened{Input: "hi"}},
		step{1, trace.TurnClosed{Label: "answered"}})
	s := open(t, dir, "s-1")
	if s.New || s.Turns != 1 || len(s.Events) != 3 || s.Seq() != 3 {
		t.Errorf("reopened: new %v, %d turns, %d events, seq %d", s.New, s.Turns, len(s.Events), s.Seq())
	}
	e, err := s.Steer(t.Context(), 2, "louder")
	if err != nil || e.Seq != 4 || e.Session != "s-1" {
		t.Errorf("Steer = %+v, %v, want event 4", e, err)
	}
	if e, err = s.FollowUp(t.Context(), 2, "later"); err != nil {
		t.Fatal(err)
	}
	if p, err := trace.Decode(e); err != nil || !reflect.DeepEqual(p, trace.Steered{Text: "later", After: true}) {
		t.Errorf("FollowUp recorded %+v, %v", p, err)
	}
	if fresh := open(t, dir, "s-2"); !fresh.New || fresh.Turns != 0 {
		t.Errorf("a new session: %+v", fresh)
	}
}

func TestReopenClosesWhatACrashLeft(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "s-1",
		step{1, trace.TurnOpened{Input: "hi"}},
		step{1, replied(call("a", "x_y"), call("b", "x_y"))},
		step{1, trace.ToolCalled{Call: "a", Tool: "x.y"}}, step{1, trace.ToolCalled{Call: "b", Tool: "x.y"}},
		step{1, finished("a", true, "yes")})
	s := open(t, dir, "s-1")
	if s.Turns != 1 || len(s.Events) != 7 {
		t.Fatalf("%d turns, %d events, want the turn closed", s.Turns, len(s.Events))
	}
	end, err := trace.Decode(s.Events[6])
	if c, ok := end.(trace.TurnClosed); err != nil || !ok || c.Stop != string(session.CodeLost) || c.Guidance == "" {
		t.Errorf("the last event is %+v, %v, want the turn's end", end, err)
	}
	lost, err := trace.Decode(s.Events[5])
	if f, ok := lost.(trace.ToolFinished); err != nil || !ok || f.Call != "b" || f.OK {
		t.Errorf("event 6 is %+v, %v, want the result of b", lost, err)
	}
	_ = s.Close()
	if again := open(t, dir, "s-1"); len(again.Events) != 7 {
		t.Errorf("%d events after opening again, want 7", len(again.Events))
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	if list, err := session.List(t.Context(), filepath.Join(dir, "none")); err != nil || len(list) != 0 {
		t.Errorf("List of no folder = %v, %v", list, err)
	}
	_, err := session.Last(t.Context(), dir)
	if fault.CodeOf(err) != session.CodeNone {
		t.Errorf("Last of nothing = %v, want %s", err, session.CodeNone)
	}
	write(t, dir, "s-1", step{0, trace.SessionOpened{Skin: "loop", Mode: "replay", Model: "m"}},
		step{1, trace.TurnOpened{Input: "rename\n Ada"}}, step{1, trace.TurnClosed{Label: "verified"}})
	write(t, dir, "s-2", step{0, trace.SessionOpened{Skin: "mcp"}}, step{1, trace.TurnOpened{Input: strings.Repeat("é", 100)}})
	for name, text := range map[string]string{"s-3.jsonl": "{}\n", "notes.txt": "x", "-x.jsonl": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := session.List(t.Context(), dir)
	if err != nil || len(list) != 3 {
		t.Fatalf("List = %+v, %v, want 3", list, err)
	}
	want := session.Info{ID: "s-1", Skin: "loop", Mode: "replay", Model: "m", Opened: clock.Epoch, Last: clock.Epoch, Turns: 1, Events: 3, Title: "rename Ada", Label: "verified"}
	if list[1] != want || list[0].ID != "s-2" || list[0].Label != "" || len([]rune(list[0].Title)) != 81 {
		t.Errorf("List = %+v\nwant second %+v", list, want)
	}
	if list[2].ID != "s-3" || list[2].Damage == "" {
		t.Errorf("the damaged session is %+v", list[2])
	}
	for _, bad := range []string{"", "../x", "a/b", ".x", "-x", "a\x00", strings.Repeat("a", 101)} {
		if _, err := session.Path(dir, bad); fault.CodeOf(err) != session.CodeBadID {
			t.Errorf("Path(%q) = %v, want %s", bad, err, session.CodeBadID)
		}
	}
}

func TestTranscript(t *testing.T) {
	events := write(t, t.TempDir(), "s-1",
		step{0, trace.SessionOpened{Skin: "loop", Mode: "replay", Gate: "guarded"}},
		step{1, trace.TurnOpened{Input: "rename Ada"}},
		step{1, replied(say("hidden beside a call"), call("a", "x_y"))},
		step{1, trace.ToolCalled{Call: "a", Tool: "x.y", Input: `{"a":1}`}},
		step{1, finished("a", true, "fine\nline")},
		step{1, trace.GateAsked{Question: "q", Title: "Apply?"}},
		step{1, trace.GateAnswered{Question: "q", Choice: "absent", By: "nobody"}},
		step{1, trace.TurnClosed{Label: "stopped", Stop: "STOP_NOBODY", Guidance: "come back", Text: "waiting"}})
	lines, err := session.Transcript(events)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprintf("%d %s: %s", l.Seq, l.Who, l.Text))
	}
	want := []string{
		"1 session: loop, replay, guarded gate, no model", "2 person: rename Ada", `4 tool: x.y {"a":1}`, "5 tool: x.y gave fine line",
		"6 gate: Apply?", "7 gate: absent, by nobody", "8 model: waiting\n(stopped, STOP_NOBODY: come back)",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("transcript\n%q\nwant\n%q", got, want)
	}
}

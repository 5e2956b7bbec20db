package gate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// shelf keeps results as runtime/result does.
type shelf struct{ kept []string }

func (s *shelf) Put(_ context.Context, _, text string) (string, error) {
	if len(text) > result.MaxBytes {
		return "", fault.New(fault.TooLarge, "result.put", "%d bytes", len(text))
	}
	s.kept = append(s.kept, text)
	return fmt.Sprintf("result-%d", len(s.kept)), nil
}

// cards answers with the card of a draft that a test changes.
type cards struct {
	rows    []draft.Change
	deleted string // the title of studio.delete's card, which has no review
	err     error
}

func (c *cards) Card(_ context.Context, r gate.Request) (gate.Card, error) {
	if r.Tool != "change.apply" {
		return gate.Card{Title: c.deleted}, nil
	}
	return gate.Card{Title: "Apply draft d-1 to character/ada?", Review: &draft.Review{Draft: "d-1", Rows: c.rows}}, c.err
}

type text struct {
	Text string `json:"text,omitempty" jsonschema:"what to say"`
}

// stage is a gate over a few tools that count their runs.
type stage struct {
	gate  *gate.Gate
	shelf *shelf
	cards *cards
	runs  map[string]int
	say   tool.Reply[struct{}] // what a.say answers
	err   error
	panic bool
}

func newStage(t *testing.T, mode trust.Mode) *stage {
	t.Helper()
	s := &stage{shelf: &shelf{}, cards: &cards{}, runs: map[string]int{}}
	spec := func(id string, effect tool.Effect, exposure tool.Exposure) tool.Spec {
		return tool.Spec{ID: id, Summary: "Does it.", Effect: effect, Exposure: exposure}
	}
	mk := func(sp tool.Spec) tool.Tool {
		return tool.New(sp, func(_ context.Context, _ tool.Call, in text) (tool.Reply[struct{}], error) {
			s.runs[sp.ID]++
			if s.panic {
				panic("boom")
			}
			return s.say, s.err
		})
	}
	type call struct {
		ID    string      `json:"id" jsonschema:"the tool"`
		Input tool.Object `json:"input,omitempty" jsonschema:"its input"`
	}
	carry := tool.New(spec("capability.call", tool.Unknown, tool.Direct), func(context.Context, tool.Call, call) (tool.Reply[struct{}], error) {
		s.runs["capability.call"]++
		return tool.Reply[struct{}]{}, nil
	})
	mcpOnly, gone, read := spec("a.mcp", tool.Read, tool.Direct), spec("a.gone", tool.Read, tool.Direct), spec("studio.read", tool.Read, tool.Direct)
	mcpOnly.Skins = []tool.Skin{tool.MCP}
	gone.Available = func() bool { return false }
	read.Inline = result.MaxInlineRead
	r := tool.NewRegistry(carry, mk(mcpOnly), mk(gone), mk(read), mk(spec("a.say", tool.Read, tool.Direct)), mk(spec("a.rowless", tool.Read, tool.Direct)),
		mk(spec("change.apply", tool.Apply, tool.Direct)), mk(spec("studio.delete", tool.Apply, tool.Direct)),
		mk(spec("b.draft", tool.Draft, tool.Deferred)), mk(spec("c.hidden", tool.Read, tool.Hidden)))
	rows := append([]trust.Row{}, trust.Rows()...)
	for _, id := range []string{"a.say", "a.mcp", "a.gone", "c.hidden"} {
		rows = append(rows, trust.Row{ID: id, Class: trust.Read})
	}
	rows = append(rows, trust.Row{ID: "b.draft", Class: trust.Draft})
	s.gate = gate.New(gate.Options{Registry: r, Table: trust.NewTable(rows...), Mode: mode, Clock: clock.NewFixed(clock.Epoch), Results: s.shelf, Reviewer: s.cards})
	if got := gate.Unclassified(r, trust.NewTable(rows...)); len(got) != 1 || got[0] != "a.rowless" {
		t.Fatalf("Unclassified = %q", got)
	}
	return s
}

func request(id, input string) gate.Request {
	return gate.Request{Call: tool.Call{ID: "t1r1c0", Session: "s-1", Skin: tool.Loop}, Tool: id, Input: []byte(input)}
}

func TestDecide(t *testing.T) {
	tests := []struct {
		name, tool, input string
		mode              trust.Mode
		want              gate.Outcome
		code              fault.Code
		id                string // the dotted id, when not refused
	}{
		{name: "a read runs", tool: "a.say", want: gate.Allowed, id: "a.say"},
		{name: "by its folded name", tool: "a_say", want: gate.Allowed, id: "a.say"},
		{name: "a write asks", tool: "change.apply", want: gate.Asked, id: "change.apply"},
		{name: "a write in autopilot", tool: "change.apply", mode: trust.Autopilot, want: gate.Allowed, id: "change.apply"},
		{name: "a delete in autopilot", tool: "studio.delete", mode: trust.Autopilot, want: gate.Asked, id: "studio.delete"},
		{name: "a delete in full control", tool: "studio.delete", mode: trust.Full, want: gate.Allowed, id: "studio.delete"},
		{name: "no row", tool: "a.rowless", mode: trust.Full, want: gate.Refused, code: gate.CodeNoRow},
		{name: "unknown", tool: "a.sya", want: gate.Refused, code: gate.CodeUnknownTool},
		{name: "another skin's", tool: "a.mcp", want: gate.Refused, code: gate.CodeUnknownTool},
		{name: "not available", tool: "a.gone", want: gate.Refused, code: gate.CodeUnknownTool},
		{name: "hidden", tool: "c.hidden", want: gate.Refused, code: gate.CodeUnknownTool},
		{name: "bad input", tool: "a.say", input: `{"txet":"x"}`, want: gate.Refused, code: fault.Invalid},
		{name: "carried read", tool: "capability.call", input: `{"id":"b.draft","input":{"text":"x"}}`, want: gate.Allowed, id: "b.draft"},
		{name: "carried by folded name", tool: "capability_call", input: `{"id":"b_draft"}`, want: gate.Allowed, id: "b.draft"},
		{name: "a carried write is classed as itself", tool: "capability.call", input: `{"id":"change.apply"}`, want: gate.Asked, id: "change.apply"},
		{name: "a carried call without a row", tool: "capability.call", input: `{"id":"a.rowless"}`, want: gate.Refused, code: gate.CodeNoRow},
		{name: "a carried hidden one", tool: "capability.call", input: `{"id":"c.hidden"}`, want: gate.Refused, code: gate.CodeUnknownTool},
		{name: "carrying itself", tool: "capability.call", input: `{"id":"capability.call"}`, want: gate.Refused, code: fault.Invalid},
		{name: "carrying itself with a call", tool: "capability.call", input: `{"id":"capability.call","input":{"id":"a.say"}}`, want: gate.Refused, code: fault.Invalid},
		{name: "carrying itself folded", tool: "capability.call", input: `{"id":"capability_call"}`, want: gate.Refused, code: fault.Invalid},
		{name: "carried bad input", tool: "capability.call", input: `{"id":"a.say","input":{"txet":1}}`, want: gate.Refused, code: fault.Invalid},
		{name: "carried without an id", tool: "capability.call", input: `{}`, want: gate.Refused, code: fault.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, tt.mode)
			d := s.gate.Decide(t.Context(), request(tt.tool, tt.input))
			if d.Outcome != tt.want || fault.CodeOf(d.Err) != tt.code {
				t.Fatalf("Decide = %s, %v, want %s, code %q", d.Outcome, d.Err, tt.want, tt.code)
			}
			if d.Err == nil && d.Request.Tool != tt.id {
				t.Errorf("decided on %q, want %q", d.Request.Tool, tt.id)
			}
			if d.Err != nil && fault.HintOf(d.Err) == "" {
				t.Errorf("no hint in %v", d.Err)
			}
			if (d.Question != nil) != (d.Outcome == gate.Asked) || len(s.runs) != 0 {
				t.Errorf("question %v, runs %v", d.Question, s.runs)
			}
		})
	}
}

func TestHiddenIsTheCommandLines(t *testing.T) {
	s := newStage(t, trust.Guarded)
	r := request("c.hidden", "")
	r.Skin = tool.CLI
	if d := s.gate.Decide(t.Context(), r); d.Outcome != gate.Allowed {
		t.Errorf("Decide = %s, %v", d.Outcome, d.Err)
	}
}

func TestUnknownNamesNearOnes(t *testing.T) {
	s := newStage(t, trust.Guarded)
	d := s.gate.Decide(t.Context(), request("studio_raed", ""))
	if got := fault.HintOf(d.Err); !strings.Contains(got, "studio.read") {
		t.Errorf("hint %q, want studio.read in it", got)
	}
}

func TestRunRunsOnce(t *testing.T) {
	s := newStage(t, trust.Guarded)
	s.say.Text = "hi"
	d := s.gate.Decide(t.Context(), request("a.say", ""))
	if res, err := s.gate.Run(t.Context(), d); err != nil || res.Text != "hi" {
		t.Fatalf("Run = %+v, %v", res, err)
	}
	if _, err := s.gate.Run(t.Context(), d); fault.CodeOf(err) != gate.CodeUsed {
		t.Errorf("second Run: %v, want %s", err, gate.CodeUsed)
	}
	if s.runs["a.say"] != 1 {
		t.Errorf("ran %d times", s.runs["a.say"])
	}
}

// What was decided on is not checked twice; what was put in its place is.
func TestRunChecksWhatWasChanged(t *testing.T) {
	for name, change := range map[string]func(*gate.Decision){
		"another input": func(d *gate.Decision) { d.Request.Input = []byte(`{"txet":"x"}`) },
		"in place":      func(d *gate.Decision) { copy(d.Request.Input, `{"txet`) },
	} {
		s := newStage(t, trust.Guarded)
		d := s.gate.Decide(t.Context(), request("a.say", `{"text":"x"}`))
		change(&d)
		if _, err := s.gate.Run(t.Context(), d); fault.CodeOf(err) != fault.Invalid || s.runs["a.say"] != 0 {
			t.Errorf("%s: %v, ran %d times", name, err, s.runs["a.say"])
		}
	}
}

func TestRunRefusesWhatItDidNotAllow(t *testing.T) {
	s, other := newStage(t, trust.Guarded), newStage(t, trust.Full)
	forged := gate.Decision{Outcome: gate.Allowed, Request: request("studio.delete", "{}")}
	foreign := other.gate.Decide(t.Context(), request("studio.delete", ""))
	asked := s.gate.Decide(t.Context(), request("studio.delete", ""))
	asked.Outcome = gate.Allowed
	for name, d := range map[string]gate.Decision{"forged": forged, "another gate's": foreign, "only asked": asked} {
		if _, err := s.gate.Run(t.Context(), d); fault.CodeOf(err) != fault.Denied {
			t.Errorf("%s: %v, want %s", name, err, fault.Denied)
		}
	}
	refused := s.gate.Decide(t.Context(), request("no.such", ""))
	if _, err := s.gate.Run(t.Context(), refused); fault.CodeOf(err) != gate.CodeUnknownTool {
		t.Errorf("refused: %v", err)
	}
	if len(s.runs)+len(other.runs) != 0 {
		t.Errorf("something ran: %v %v", s.runs, other.runs)
	}
}

func ask(t *testing.T, s *stage, id string) gate.Question {
	t.Helper()
	d := s.gate.Decide(t.Context(), request(id, ""))
	if d.Outcome != gate.Asked {
		t.Fatalf("Decide(%s) = %s, %v", id, d.Outcome, d.Err)
	}
	return *d.Question
}

func TestAnswers(t *testing.T) {
	tests := []struct {
		name   string
		answer gate.Answer
		code   fault.Code // "" runs
		says   string
		person bool // the text may speak of a person that chose
	}{
		{name: "yes", answer: gate.Answer{Choice: gate.Once, By: gate.Person}},
		{name: "yes for the session", answer: gate.Answer{Choice: gate.ThisSession, By: gate.Person}},
		{name: "yes by policy", answer: gate.Answer{Choice: gate.Once, By: gate.Policy}},
		{name: "no", answer: gate.Answer{Choice: gate.No, By: gate.Person, Note: "not now"}, code: gate.CodeDenied, says: `a person said no`, person: true},
		{name: "client", answer: gate.Answer{Choice: gate.No, By: gate.Client}, code: gate.CodeDenied, says: "by itself"},
		{name: "policy", answer: gate.Answer{Choice: gate.No, By: gate.Policy}, code: gate.CodeDenied, says: "a policy declined"},
		{name: "nobody says no", answer: gate.Answer{Choice: gate.No, By: gate.Nobody}, code: gate.CodeNobody, says: "nobody was there"},
		{name: "nobody says yes", answer: gate.Answer{Choice: gate.Once, By: gate.Nobody}, code: gate.CodeNobody, says: "nobody was there"},
		{name: "timeout", answer: gate.Answer{Choice: gate.TimedOut, By: gate.Nobody}, code: gate.CodeTimeout, says: "in time"},
		{name: "absent", answer: gate.Answer{Choice: gate.Absent, By: gate.Nobody}, code: gate.CodeNobody, says: "nobody was there"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, trust.Guarded)
			_, err := s.gate.Resume(t.Context(), ask(t, s, "change.apply"), tt.answer)
			if fault.CodeOf(err) != tt.code {
				t.Fatalf("Resume = %v, want code %q", err, tt.code)
			}
			if ran := s.runs["change.apply"] == 1; ran != (tt.code == "") {
				t.Errorf("ran: %v", s.runs)
			}
			if err == nil {
				return
			}
			if !strings.Contains(err.Error(), tt.says) || fault.HintOf(err) == "" {
				t.Errorf("%q, hint %q; want %q", err, fault.HintOf(err), tt.says)
			}
			if strings.Contains(err.Error(), "person said") != tt.person {
				t.Errorf("%q says that a person chose", err)
			}
		})
	}
}

func TestAQuestionIsAnsweredOnce(t *testing.T) {
	for _, choice := range []gate.Choice{gate.Once, gate.No} {
		s := newStage(t, trust.Guarded)
		q := ask(t, s, "change.apply")
		_, _ = s.gate.Resume(t.Context(), q, gate.Answer{Choice: choice, By: gate.Person})
		before := s.runs["change.apply"]
		if _, err := s.gate.Resume(t.Context(), q, gate.Answer{Choice: gate.Once, By: gate.Person}); fault.CodeOf(err) != gate.CodeUsed {
			t.Errorf("after %s: %v, want %s", choice, err, gate.CodeUsed)
		}
		if s.runs["change.apply"] != before {
			t.Errorf("after %s it ran again", choice)
		}
		if _, open := s.gate.Question(q.ID); open {
			t.Errorf("after %s the question is open", choice)
		}
	}
}

func TestAnAnswerMustFitItsQuestion(t *testing.T) {
	s := newStage(t, trust.Guarded)
	q := ask(t, s, "change.apply")
	yes := gate.Answer{Choice: gate.Once, By: gate.Person}
	for name, change := range map[string]func(*gate.Question){
		"id":      func(q *gate.Question) { q.ID = "q-9999" },
		"tool":    func(q *gate.Question) { q.Tool = "studio.delete" },
		"input":   func(q *gate.Question) { q.Input = `{"text":"x"}` },
		"session": func(q *gate.Question) { q.Session = "s-2" },
		"digest":  func(q *gate.Question) { q.Digest = gate.Digest("s-1", "studio.delete", []byte("{}")) },
	} {
		changed := q
		change(&changed)
		if _, err := s.gate.Resume(t.Context(), changed, yes); fault.CodeOf(err) != gate.CodeMismatch {
			t.Errorf("another %s: %v, want %s", name, err, gate.CodeMismatch)
		}
	}
	if _, err := s.gate.Resume(t.Context(), q, gate.Answer{Choice: "maybe"}); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("maybe: %v", err)
	}
	if _, err := s.gate.Resume(t.Context(), q, yes); err != nil {
		t.Errorf("the right answer after wrong ones: %v", err)
	}
	if s.runs["change.apply"] != 1 {
		t.Errorf("ran %v", s.runs)
	}
}

func TestACardThatChangedIsNotApplied(t *testing.T) {
	s := newStage(t, trust.Guarded)
	s.cards.rows = []draft.Change{{Path: "/name", Before: "Ada", After: "Eda"}}
	q := ask(t, s, "change.apply")
	if q.Review == nil || q.Title != "Apply draft d-1 to character/ada?" {
		t.Fatalf("question %+v", q)
	}
	s.cards.rows = []draft.Change{{Path: "/name", Before: "Ada", After: "Bob"}}
	yes := gate.Answer{Choice: gate.Once, By: gate.Person}
	if _, err := s.gate.Resume(t.Context(), q, yes); fault.CodeOf(err) != gate.CodeMismatch || s.runs["change.apply"] != 0 {
		t.Errorf("Resume = %v, runs %v", err, s.runs)
	}
	if _, err := s.gate.Resume(t.Context(), ask(t, s, "change.apply"), yes); err != nil {
		t.Errorf("the new question: %v", err)
	}
}

// A card without a review is its title: "revision 2" is not what revision 3 was said yes to.
func TestATitleThatChangedIsNotRun(t *testing.T) {
	s := newStage(t, trust.Guarded)
	s.cards.deleted = "Delete ada, revision 2?"
	q := ask(t, s, "studio.delete")
	s.cards.deleted = "Delete ada, revision 3?"
	if _, err := s.gate.Resume(t.Context(), q, gate.Answer{Choice: gate.Once, By: gate.Person}); fault.CodeOf(err) != gate.CodeMismatch || s.runs["studio.delete"] != 0 {
		t.Errorf("Resume = %v, runs %v", err, s.runs)
	}
}

func TestACallThatCannotWorkIsNotAsked(t *testing.T) {
	s := newStage(t, trust.Guarded)
	s.cards.err = fault.New(fault.NotFound, "draft.review", "no draft %q", "d-1")
	if d := s.gate.Decide(t.Context(), request("change.apply", "")); d.Outcome != gate.Refused || fault.CodeOf(d.Err) != fault.NotFound {
		t.Errorf("Decide = %s, %v", d.Outcome, d.Err)
	}
}

func TestSessionAnswersAreRemembered(t *testing.T) {
	s := newStage(t, trust.Guarded)
	session := gate.Answer{Choice: gate.ThisSession, By: gate.Person}
	for _, id := range []string{"change.apply", "studio.delete"} {
		if _, err := s.gate.Resume(t.Context(), ask(t, s, id), session); err != nil {
			t.Fatal(err)
		}
	}
	d := s.gate.Decide(t.Context(), request("change.apply", ""))
	if d.Outcome != gate.Allowed || d.By != gate.Policy {
		t.Errorf("the same tool: %s by %s", d.Outcome, d.By)
	}
	if q := ask(t, s, "studio.delete"); q.MayRemember {
		t.Error("a delete may be remembered")
	}
	other := request("change.apply", "")
	other.Session = "s-2"
	if d := s.gate.Decide(t.Context(), other); d.Outcome != gate.Asked {
		t.Errorf("another session: %s", d.Outcome)
	}
	s.gate.Forget("s-1")
	ask(t, s, "change.apply")
	for _, id := range []string{"change.apply", "studio.delete"} { // as a run of the program before said
		s.gate.Remember("s-1", id)
	}
	if d := s.gate.Decide(t.Context(), request("change.apply", "")); d.Outcome != gate.Allowed {
		t.Errorf("what another run remembers: %s", d.Outcome)
	}
	ask(t, s, "studio.delete")
}

func TestHandlersErrors(t *testing.T) {
	own := fault.New(fault.Stale, "x", "gone").WithHint("read it again")
	for name, tt := range map[string]struct {
		err   error
		panic bool
		code  fault.Code
	}{
		"coded":     {err: own, code: fault.Stale},
		"plain":     {err: errors.New("disk"), code: fault.Internal},
		"cancelled": {err: fmt.Errorf("x: %w", context.Canceled), code: fault.Cancelled},
		"deadline":  {err: context.DeadlineExceeded, code: fault.Timeout},
		"panic":     {panic: true, code: fault.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, trust.Guarded)
			s.err, s.panic = tt.err, tt.panic
			_, err := s.gate.Run(t.Context(), s.gate.Decide(t.Context(), request("a.say", "")))
			if fault.CodeOf(err) != tt.code {
				t.Errorf("Run = %v, want code %s", err, tt.code)
			}
			if _, ok := errors.AsType[*fault.Error](err); !ok {
				t.Errorf("%v is not a fault", err)
			}
		})
	}
}

func TestACancelledCallDoesNotRun(t *testing.T) {
	s := newStage(t, trust.Guarded)
	ctx, cancel := context.WithCancel(t.Context())
	d := s.gate.Decide(ctx, request("a.say", ""))
	cancel()
	if _, err := s.gate.Run(ctx, d); fault.CodeOf(err) != fault.Cancelled || len(s.runs) != 0 {
		t.Errorf("Run = %v, runs %v", err, s.runs)
	}
}

// A gate remembers a bounded number of questions: the oldest is forgotten, and says
// so when it is answered.
func TestQuestionsAreBounded(t *testing.T) {
	for _, n := range []int{999, 1_000, 1_001} {
		s := newStage(t, trust.Guarded)
		var first gate.Question
		for i := range n {
			d := s.gate.Decide(t.Context(), request("change.apply", ""))
			if d.Question == nil {
				t.Fatalf("question %d: %+v", i, d)
			}
			if i == 0 {
				first = *d.Question
			}
		}
		_, err := s.gate.Resume(t.Context(), first, gate.Answer{Choice: gate.No, By: gate.Person})
		want := gate.CodeDenied
		if n > 1_000 {
			want = gate.CodeMismatch
		}
		if fault.CodeOf(err) != want {
			t.Errorf("the first of %d: %v, want %s", n, err, want)
		}
	}
}

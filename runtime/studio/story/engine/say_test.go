package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

const inn = `
app: { id: inn, version: 0.1.0 }
world: { guests: { type: int, default: 0 }, bed: "" }
intents:
  book:
    title: Book
    synonyms: ["book for {guests}", "a {bed} for {guests}"]
    slots: { guests: { type: int, required: true }, bed: { type: string, default: straw } }
  leave: { title: Leave, synonyms: [go] }
  sleep: { title: Sleep, synonyms: [go to sleep, go] }
root: hall
states:
  hall:
    on:
      book: { target: ., effects: [{ set: { guests: "{{ slots.guests }}", bed: "{{ slots.bed }}" } }] }
      leave: { target: street }
      sleep: { target: . }
  street: { terminal: true }
`

// model answers what it is given, and keeps what it was asked.
type model struct {
	route.Meaning
	asked []route.Question
}

func (m *model) Mean(_ context.Context, q route.Question) (route.Meaning, error) {
	m.asked = append(m.asked, q)
	return m.Meaning, nil
}

func talk(t *testing.T, m *model) *engine.Session {
	t.Helper()
	story := loadtest.Story(t, inn)
	o := route.Options{Story: story, Machine: machine.New(story), Cache: route.NewMemory()}
	if m != nil {
		o.Model = m
	}
	return engine.New(engine.Options{Story: story, Machine: o.Machine, Handlers: stubs{}, Router: route.New(o), ID: "s-1", Start: time.Unix(0, 0)})
}

func say(t *testing.T, s *engine.Session, text string) engine.Outcome {
	t.Helper()
	o, err := s.Say(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// started is what the trace says of how a turn was routed.
func started(t *testing.T, o engine.Outcome) string {
	t.Helper()
	var parts []string
	for _, e := range o.Events {
		if e.Kind != "turn.start" {
			continue
		}
		for _, name := range []string{"input", "routed_by", "match_type", "confidence", "direct"} {
			if v, ok := e.Payload.Get(name); ok {
				parts = append(parts, v.Text())
			}
		}
	}
	return strings.Join(parts, " / ")
}

func TestSay(t *testing.T) {
	s := talk(t, nil)
	o := say(t, s, "book for three")
	if got := started(t, o); o.Mode != engine.Transitioned || got != "book for three / semantic / template:book for {guests} / 0.8 / true" || get(s, "guests") != "3" {
		t.Errorf("%s: %s, guests %s", o.Mode, got, get(s, "guests"))
	}
	if get(s, "bed") != `"straw"` {
		t.Errorf("a slot that was left out has no default: %s", get(s, "bed"))
	}
	if o := say(t, s, "leave"); o.Mode != engine.Completed || started(t, o) != "leave / deterministic / display / 1 / true" {
		t.Errorf("%s: %s", o.Mode, started(t, o))
	}
}

// A tie, a part that is no value and a text that nobody knows change nothing; what was
// asked can be answered once.
func TestSayAsks(t *testing.T) {
	s := talk(t, nil)
	o := say(t, s, "just go")
	if o.Mode != engine.Rejected || o.Rejection.Code != route.Ambiguous || len(o.Route.Candidates) != 2 || len(s.Trace()) != 0 {
		t.Fatalf("%+v", o)
	}
	if _, err := s.Choose(t.Context(), "book", value.Value{}); fault.CodeOf(err) != engine.CodeNotAsked {
		t.Error("an intent that was not offered was taken:", err)
	}
	o, err := s.Choose(t.Context(), "sleep", value.Value{})
	if err != nil || o.State != "hall" || started(t, o) != "just go / disambiguation / ambiguous / 1 / true" {
		t.Errorf("%v, %s", err, started(t, o))
	}
	if _, err := s.Choose(t.Context(), "sleep", value.Value{}); fault.CodeOf(err) != engine.CodeNotAsked {
		t.Error("it was asked twice:", err)
	}
	o = say(t, s, "a feather bed for the dogs")
	if o.Mode != engine.Clarify || o.Rejection.Code != machine.MissingSlots || len(o.Rejection.Missing) != 1 || get(s, "bed") != `""` && get(s, "guests") != "0" {
		t.Fatalf("%+v", o)
	}
	o, err = s.Choose(t.Context(), "", parse(t, `{"guests":2}`))
	if err != nil || get(s, "guests") != "2" || get(s, "bed") != `"feather bed"` || !strings.Contains(started(t, o), "semantic / template_partial") {
		t.Errorf("%v, guests %s, bed %s: %s", err, get(s, "guests"), get(s, "bed"), started(t, o))
	}
	before := len(s.Trace())
	o = say(t, s, "sing a song")
	if o.Mode != engine.Rejected || o.Rejection.Code != route.UnknownIntent || o.Route.Question == nil || len(s.Trace()) != before {
		t.Errorf("%+v", o)
	}
}

// The model is asked last; what it says is on the trace, and known the next time.
func TestSayModel(t *testing.T) {
	m := &model{Meaning: route.Meaning{Intent: "book", Slots: parse(t, `{"guests":4}`), Confidence: .9}}
	s := talk(t, m)
	o := say(t, s, "we are a family with tired feet")
	if started(t, o) != "we are a family with tired feet / llm / main-turn / 0.9" || get(s, "guests") != "4" || !strings.Contains(kinds(o.Events), "tool_call") {
		t.Errorf("%s; %s", started(t, o), kinds(o.Events))
	}
	if o := say(t, s, "tired feet, a family"); !strings.Contains(started(t, o), "turncache") || len(m.asked) != 1 {
		t.Errorf("%s, %d questions", started(t, o), len(m.asked))
	}
	m.Meaning = route.Meaning{Intent: "book", Confidence: .9}
	if o := say(t, s, "what about it then"); o.Mode != engine.Clarify || !strings.Contains(m.asked[1].Prompt, "tired feet") {
		t.Errorf("%s; %s", o.Mode, m.asked[1].Prompt)
	}
	if o, err := s.Choose(t.Context(), "", parse(t, `{"guests":5}`)); err != nil || get(s, "guests") != "5" || !strings.Contains(started(t, o), "llm / main-turn / 0.9") {
		t.Errorf("%v, %s", err, started(t, o))
	}
}

// What a model has no intent for is answered beside the story, where its state lets an
// agent do so.
func TestSayBeside(t *testing.T) {
	story := loadtest.Story(t, market)
	m := machine.New(story)
	r := route.New(route.Options{Story: story, Machine: m, Model: &model{Meaning: route.Meaning{Said: "Hm?"}}})
	h := &heard{res: engine.Result{Data: parse(t, `{"answer":"Ask the baker."}`)}}
	s := engine.New(engine.Options{Story: story, Machine: m, Handlers: h, Router: r, ID: "s-1"})
	if o := say(t, s, "who bakes here"); o.Mode != engine.OffPath || !strings.Contains(o.View, "Ask the baker.") || o.Route == nil {
		t.Errorf("%+v", o)
	}
	h.res = engine.Result{Error: "asleep"}
	if o := say(t, s, "who bakes here"); o.Mode != engine.Rejected || o.Rejection.Code != route.Unclear || o.Problem != "asleep" || !strings.Contains(kinds(o.Events), "off_path") {
		t.Errorf("%+v", o)
	}
}

package flow

import (
	"context"
	"path"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A Saying is one case of an intents fixture: what people say, and what it has to mean.
type Saying struct {
	ID          string
	Pos         source.Pos
	Inputs      []string
	Intent      string // "" where none is expected
	Slots       value.Value
	Refused     []string // codes of which one has to come; "clarify" is any
	Expects     bool     // Refused is expected
	Fallthrough bool     // any intent that the state takes
	MinPassRate float64
}

// defaultPassRate is how many of a case's inputs have to be understood.
const defaultPassRate = 0.90

func (f *Fixture) readSayings(n *source.Node) {
	f.Pos = n.Pos
	r := f.reader(n, "intents")
	for _, name := range []string{"test_kind", "app"} {
		r.text(name)
	}
	f.State, f.Recording = r.text("state"), r.text("recording")
	rate := defaultPassRate
	if d := r.node("defaults"); !d.IsNull() {
		c := f.reader(d, "defaults")
		c.text("runs")        // a recording says the same each time
		c.text("temperature") // and has none
		if v, ok := c.value("min_pass_rate").Float(); ok && v > 0 {
			rate = v
		}
		c.done()
	}
	f.Sayings = []Saying{}
	for _, it := range r.list("fixtures") {
		f.Sayings = append(f.Sayings, f.saying(it, rate))
	}
	r.done()
}

func (f *Fixture) saying(n *source.Node, rate float64) Saying {
	r := f.reader(n, "fixture "+n.Get("id").Value().Text())
	s := Saying{ID: r.text("id"), Pos: n.Pos, Inputs: r.texts("inputs"), Fallthrough: r.bool("expect_fallthrough"), MinPassRate: rate}
	r.text("runs")
	if v, ok := r.value("min_pass_rate").Float(); ok && v > 0 {
		s.MinPassRate = v
	}
	if i := r.node("intent"); !i.IsNull() {
		c := f.reader(i, r.what+", intent")
		s.Intent, s.Slots = c.text("name"), c.value("slots")
		c.done()
	}
	if e := r.node("expect_failure"); !e.IsNull() {
		c := f.reader(e, r.what+", expect_failure")
		s.Refused, s.Expects = c.texts("any_of"), true
		c.done()
	}
	if len(s.Inputs) == 0 {
		r.warn(n.Pos, "%s: it has no inputs: nothing is checked", r.what)
	}
	r.done()
	return s
}

// intents holds what a recording makes of inputs to what a fixture says of them.
func (r *runner) intents(ctx context.Context) error {
	if r.f.Recording == "" {
		r.f.Recording = path.Join("..", "recording.yaml")
	}
	rec, err := r.recording(ctx)
	if err != nil {
		return err
	}
	at := machine.Situation{State: r.f.State, World: r.o.Machine.World()}
	if len(r.o.Machine.Names(at.State)) == 0 {
		return fault.New(CodeFlow, "story.test", "the state %q takes no intents", at.State).WithHint("name a state of the story in state:")
	}
	for i, s := range r.f.Sayings {
		tr := TurnResult{Index: i, Line: s.Pos.Line, State: at.State, Allowed: names(r.o.Machine, at.State)}
		good := 0
		for _, input := range s.Inputs {
			if why := r.means(rec, at, s, input); why == "" {
				good++
			} else {
				tr.Failures = append(tr.Failures, sprintf("%s: %q: %s", s.ID, input, why))
			}
		}
		if len(s.Inputs) == 0 || float64(good) >= s.MinPassRate*float64(len(s.Inputs)) {
			tr.Failures = nil
		}
		r.add(tr)
	}
	return nil
}

// means is why an input does not mean what it has to; "" where it does.
func (r *runner) means(rec *recording, at machine.Situation, s Saying, input string) string {
	got, err := rec.find(at.State, input)
	switch {
	case err != nil && s.Expects:
		return ""
	case err != nil:
		return err.Error()
	case got.clarify && (s.Expects || s.Fallthrough):
		return ""
	case got.clarify:
		return "it fits no intent"
	}
	rej := r.o.Machine.Check(at, machine.Input{Intent: got.intent, Slots: got.slots})
	switch {
	case s.Expects && rej == nil:
		return sprintf("it means %q, which the state takes, and has to be refused", got.intent)
	case s.Expects && (slices.Contains(s.Refused, "clarify") || slices.Contains(s.Refused, string(rej.Code))):
		return ""
	case rej != nil:
		return sprintf("it means %q: %s: %s", got.intent, rej.Code, rej.Message)
	case s.Fallthrough || s.Intent == "":
		return ""
	case got.intent != s.Intent:
		return sprintf("it means %q, want %q", got.intent, s.Intent)
	case !has(got.slots, s.Slots):
		return sprintf("its slots are %s, want %s", got.slots.JSON(), s.Slots.JSON())
	}
	return ""
}

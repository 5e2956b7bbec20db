package flow

import (
	"context"
	"path"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
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
	RoutedBy    string // the tier that has to know it; "" is any
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
	s := Saying{ID: r.text("id"), Pos: n.Pos, Inputs: r.texts("inputs"), Fallthrough: r.bool("expect_fallthrough"), RoutedBy: r.text("expect_routed_by"), MinPassRate: rate}
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

// intents holds what is made of inputs to what a fixture says of them: by the recording,
// which is that of the story where the fixture names none, and by routing where it knows
// nothing of an input, or where the fixture says which tier has to know it.
func (r *runner) intents(ctx context.Context) error {
	if beside := path.Join("..", "recording.yaml"); r.f.Recording == "" && r.o.Files != nil {
		if _, err := r.o.Files.Read(ctx, path.Join(path.Dir(r.f.File), beside)); fault.CodeOf(err) != load.CodeNoFile {
			r.f.Recording = beside
		}
	}
	routes, err := r.router(ctx)
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
			if why := r.means(ctx, routes, at, s, input); why == "" {
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
func (r *runner) means(ctx context.Context, routes *route.Router, at machine.Situation, s Saying, input string) string {
	v, known := r.rec.verdict(at.State, input)
	var err error
	if !known || s.RoutedBy != "" {
		if v, err = routes.Route(ctx, route.Input{Text: input, At: at, Now: epoch()}); err == nil {
			err = unasked(v)
		}
	}
	rej := v.Rejection()
	switch {
	case err != nil && s.Expects:
		return ""
	case err != nil:
		return err.Error()
	case v.Result == route.Refused && (s.Expects || s.Fallthrough):
		return ""
	case v.Result == route.Refused:
		return "it fits no intent"
	case rej == nil:
		rej = r.o.Machine.Check(at, machine.Input{Intent: v.Intent, Slots: v.Slots})
	}
	switch {
	case s.Expects && rej == nil:
		return sprintf("it means %q, which the state takes, and has to be refused", v.Intent)
	case s.Expects && (slices.Contains(s.Refused, "clarify") || slices.Contains(s.Refused, string(rej.Code))):
		return ""
	case rej != nil:
		return sprintf("it means %q: %s: %s", v.Intent, rej.Code, rej.Message)
	}
	if why := RoutedOf(&v).check(s.RoutedBy); len(why) > 0 {
		return why[0]
	}
	switch {
	case s.Fallthrough || s.Intent == "":
		return ""
	case v.Intent != s.Intent:
		return sprintf("it means %q, want %q", v.Intent, s.Intent)
	case !has(v.Slots, s.Slots):
		return sprintf("its slots are %s, want %s", v.Slots.JSON(), s.Slots.JSON())
	}
	return ""
}

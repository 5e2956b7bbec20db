// Package flow runs the flows of a story: fixtures of turns with what has to hold after
// each, over stubs and cassettes.
//
// It is a part of the story studio above the engine, and what story.test, `soundstage
// story test` and storytest share. It calls no model and nothing outside. A call that no
// stub answers fails its flow, unless the run is told to forgive it.
package flow

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// The codes of this package.
const (
	CodeStub   fault.Code = "STORY_NO_STUB" // a call that the flow does not answer
	CodeFailed fault.Code = "STORY_TESTS_FAILED"
	CodeFlow   fault.Code = "STORY_FLOW" // a fixture that cannot be run
)

// A Result is how a flow went.
type Result struct {
	File     string         `json:"file" jsonschema:"the fixture, as it was found"`
	Passed   bool           `json:"passed"`
	Skipped  bool           `json:"skipped"`
	Problem  string         `json:"problem,omitempty" jsonschema:"why it could not be run to its end"`
	Turns    []TurnResult   `json:"turns"`
	Findings []load.Finding `json:"findings,omitempty" jsonschema:"what in the fixture checks nothing"`
}

// A TurnResult is how one turn went. Index is -1 for what holds of the whole flow.
type TurnResult struct {
	Index    int            `json:"index" jsonschema:"from 0; -1 for what holds of the whole flow"`
	Passed   bool           `json:"passed"`
	Failures []string       `json:"failures,omitempty"`
	State    string         `json:"state"`
	Allowed  []string       `json:"allowed" jsonschema:"intents that the state takes, the most urgent first"`
	View     string         `json:"view" jsonschema:"80 columns wide"`
	Events   []engine.Event `json:"events"`
}

// Options say how flows are run.
type Options struct {
	Story   *program.Story
	Machine *machine.Machine
	Files   load.Files      // cassettes and scripts; nil: a flow that has one cannot be run
	Forgive bool            // a call without a stub is an error of the call, and no failure of the flow
	Others  engine.Handlers // answer what no stub does; nil: nobody
}

// Run runs one flow.
func Run(ctx context.Context, o Options, f *Fixture) Result {
	res := Result{File: f.File, Turns: []TurnResult{}}
	for _, p := range f.Findings {
		if p.Severity == "error" {
			res.Problem = p.String()
			return res
		}
	}
	r := &runner{o: o, f: f, res: &res}
	if o.Machine == nil {
		r.o.Machine = machine.New(o.Story)
	}
	var err error
	if f.NeedsEngine() {
		err = r.engine(ctx)
	} else {
		err = r.alone()
	}
	if err != nil {
		res.Problem = err.Error()
	}
	if len(r.flow) > 0 {
		res.Turns = append(res.Turns, TurnResult{Index: -1, Failures: r.flow})
	}
	for _, p := range f.Findings {
		if p.Severity == load.Warning {
			res.Findings = append(res.Findings, p)
		}
	}
	res.Passed = res.Problem == ""
	for _, t := range res.Turns {
		res.Passed = res.Passed && t.Passed
	}
	return res
}

// A runner runs one flow.
type runner struct {
	o      Options
	f      *Fixture
	res    *Result
	flow   []string // failures of the whole
	all    []engine.Event
	failed bool // a turn was rejected
}

// A checked is what the checks of a turn look at.
type checked struct {
	state  string
	world  value.Value
	before value.Value
	view   string
	slots  value.Value
	events []engine.Event
}

// alone runs a flow on the machine: no call is made.
func (r *runner) alone() error {
	m := r.o.Machine
	at := machine.Situation{State: r.f.State, World: m.World().Merge(r.f.World)}
	for i, t := range r.f.Turns {
		if !t.HasIntent {
			return fault.New(CodeFlow, "story.test", "turn %d has no intent", i+1).WithHint("flows of free text need a recording")
		}
		at.World = at.World.Merge(t.Override)
		step, err := m.Turn(at, machine.Input{Intent: t.Intent, Slots: t.Slots})
		if err != nil {
			return fault.Wrap(err, CodeFlow, "story.test", "turn %d", i+1)
		}
		events := make([]engine.Event, len(step.Events))
		for k, e := range step.Events {
			events[k] = engine.Event{Kind: e.Kind, Seq: k, Payload: e.Payload}
		}
		r.all = append(r.all, events...)
		tr := TurnResult{Index: i, Events: events, State: at.State}
		if t.Error != nil {
			r.rejection(&tr, t.Error, step.Rejection)
			r.add(tr)
			continue
		}
		if step.Rejection != nil {
			r.failed = true
			tr.Failures = append(tr.Failures, sprintf("unexpected rejection: %s: %s", step.Rejection.Code, step.Rejection.Message))
		}
		before := at.World
		at = step.Situation
		tr.State = at.State
		if tr.View, err = m.Render(at); err != nil {
			tr.View = step.View
		}
		r.check(&tr, t, checked{state: at.State, world: at.World, before: before, view: tr.View, slots: step.Slots, events: events}, true)
		tr.Allowed = names(m, at.State)
		r.add(tr)
	}
	r.whole(at.State, at.World)
	return nil
}

func names(m *machine.Machine, state string) []string {
	var list []string
	for _, a := range m.Allowed(state) {
		list = append(list, a.Name)
	}
	return list
}

func (r *runner) add(tr TurnResult) {
	tr.Passed = len(tr.Failures) == 0
	r.res.Turns = append(r.res.Turns, tr)
}

// engine runs a flow with its calls.
func (r *runner) engine(ctx context.Context) error {
	stubs := &stubs{f: r.f, files: r.o.Files, others: r.o.Others}
	if err := stubs.open(ctx); err != nil {
		return err
	}
	s := engine.New(engine.Options{Story: r.o.Story, Machine: r.o.Machine, Handlers: stubs, ID: "flow", Staged: r.f.Staged, Start: time.Unix(0, 0).UTC()})
	stubs.answered = s.Answer
	s.Seed(r.f.State, r.f.World)
	for i, t := range r.f.Turns {
		if t.HasIntent { // jobs that nothing held back end between two turns
			if err := s.Drain(ctx); err != nil {
				return err
			}
		}
		s.Ended()
		out := engine.Outcome{Mode: engine.Transitioned, State: s.State()}
		slots := t.Slots
		if t.HasIntent {
			var err error
			if slots, err = r.slots(t.Slots, s.World()); err != nil {
				return err
			}
			s.Override(t.Override)
			stubs.state = s.State()
			if out, err = s.Turn(ctx, t.Intent, slots, t.Shown); err != nil {
				return fault.Wrap(err, CodeFlow, "story.test", "turn %d", i+1)
			}
		} else if !t.Advances {
			return fault.New(CodeFlow, "story.test", "turn %d has neither an intent nor advance_clock", i+1)
		}
		if t.Advance > 0 {
			if err := s.Advance(ctx, t.Advance); err != nil {
				return fault.Wrap(err, CodeFlow, "story.test", "turn %d: advance_clock", i+1)
			}
		}
		r.all = append(r.all, out.Events...)
		tr := TurnResult{Index: i, Events: out.Events, State: s.State(), Allowed: names(r.o.Machine, s.State())}
		for _, miss := range stubs.take() {
			if !r.o.Forgive {
				tr.Failures = append(tr.Failures, miss)
			}
		}
		if t.Error != nil {
			if out.Mode != engine.Rejected {
				out.Rejection = nil
			}
			r.rejection(&tr, t.Error, out.Rejection)
			r.add(tr)
			continue
		}
		if out.Mode == engine.Rejected {
			r.failed = true
			tr.Failures = append(tr.Failures, sprintf("unexpected rejection: %s: %s", out.Rejection.Code, out.Rejection.Message))
		}
		if tr.View = out.View; tr.View == "" {
			tr.View, _ = r.o.Machine.Render(machine.Situation{State: s.State(), World: s.World()})
		}
		r.check(&tr, t, checked{state: s.State(), world: s.World(), view: tr.View, slots: slots, events: out.Events}, false)
		r.inbox(&tr, t, s)
		r.add(tr)
	}
	r.whole(s.State(), s.World())
	if c := stubs.cassette; c != nil {
		if left := c.left(); len(left) > 0 {
			r.flow = append(r.flow, sprintf("episodes of the cassette that nothing asked for: %v", left))
		}
	}
	return nil
}

// slots renders the texts among the slots of a turn over the world.
func (r *runner) slots(slots, world value.Value) (value.Value, error) {
	out := slots
	for name, v := range slots.Members() {
		if v.Kind() != value.String || !strings.Contains(v.Str(), "{{") {
			continue
		}
		t, err := expr.NewPages(nil).Page(v.Str())
		if err != nil {
			return slots, err
		}
		text, err := t.Text(expr.NewEnv().With(expr.World, world))
		if err != nil {
			return slots, err
		}
		out = out.With(name, value.Of(text))
	}
	return out, nil
}

func (r *runner) rejection(tr *TurnResult, want *ErrorCheck, got *machine.Rejection) {
	if got == nil {
		tr.Failures = append(tr.Failures, sprintf("expect_error: want %q, and the intent was taken", want.Code))
		return
	}
	r.failed = true
	if string(got.Code) != want.Code {
		tr.Failures = append(tr.Failures, sprintf("expect_error: code %q, want %q", got.Code, want.Code))
	}
	allowed := got.Allowed
	if len(allowed) == 0 {
		allowed = tr.Allowed
	}
	for _, name := range want.Allowed {
		if !slices.Contains(allowed, name) {
			tr.Failures = append(tr.Failures, sprintf("expect_error.allowed_contains: %q is not in %v", name, allowed))
		}
	}
	for _, name := range want.Missing {
		if !slices.Contains(got.Missing, name) {
			tr.Failures = append(tr.Failures, sprintf("expect_error.missing_slots: %q is not in %v", name, got.Missing))
		}
	}
	if want.Hint != "" && got.Hint != want.Hint {
		tr.Failures = append(tr.Failures, sprintf("expect_error.guard_hint: %q, want %q", got.Hint, want.Hint))
	}
}

// whole checks what holds of a flow at its end.
func (r *runner) whole(state string, world value.Value) {
	fail := func(format string, args ...any) { r.flow = append(r.flow, sprintf(format, args...)) }
	if s := r.o.Story.States[state]; r.f.Terminal && (s == nil || !s.Terminal) {
		fail("expect_terminal: the state %q is not terminal", state)
	}
	if n := r.f.AtLeast; n != nil && len(r.all) < *n {
		fail("expect_events_count_atleast: %d events, want %d or more", len(r.all), *n)
	}
	if n := r.f.AtMost; n != nil && len(r.all) > *n {
		fail("expect_events_count_atmost: %d events, want %d or fewer", len(r.all), *n)
	}
	if r.f.NoErrors && r.failed {
		fail("expect_no_errors: a turn was rejected")
	}
	for name, want := range r.f.FinalWorld.Members() {
		if got, _ := world.Get(name); !got.Equal(want) {
			fail("expect_world_final.%s: %s, want %s", name, got.JSON(), want.JSON())
		}
	}
	r.flow = append(r.flow, noCalls(r.all, r.f.NoCalls)...)
}

// check holds a turn to what its fixture says.
func (r *runner) check(tr *TurnResult, t Turn, c checked, alone bool) {
	fail := func(format string, args ...any) { tr.Failures = append(tr.Failures, sprintf(format, args...)) }
	if t.State != "" && c.state != t.State {
		fail("expect_state: %q, want %q", c.state, t.State)
	}
	if t.NotState != "" && c.state == t.NotState {
		fail("expect_not_state: it is %q", c.state)
	}
	if len(t.StateIn) > 0 && !slices.Contains(t.StateIn, c.state) {
		fail("expect_state_in: %q is not in %v", c.state, t.StateIn)
	}
	for name, want := range t.World.Members() {
		if got, _ := c.world.Get(name); !got.Equal(want) {
			fail("expect_world.%s: %s, want %s", name, got.JSON(), want.JSON())
		}
	}
	if t.WorldFull.Len() > 0 && !c.world.Equal(t.WorldFull) {
		fail("expect_world_full: %s, want %s", c.world.JSON(), t.WorldFull.JSON())
	}
	if t.Unchanged && alone {
		for name, was := range c.before.Members() {
			if now, _ := c.world.Get(name); !now.Equal(was) {
				fail("expect_world_unchanged: %s was %s and is %s", name, was.JSON(), now.JSON())
			}
		}
	}
	tr.Failures = append(tr.Failures, eventChecks(c.events, t)...)
	if t.View != "" {
		re, err := regexp.Compile(t.View)
		if err != nil {
			fail("expect_view_matches: %s", err)
		} else if !re.MatchString(c.view) {
			fail("expect_view_matches: %q does not match %q", t.View, c.view)
		}
	}
	if t.NoView && c.view != "" {
		fail("expect_no_view: the view is %q", c.view)
	}
	for name, want := range t.SlotsAre.Members() {
		if got, _ := c.slots.Get(name); !got.Equal(want) {
			fail("expect_slots.%s: %s, want %s", name, got.JSON(), want.JSON())
		}
	}
}

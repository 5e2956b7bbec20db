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

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// The codes of this package.
const (
	CodeStub   fault.Code = "STORY_NO_STUB"      // a call that the flow does not answer
	CodeFailed fault.Code = "STORY_TESTS_FAILED" // a flow did not go as its fixture says
	CodeFlow   fault.Code = "STORY_FLOW"         // a fixture that cannot be run
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
	Line     int            `json:"line,omitempty" jsonschema:"of the fixture, where the turn stands"`
	Passed   bool           `json:"passed"`
	Failures []string       `json:"failures,omitempty"`
	State    string         `json:"state"`
	Allowed  []string       `json:"allowed" jsonschema:"intents that the state takes, the most urgent first"`
	View     string         `json:"view" jsonschema:"80 columns wide"`
	Events   []engine.Event `json:"events"`
	Routed   *Routed        `json:"routed,omitempty" jsonschema:"what routing made of the turn's input"`
}

// First is the first difference of a flow that did not pass, with its place; "" of one that
// did.
func (r Result) First() string {
	if r.Problem != "" {
		return r.Problem
	}
	for _, t := range r.Turns {
		if len(t.Failures) == 0 {
			continue
		}
		where := sprintf("turn %d", t.Index+1)
		if t.Index < 0 {
			where = "at the end"
		}
		if t.Line > 0 {
			where = sprintf("line %d, %s", t.Line, where)
		}
		return where + ": " + t.Failures[0]
	}
	return ""
}

// Options say how flows are run.
type Options struct {
	Story   *program.Story
	Machine *machine.Machine
	Work    string          // the folder of the run, as handlers name it
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
	r := &runner{o: o, f: f, res: &res, left: &folder{}, ctx: ctx}
	if o.Machine == nil {
		r.o.Machine = machine.New(o.Story)
	}
	var err error
	switch {
	case f.Sayings != nil:
		err = r.intents(ctx)
	case f.NeedsEngine():
		err = r.engine(ctx)
	default:
		err = r.alone(ctx)
	}
	if err != nil {
		res.Problem = err.Error()
	}
	if len(r.flow) > 0 {
		res.Turns = append(res.Turns, TurnResult{Index: -1, Failures: r.flow})
	}
	for _, p := range slices.Concat(f.Findings, f.dead(), f.Misfits(r.o.Story)) {
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
	failed bool    // a turn was rejected
	left   *folder // what its handlers wrote
	routes *route.Router
	rec    *recording
	ctx    context.Context //nolint:containedctx // lives as long as Run
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
	if want.Hint != "" && got.Hint != want.Hint && !r.o.Forgive {
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
	for _, c := range r.f.Files {
		if failure := r.left.check(r.f.File, c, r.onDisk); failure != "" {
			r.flow = append(r.flow, failure)
		}
	}
}

// onDisk is a file as it was before the flow.
func (r *runner) onDisk(name string) (string, bool) {
	if r.o.Files == nil {
		return "", false
	}
	raw, err := r.o.Files.Read(r.ctx, name)
	return string(raw), err == nil
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
	tr.Failures = append(tr.Failures, wholeWorld(c.world, t.WorldFull)...)
	if t.Unchanged && (alone || !r.o.Forgive) {
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

// wholeWorld holds a world to exactly these keys.
func wholeWorld(world, want value.Value) []string {
	if want.Len() == 0 {
		return nil
	}
	var failures []string
	for name, w := range want.Members() {
		if got, _ := world.Get(name); !got.Equal(w) {
			failures = append(failures, sprintf("expect_world_full.%s: %s, want %s", name, got.JSON(), w.JSON()))
		}
	}
	for name := range world.Members() {
		if _, ok := want.Get(name); !ok {
			failures = append(failures, sprintf("expect_world_full: the world has %s too", name))
		}
	}
	return failures
}

// Package engine drives a story: it takes turns of the machine, makes the calls that they
// ask for, and follows what comes of them, until nothing follows any more.
//
// It is a part of the story studio above machine. Handlers answer its calls through a
// port; time moves only by Advance, so that a test, a replay and a recording see the same.
// It keeps no file and speaks to no model itself.
package engine

import (
	"context"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// The bounds of what may follow from one turn.
const (
	MaxSettles   = 4 // rounds of calls that let intents follow that make calls
	MaxRedirects = 4 // on_error, one within another
)

// The codes of this package.
const (
	CodeRedirects fault.Code = "STORY_ERROR_LOOP"  // more than MaxRedirects
	CodeSettles   fault.Code = "STORY_SETTLE_LOOP" // more than MaxSettles
	CodeNoState   fault.Code = "STORY_NO_STATE"    // on_error, a timeout or a start leads nowhere
	CodeHandler   fault.Code = "STORY_NO_HANDLER"  // nobody answers calls of that name
)

// Handlers answer calls.
type Handlers interface {
	// Call makes one call. An error means that it could not be made at all: no handler of
	// that name, no episode of a cassette. What a handler itself reports is in the Result.
	Call(ctx context.Context, c Request) (Result, error)
}

// A Request is one call.
type Request struct {
	Handler    string // "host.git.commit"
	Args       value.Value
	State      string // where the story stands
	World      value.Value
	Agent      string // the plugin that an effect names
	Dir        string // absolute folder of the file that the effect stands in: its scripts and prompts lie below it
	Background bool
}

// A Result is what a handler says.
type Result struct {
	Data  value.Value   // a map, or nil
	Error string        // "" where it worked
	Cost  float64       // US dollars
	Delay time.Duration // how long it took, on the story's clock; only jobs wait for it
	Asks  *Clarification
}

// A Clarification is a question of a job, without whose answer it does not end.
type Clarification struct{ Prompt string }

// An Event is one thing that happened, as a trace has it.
type Event struct {
	Turn    int         `json:"turn"`
	Seq     int         `json:"seq"`
	Kind    string      `json:"kind"`
	State   string      `json:"state_path"`
	Payload value.Value `json:"payload"`
}

// A Mode says how a turn ended.
type Mode string

// The modes.
const (
	Transitioned Mode = "transitioned"
	Completed    Mode = "completed" // in a terminal state
	Rejected     Mode = "rejected"
	Clarify      Mode = "clarify" // slots are missing
	OffPath      Mode = "offpath" // an agent answered beside the story, which stands where it stood
)

// An Outcome is how a turn ended.
type Outcome struct {
	Mode      Mode
	State     string
	View      string
	Events    []Event
	Allowed   []string
	Rejection *machine.Rejection
	Problem   string // what went wrong beside the story: a loop of settles
	Turn      int
	Route     *route.Verdict // of a text; nil where the intent was named
}

// Options are the doors of a session.
type Options struct {
	Story    *program.Story
	Machine  *machine.Machine // of the same story, shared between sessions; nil makes one
	Handlers Handlers
	Router   *route.Router // of texts; nil makes one that has neither a cache nor a model
	ID       string
	Staged   bool      // stop where a person decides
	Start    time.Time // of the story's clock
}

// A Session is one run through a story. It is not safe for concurrent use.
type Session struct {
	story    *program.Story
	machine  *machine.Machine
	handlers Handlers
	id       string
	staged   bool
	now      time.Time
	at       machine.Situation
	turn     int
	trace    []Event
	jobs     []*Job
	timer    *timer
	ended    []*Job // since the last turn
	inbox    []Notice
	router   *route.Router
	past     []route.Past
	asked    *asked
}

// New begins a session where its story begins. Nothing has run yet.
func New(o Options) *Session {
	if o.Story == nil || o.Handlers == nil {
		panic("engine: the story or the handlers are missing")
	}
	if o.Machine == nil {
		o.Machine = machine.New(o.Story)
	}
	if o.Router == nil {
		o.Router = route.New(route.Options{Story: o.Story, Machine: o.Machine})
	}
	s := &Session{story: o.Story, machine: o.Machine, handlers: o.Handlers, router: o.Router, id: o.ID, staged: o.Staged, now: o.Start}
	s.at = machine.Situation{State: o.Story.Root, World: s.present(o.Machine.World())}
	return s
}

// State is where the story stands.
func (s *Session) State() string { return s.at.State }

// World is the world as it is.
func (s *Session) World() value.Value { return s.at.World }

// Trace is everything that happened.
func (s *Session) Trace() []Event { return s.trace }

// Seed puts the story into a state, without running anything of it.
func (s *Session) Seed(state string, world value.Value) {
	t := s.begin(state)
	if state != "" {
		t.event("machine.transition", fields{"from": value.Of(""), "to": value.Of(state), "intent": value.Of("__seed__")})
		t.at.State = state
	}
	for name, v := range world.Members() {
		t.event("world.update", fields{"set": value.Owned(fields{name: v})})
	}
	t.at.World = t.at.World.Merge(world)
	s.finish(t)
	s.turn = 0
	s.arm(t.at.State)
}

// Override changes keys of the world between turns.
func (s *Session) Override(world value.Value) {
	if world.Len() == 0 {
		return
	}
	t := s.begin(s.at.State)
	for name, v := range world.Members() {
		t.event("world.update", fields{"set": value.Owned(fields{name: v})})
	}
	t.at.World = t.at.World.Merge(world)
	s.finish(t)
}

// Turn takes an intent. shown is what a person typed, or "".
func (s *Session) Turn(ctx context.Context, intent string, slots value.Value, shown string) (Outcome, error) {
	return s.take(ctx, intent, slots, shown, nil)
}

// take takes an intent that a person named, or that routing found.
func (s *Session) take(ctx context.Context, intent string, slots value.Value, shown string, v *route.Verdict) (Outcome, error) {
	from := s.at.State
	step, err := s.machine.Turn(s.at, machine.Input{Intent: intent, Slots: slots})
	if err != nil {
		return Outcome{}, err
	}
	t := s.begin(from)
	s.asked = nil
	if step.Rejection != nil && step.Rejection.Code == machine.MissingSlots {
		s.asked = &asked{shown: shown, intent: intent, slots: slots, verdict: v}
		return Outcome{Mode: Clarify, State: from, Rejection: step.Rejection, Turn: t.turn, Allowed: s.allowed(s.at), Route: v}, nil
	}
	input := shown
	if input == "" {
		input = "[intent] " + intent
	}
	t.started(input, intent, v)
	if step.Rejection != nil {
		t.add(step.Events)
		t.event("turn.end", fields{"outcome": value.Of("rejected"), "code": value.Of(string(step.Rejection.Code))})
		s.finish(t)
		return Outcome{Mode: Rejected, State: from, Events: t.events, Rejection: step.Rejection, Turn: t.turn, Allowed: s.allowed(s.at), Route: v}, nil
	}
	t.event("machine.intent_accepted", fields{"intent": value.Of(intent), "slots": step.Slots})
	t.add(step.Events)
	t.at, t.view = step.Situation, step.View
	redirected, err := t.calls(ctx, step.Calls, 0)
	if err != nil {
		return Outcome{}, err
	}
	if redirected {
		t.warned()
	} else if err := t.settle(ctx, 0); err != nil {
		return Outcome{}, err
	}
	end := fields{"outcome": value.Of("transitioned"), "to": value.Of(t.at.State)}
	if t.view != "" {
		end["view"] = value.Of(plain(t.view))
	}
	t.event("turn.end", end)
	s.finish(t)
	s.arm(s.at.State)
	s.remember(route.Past{Text: input, Intent: intent, State: s.at.State})
	o := Outcome{Mode: Transitioned, State: s.at.State, View: t.view, Events: t.events, Problem: t.problem, Turn: t.turn, Allowed: s.allowed(s.at), Route: v}
	if st := s.story.States[s.at.State]; st != nil && st.Terminal {
		o.Mode, s.timer = Completed, nil
	}
	return o, nil
}

func (s *Session) allowed(at machine.Situation) []string {
	var names []string
	for _, a := range s.machine.Allowed(at.State) {
		names = append(names, a.Name)
	}
	return names
}

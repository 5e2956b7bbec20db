// Package machine is a story at work, and pure: a situation and an intent in, the next
// situation and everything that follows from it out.
//
// It is a part of the story studio below the engine, which makes the calls that a step
// asks for. It has no clock, no I/O and no memory: the same in gives the same out.
package machine

import (
	"fmt"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// MaxEmits is how deep intents that follow from intents may go.
const MaxEmits = 24

// The codes of this package.
const (
	CodeEmits  fault.Code = "STORY_EMIT_LOOP" // more than MaxEmits, one within another
	CodeEmit   fault.Code = "STORY_EMIT"      // an emitted intent that no arc takes
	CodeEffect fault.Code = "STORY_EFFECT"    // an effect, a guard or a target that fails
)

// A Situation is where a story stands.
type Situation struct {
	State string      // a path; "root#root.a.x|root.b.y" of a parallel state
	World value.Value // a map
	scene *expr.Scene // of World, where somebody looked at it already
}

// An Event is one thing that happened, in the shape in which a trace has it.
type Event struct {
	Kind    string
	Payload value.Value
}

// A Call is one that the engine has to make.
type Call struct {
	Effect *program.Effect
	Args   value.Value // as the world was when the effect ran
	World  value.Value // that world
	Slots  value.Value // of the intent that led here
}

// A Code says why an intent was not taken.
type Code string

// The codes of rejections.
const (
	NotAllowed   Code = "INTENT_NOT_ALLOWED_IN_STATE"
	MissingSlots Code = "MISSING_SLOTS"
	InvalidSlot  Code = "INVALID_SLOT_VALUE"
	GuardFailed  Code = "GUARD_FAILED"
	Unknown      Code = "UNKNOWN_INTENT"
)

// A Rejection is an intent that was not taken: the situation stays.
type Rejection struct {
	Code    Code
	Message string
	Hint    string
	Missing []string // slots
	Allowed []string // intents
}

// A Step is what follows from an intent.
type Step struct {
	Situation
	From      string
	Intent    string      // by its folded name
	Slots     value.Value // with defaults
	Events    []Event
	Calls     []Call
	Say       string
	View      string // of State; "" where Calls will change what it shows
	Arc       *program.Arc
	Rejection *Rejection // nil: taken
}

// Binds reports whether a call will put something into the world.
func (s Step) Binds() bool {
	for _, c := range s.Calls {
		if len(c.Effect.Bind) > 0 {
			return true
		}
	}
	return false
}

// A Machine runs one story.
type Machine struct {
	story *program.Story
	types map[string]string // of world keys
	names sync.Map          // of *program.Scope: its *expr.Names
}

// New makes the machine of a story.
func New(s *program.Story) *Machine {
	m := &Machine{story: s, types: map[string]string{}}
	for _, v := range s.World {
		m.types[v.Name] = v.Type
	}
	return m
}

// World is the world in which a story begins.
func (m *Machine) World() value.Value {
	w := map[string]value.Value{
		"session_cost_usd": value.Of(0.0), "turn_cost_usd": value.Of(0.0), "last_error": value.Of(""), "write_mode_scope": value.Of(""),
	}
	for _, v := range m.story.World {
		if !v.Default.IsNil() {
			w[v.Name] = v.Default
		}
	}
	return value.NewMap(w)
}

// An Input is an intent with its slots.
type Input struct {
	Intent string
	Slots  value.Value // a map, or nil
	Staged bool        // stop where a person decides
}

// Turn takes an intent.
func (m *Machine) Turn(at Situation, in Input) (Step, error) {
	r := m.run(at, in.Slots, in.Staged)
	name := m.alias(at.State, in.Intent)
	if rej := m.validate(r, name); rej != nil {
		r.reject(rej, in.Intent, rej.Code != GuardFailed)
		return r.step(name), nil
	}
	if par, ok := parallelOf(at.State); ok {
		return m.turnParallel(r, par, name)
	}
	arc, owner, hint, err := m.arc(r, at.State, name)
	if err != nil {
		return Step{}, err
	}
	if arc == nil {
		r.reject(&Rejection{Code: GuardFailed, Message: fmt.Sprintf("no transition matched for intent %q in state %q", name, at.State), Hint: hint}, name, false)
		return r.step(name), nil
	}
	if err := m.follow(r, arc, owner, name); err != nil {
		return Step{}, err
	}
	step := r.step(name)
	step.Arc = arc
	if !step.Binds() {
		step.View, err = m.Page(step, arc)
	}
	return step, err
}

// follow takes an arc: its effects, what is entered, what that emits.
func (m *Machine) follow(r *run, arc *program.Arc, owner *program.State, intent string) error {
	from := r.state
	raw, to, err := m.destination(r, arc, owner, false)
	if err != nil {
		return err
	}
	r.event("machine.transition", fields{"from": value.Of(from), "to": value.Of(to), "intent": value.Of(intent), "slots": r.slots})
	if err := r.effects(arc.Effects); err != nil {
		return err
	}
	again := to == from && raw != "." && raw != ""
	entered := entering(from, to)
	if again {
		entered = []string{from}
	}
	if err := r.enter(entered); err != nil {
		return err
	}
	r.moved(from, to)
	r.state = to
	return m.emitted(r, r.takeEmits(), 0)
}

// destination is where an arc leads, as written and as a leaf.
func (m *Machine) destination(r *run, arc *program.Arc, owner *program.State, small bool) (raw, to string, err error) {
	raw = arc.Target.Raw
	if arc.Target.Template != nil {
		t := arc.Target.Template
		if small && arc.Target.Small != nil {
			t = arc.Target.Small
		}
		if raw, err = t.Text(r.env(arc.Scope)); err != nil {
			return "", "", fault.Wrap(err, CodeEffect, "story.turn", "the target %q of state %s", arc.Target.Raw, owner.Path)
		}
		raw = strings.TrimSpace(raw)
	}
	path := arc.Target.Path
	if path == "" {
		path = Resolve(owner, raw)
	}
	to, err = m.leaf(r, path)
	return raw, to, err
}

// Leaf is the state that a story stands in when it goes to path.
func (m *Machine) Leaf(at Situation, path string) (string, error) {
	return m.leaf(m.run(at, value.Value{}, false), path)
}

func (m *Machine) leaf(r *run, path string) (string, error) {
	for range maxNest {
		s := m.story.States[path]
		switch {
		case s == nil:
			return path, nil
		case s.Kind == program.Parallel:
			return m.enterParallel(r, s)
		case s.Kind != program.Compound || s.Initial == nil:
			return path, nil
		}
		name := s.Initial.Name
		if s.Initial.Template != nil {
			text, err := s.Initial.Template.Text(r.env(s.Scope))
			if err != nil {
				return "", fault.Wrap(err, CodeEffect, "story.turn", "the initial state of %s", path)
			}
			name = strings.TrimSpace(text)
		}
		path += "." + name
	}
	return path, nil
}

// maxNest is the deepest nesting of states.
const maxNest = 64

// Resolve is where a target leads that is seen from its owner.
func Resolve(owner *program.State, raw string) string {
	if raw == "" || raw == "." {
		return owner.Path
	}
	base := ""
	if owner.Scope != nil {
		base = owner.Scope.Path
	}
	if !strings.HasPrefix(raw, "..") {
		path := strings.ReplaceAll(raw, "/", ".")
		if base != "" && path != base && !strings.HasPrefix(path, base+".") {
			path = base + "." + path
		}
		return path
	}
	return owner.Beside(raw)
}

// Page renders the page of a step: that of its arc, if it has one of its own, or of the
// state.
func (m *Machine) Page(s Step, arc *program.Arc) (string, error) {
	r := m.run(s.Situation, s.Slots, false)
	text, err := m.page(r, arc)
	if err != nil {
		return "", err
	}
	return said(s.Say, text), nil
}

// Render is the page of a situation.
func (m *Machine) Render(at Situation) (string, error) {
	return m.page(m.run(at, value.Value{}, false), nil)
}

// said puts what was said above a page.
func said(say, page string) string {
	if say != "" && page != "" {
		return say + "\n\n" + page
	}
	return say + page
}

// Env is what expressions of a scope see in a situation.
func (m *Machine) Env(at Situation, scope *program.Scope, slots value.Value) *expr.Env {
	return m.run(at, slots, false).env(scope)
}

// Whole reports a key of the world that the story declares to be a whole number.
func (m *Machine) Whole(key string) bool { return m.types[key] == "int" }

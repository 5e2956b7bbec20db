package machine

import (
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// emitted follows intents that effects let follow, each with what it lets follow itself.
func (m *Machine) emitted(r *run, list []emit, depth int) error {
	if len(list) == 0 {
		return nil
	}
	if depth >= MaxEmits {
		return fault.New(CodeEmits, "story.emit", "intents follow from intents more than %d deep, in state %q", MaxEmits, r.state).
			WithHint("look for states whose emit_intent leads back to each other")
	}
	if (depth > 0 || !m.allHidden(r.state, list)) && m.stops(r) {
		r.gate("human", "", true)
		return nil
	}
	if m.isGate(r, r.state) {
		r.gate("default", list[0].name, false)
	}
	for _, e := range list {
		if err := m.followEmit(r, e, depth); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) gate(decider, chosen string, bailed bool) {
	var names []value.Value
	for _, n := range r.m.Names(r.state) {
		names = append(names, value.Of(n))
	}
	r.event("machine.gate_decided", fields{
		"state": value.Of(r.state), "available_intents": value.NewList(names...), "decider": value.Of(decider),
		"chosen_intent": value.Of(chosen), "bailed_to_human": value.Of(bailed),
	})
}

func (m *Machine) followEmit(r *run, e emit, depth int) error {
	search := r.state
	if par, ok := parallelOf(r.state); ok {
		search = ""
		for s := range m.up(par.root) {
			if on := find(s, e.name); on != nil || find(s, "*") != nil {
				search = par.root
				break
			}
		}
		if search == "" {
			return nil // no region may lead the others
		}
	}
	slots := r.slots
	r.slots, r.envs = e.slots, nil
	defer func() { r.slots, r.envs = slots, nil }()
	name := m.alias(search, e.name)
	arc, owner, _, err := m.arc(r, search, name)
	if err != nil {
		return err
	}
	if arc == nil {
		return fault.New(CodeEmit, "story.emit", "emit_intent %q in state %q: no arc takes it", e.name, r.state).
			WithHint("give the state an on: %s, or a guard that holds", e.name)
	}
	from := r.state
	_, to, err := m.destination(r, arc, owner, true)
	if err != nil {
		return err
	}
	r.event("machine.transition", fields{
		"from": value.Of(from), "to": value.Of(to), "intent": value.Of(name), "slots": r.slots, "synthetic": value.Of(true),
	})
	if err := r.effects(arc.Effects); err != nil {
		return err
	}
	if to != from {
		if err := r.enter(entering(from, to)); err != nil {
			return err
		}
	}
	r.moved(from, to)
	r.state = to
	return m.emitted(r, r.takeEmits(), depth+1)
}

func (m *Machine) allHidden(state string, list []emit) bool {
	for _, e := range list {
		if i := m.Intent(state, m.alias(state, e.name)); i == nil || !i.Hidden {
			return false
		}
	}
	return true
}

// stops reports a gate at which a person decides.
func (m *Machine) stops(r *run) bool {
	decider := ""
	if s := m.story.States[r.state]; s != nil {
		decider = s.Decider
	}
	switch decider {
	case "human":
		return m.isGate(r, r.state)
	case "llm":
		return false
	}
	return r.staged && m.isGate(r, r.state)
}

// isGate reports a state with a choice that leads on and that it does not make itself.
func (m *Machine) isGate(r *run, state string) bool {
	s := m.story.States[state]
	if s == nil {
		return false
	}
	own := map[string]bool{}
	for _, e := range s.OnEnter {
		if e.EmitIntent != nil {
			own[m.alias(state, strings.TrimSpace(e.EmitIntent.Source()))] = true
		}
	}
	at := r.at()
	at.State = state
	q := m.run(at, value.Value{}, false)
	for _, name := range m.Names(state) {
		if !own[name] && m.leadsOn(q, state, name) {
			return true
		}
	}
	return false
}

// leadsOn reports that an intent is taken and leads to another state of the story.
func (m *Machine) leadsOn(q *run, state, name string) bool {
	arc, owner, _, err := m.arc(q, state, name)
	if err != nil || arc == nil {
		return false
	}
	raw := strings.TrimSpace(arc.Target.Raw)
	if strings.HasPrefix(raw, "@exit") || strings.HasPrefix(raw, "__exit__") {
		return false
	}
	if arc.Target.Template != nil {
		t := arc.Target.Template
		if arc.Target.Small != nil {
			t = arc.Target.Small
		}
		if text, err := t.Text(q.env(arc.Scope)); err == nil {
			raw = strings.TrimSpace(text)
		}
	}
	to := arc.Target.Path
	if to == "" {
		to = Resolve(owner, raw)
	}
	return to != state
}

// Gate reports whether a situation is one in which somebody decides.
func (m *Machine) Gate(at Situation) bool {
	return m.isGate(m.run(at, value.Value{}, false), at.State)
}

// Settle asks again what the state that a story stands in lets follow, now that calls have
// changed the world.
func (m *Machine) Settle(at Situation, staged bool) (Step, error) {
	r := m.run(at, value.Value{}, staged)
	s := m.story.States[at.State]
	if s == nil {
		return r.step(""), nil
	}
	for _, e := range s.OnEnter {
		if e.EmitIntent == nil {
			continue
		}
		if e.When != nil {
			ok, err := e.When.Bool(r.env(e.Scope))
			if err != nil {
				return Step{}, fault.Wrap(err, CodeEffect, "story.settle", "the guard of emit_intent in state %s", at.State)
			}
			if !ok {
				continue
			}
		}
		if err := r.emit(e); err != nil {
			return Step{}, err
		}
	}
	if err := m.emitted(r, r.takeEmits(), 0); err != nil {
		return Step{}, err
	}
	return r.step(""), nil
}

// An Application says how effects are applied outside of a turn.
type Application struct {
	Force bool // also those that run once
	Slots value.Value
}

// Apply applies effects in a situation, and follows what they let follow.
func (m *Machine) Apply(at Situation, effects []*program.Effect, a Application) (Step, error) {
	r := m.run(at, a.Slots, false)
	r.force = a.Force
	if err := r.effects(effects); err != nil {
		return Step{}, err
	}
	emits := r.takeEmits()
	if r.state != "" {
		if err := m.emitted(r, emits, 0); err != nil {
			return Step{}, err
		}
	}
	return r.step(""), nil
}

package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// up ranges over a state and those that it is in, the innermost first.
func (m *Machine) up(path string) func(yield func(*program.State) bool) {
	return func(yield func(*program.State) bool) {
		for s := m.story.States[path]; s != nil; s = s.Parent {
			if !yield(s) {
				return
			}
		}
	}
}

// leaves are the states that a story stands in: one, or one a region.
func leaves(state string) []string {
	if par, ok := parallelOf(state); ok {
		return par.leaves
	}
	return []string{state}
}

// alias is what the whole story calls an intent that is named in words of an import.
func (m *Machine) alias(state, name string) string {
	for s := range m.up(state) {
		if to := s.Aliases[name]; to != "" {
			return to
		}
	}
	return name
}

func find(s *program.State, intent string) *program.On {
	for i := range s.On {
		if s.On[i].Intent == intent {
			return &s.On[i]
		}
	}
	return nil
}

// arc is the arc that takes an intent, and the state that owns it. Where the level that
// has the intent refuses it, none further up is asked.
func (m *Machine) arc(r *run, leaf, intent string) (*program.Arc, *program.State, string, error) {
	for s := range m.up(leaf) {
		on := find(s, intent)
		if on == nil || len(on.Arcs) == 0 {
			on = find(s, "*")
		}
		if on == nil || len(on.Arcs) == 0 {
			continue
		}
		hint := ""
		for _, a := range on.Arcs {
			if a.Default || a.When == nil {
				return a, s, "", nil
			}
			ok, err := a.When.Bool(r.env(a.Scope))
			if err != nil {
				return nil, s, "", fault.Wrap(err, CodeEffect, "story.turn", "the guard at %s:%d", a.Pos.File, a.Pos.Line)
			}
			if ok {
				return a, s, "", nil
			}
			if hint == "" {
				hint = a.Hint
			}
		}
		return nil, s, hint, nil
	}
	return nil, nil, "", nil
}

// Names are the intents that a state takes, and the words by which imports know them;
// sorted.
func (m *Machine) Names(state string) []string {
	seen := map[string]bool{}
	for _, leaf := range leaves(state) {
		for s := range m.up(leaf) {
			for _, on := range s.On {
				if on.Intent != "*" {
					seen[on.Intent] = true
				}
			}
		}
		for again := !isParallel(state); again; {
			again = false
			for s := range m.up(leaf) {
				for bare, folded := range s.Aliases {
					if seen[folded] && !seen[bare] {
						seen[bare], again = true, true
					}
				}
			}
		}
	}
	names := make([]string, 0, len(seen))
	for n := range seen {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func (m *Machine) wildcard(state string) bool {
	for _, leaf := range leaves(state) {
		for s := range m.up(leaf) {
			if find(s, "*") != nil {
				return true
			}
		}
	}
	return false
}

// Intent is what an intent means in a state, or nil.
func (m *Machine) Intent(state, name string) *program.Intent {
	for _, leaf := range leaves(state) {
		for s := range m.up(leaf) {
			if i := s.Intents[name]; i != nil {
				return i
			}
		}
	}
	return m.story.Intents[name]
}

// validate says why an intent is not taken, before any guard; and fills in defaults.
func (m *Machine) validate(r *run, name string) *Rejection {
	names := m.Names(r.state)
	if !slices.Contains(names, name) && !m.wildcard(r.state) {
		return &Rejection{Code: NotAllowed, Message: fmt.Sprintf("intent %q is not allowed in state %q", name, r.state), Allowed: names}
	}
	intent := m.Intent(r.state, name)
	if intent == nil {
		return nil
	}
	var missing []string
	for _, slot := range intent.SlotOrder {
		def := intent.Slots[slot]
		val, present := r.slots.Get(slot)
		if def.Required && val.IsNil() {
			missing = append(missing, slot)
			continue
		}
		if !present && def.HasDefault {
			val, present = def.Default, true
			r.slots, r.envs = r.slots.With(slot, val), nil
		}
		if text := spelled(val); present && len(def.Values) > 0 && !slices.Contains(def.Values, text) {
			return &Rejection{Code: InvalidSlot, Message: fmt.Sprintf("slot %q value %q is not one of %v", slot, text, def.Values)}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return &Rejection{Code: MissingSlots, Message: fmt.Sprintf("intent requires slots: %v", missing), Missing: missing}
	}
	return nil
}

// Check says why a state would not take an intent, before any guard; nil where it would.
func (m *Machine) Check(at Situation, in Input) *Rejection {
	return m.validate(m.run(at, in.Slots, false), m.alias(at.State, in.Intent))
}

// spelled is a slot's value as enums have it.
func spelled(v value.Value) string {
	if v.IsNil() {
		return "<nil>"
	}
	return v.Text()
}

// An Allowed is an intent that a state takes and that has a definition.
type Allowed struct {
	Name   string
	Intent *program.Intent
}

// Allowed are the intents of a state that have a definition, the most urgent first.
func (m *Machine) Allowed(state string) []Allowed {
	var list []Allowed
	for _, n := range m.Names(state) {
		if i := m.Intent(state, n); i != nil {
			list = append(list, Allowed{n, i})
		}
	}
	slices.SortStableFunc(list, func(a, b Allowed) int {
		if a.Intent.Priority != b.Intent.Priority {
			return b.Intent.Priority - a.Intent.Priority
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

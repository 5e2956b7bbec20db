package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// enterParallel is where a story stands when it goes to a parallel state.
func (m *Machine) enterParallel(r *run, s *program.State) (string, error) {
	p := parallel{root: s.Path}
	for _, name := range regionNames(s) {
		leaf, err := m.leaf(r, s.Path+"."+name)
		if err != nil {
			return "", err
		}
		p.leaves = append(p.leaves, leaf)
	}
	return p.String(), nil
}

// A regions is a turn within a parallel state.
type regions struct {
	par   parallel
	names []string
	leaf  map[string]string // by region
}

func (m *Machine) regions(par parallel) *regions {
	g := &regions{par: par, leaf: map[string]string{}}
	if s := m.story.States[par.root]; s != nil {
		g.names = regionNames(s)
	}
	for _, leaf := range par.leaves {
		g.leaf[par.region(leaf)] = leaf
	}
	return g
}

func (g *regions) state() string {
	p := parallel{root: g.par.root}
	for _, name := range g.names {
		if leaf := g.leaf[name]; leaf != "" {
			p.leaves = append(p.leaves, leaf)
		}
	}
	return p.String()
}

// turnParallel lets the first region take an intent that takes it; the others hear of what
// it emits.
func (m *Machine) turnParallel(r *run, par parallel, name string) (Step, error) {
	g := m.regions(par)
	var arc *program.Arc
	var owner *program.State
	region, hint := "", ""
	for _, region = range g.names {
		a, o, h, err := m.arc(r, g.leaf[region], name)
		if err != nil {
			return Step{}, err
		}
		if a != nil {
			arc, owner = a, o
			break
		}
		if hint == "" {
			hint = h
		}
	}
	if arc == nil {
		r.reject(&Rejection{Code: GuardFailed, Message: fmt.Sprintf("no transition matched for intent %q in parallel state %q", name, par.root), Hint: hint}, name, false)
		return r.step(name), nil
	}
	_, to, err := m.destination(r, arc, owner, false)
	if err != nil {
		return Step{}, err
	}
	if err := m.moveRegion(r, g, region, arc, to, name); err != nil {
		return Step{}, err
	}
	step := r.step(name)
	step.Arc = arc
	if !step.Binds() {
		step.View, err = m.Page(step, arc)
	}
	return step, err
}

func (m *Machine) moveRegion(r *run, g *regions, region string, arc *program.Arc, to, name string) error {
	from, was := r.state, g.leaf[region]
	left := to != g.par.root && !strings.HasPrefix(to, g.par.root+".")
	first := len(r.events)
	if err := r.effects(arc.Effects); err != nil {
		return err
	}
	r.takeEmits() // no region may lead the others
	if !left && to != was {
		if err := r.enter(below(was, to)); err != nil {
			return err
		}
		r.takeEmits()
	}
	r.state = to
	if !left {
		g.leaf[region] = to
		if err := m.hear(r, g, region, append(emitNames(arc.Effects), arc.Emit...), 0); err != nil {
			return err
		}
		r.state = g.state()
	}
	r.events = slices.Insert(r.events, first, Event{Kind: "machine.transition", Payload: value.Owned(fields{
		"from": value.Of(from), "to": value.Of(r.state), "intent": value.Of(name), "slots": r.slots,
	})})
	switch {
	case left:
		r.event("machine.state_exited", fields{"state": value.Of(g.par.root)})
		for _, p := range below(g.par.root, to) {
			r.event("machine.state_entered", fields{"state": value.Of(p)})
		}
	case was != to:
		r.moved(was, to)
	}
	return nil
}

func emitNames(list []*program.Effect) []string {
	var names []string
	for _, e := range list {
		names = append(names, e.Emit...)
	}
	return names
}

// hear lets the other regions hear of what one emits, and of what they emit themselves.
func (m *Machine) hear(r *run, g *regions, origin string, names []string, depth int) error {
	if depth >= MaxEmits {
		return fault.New(CodeEmits, "story.emit", "regions answer one another more than %d deep, in state %q", MaxEmits, g.par.root).
			WithHint("look for arcs whose emit leads back to each other")
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		type echo struct {
			region string
			names  []string
		}
		var echoes []echo
		for _, region := range g.names {
			if region == origin || g.leaf[region] == "" {
				continue
			}
			more, err := m.hearOne(r, g, region, name)
			if err != nil {
				return err
			}
			for _, n := range more {
				echoes = append(echoes, echo{region, []string{n}})
			}
		}
		for _, e := range echoes {
			if err := m.hear(r, g, e.region, e.names, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Machine) hearOne(r *run, g *regions, region, name string) ([]string, error) {
	was := g.leaf[region]
	arc, owner, _, err := m.arc(r, was, name)
	if err != nil || arc == nil {
		return nil, err
	}
	_, to, err := m.destination(r, arc, owner, false)
	if err != nil {
		return nil, err
	}
	if err := r.effects(arc.Effects); err != nil {
		return nil, err
	}
	if to != was {
		if err := r.enter(below(was, to)); err != nil {
			return nil, err
		}
		r.moved(was, to)
	}
	r.takeEmits()
	g.leaf[region] = to
	return append(emitNames(arc.Effects), arc.Emit...), nil
}

package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

type fields = map[string]value.Value

// A run gathers one step. It lives for one call.
type run struct {
	m         *Machine
	from      string
	state     string
	stage     *expr.Stage // the world
	slots     value.Value
	staged    bool
	force     bool // effects that run once run again
	events    []Event
	calls     []Call
	say       []string
	emits     []emit
	rejection *Rejection
	envs      map[*program.Scope]*expr.Env // over the stage and these slots
	changed   bool                         // the world, since the run began
}

// An emit is an intent that follows from an effect.
type emit struct {
	name  string
	slots value.Value
}

func (m *Machine) run(at Situation, slots value.Value, staged bool) *run {
	if slots.IsNil() {
		slots = value.NewMap(nil)
	}
	return &run{m: m, from: at.State, state: at.State, stage: at.looked().scene.Stage(), slots: slots, staged: staged}
}

// looked is at with the scene of its world.
func (at Situation) looked() Situation {
	if at.scene == nil || !at.scene.World().Same(at.World) {
		at.scene = expr.NewScene(at.World)
	}
	return at
}

// at is where the run stands now.
func (r *run) at() Situation {
	return Situation{State: r.state, World: r.stage.World(), scene: r.stage.Scene()}
}

func (r *run) key(name string) value.Value {
	v, _ := r.stage.World().Get(name)
	return v
}

func (r *run) set(key string, v value.Value) {
	r.stage.Set(key, v)
	if !r.changed {
		r.changed, r.envs = true, nil // from here on the stage shows the same envs what changes
	}
}

// env is what a scope sees: its own keys under their own names, over all others. It is to
// be used before the next set.
func (r *run) env(scope *program.Scope) *expr.Env {
	if e, ok := r.envs[scope]; ok {
		return e
	}
	e := r.stage.Env(r.m.namesOf(scope), r.slots)
	if r.envs == nil {
		r.envs = map[*program.Scope]*expr.Env{}
	}
	r.envs[scope] = e
	return e
}

// namesOf is what a part of the story calls keys of the world.
func (m *Machine) namesOf(scope *program.Scope) *expr.Names {
	if scope == nil || len(scope.Keys) == 0 {
		return nil
	}
	if n, ok := m.names.Load(scope); ok {
		return n.(*expr.Names) //nolint:forcetypeassert // it holds nothing else
	}
	n, _ := m.names.LoadOrStore(scope, expr.NewNames(scope.Keys))
	return n.(*expr.Names) //nolint:forcetypeassert // it holds nothing else
}

func (r *run) event(kind string, payload fields) {
	r.events = append(r.events, Event{Kind: kind, Payload: value.Owned(payload)})
}

func (r *run) reject(rej *Rejection, intent string, message bool) {
	r.rejection = rej
	f := fields{"code": value.Of(string(rej.Code)), "intent": value.Of(intent), "state": value.Of(plainState(r.state))}
	if message {
		f["message"] = value.Of(rej.Message)
	} else {
		f["guard_hint"] = value.Of(rej.Hint)
	}
	r.event("machine.validation_failed", f)
}

func (r *run) step(intent string) Step {
	return Step{
		Situation: r.at(), From: r.from, Intent: intent, Slots: r.slots,
		Events: r.events, Calls: r.calls, Say: strings.Join(r.say, "\n"), Rejection: r.rejection,
	}
}

// moved says which states were left and entered.
func (r *run) moved(from, to string) {
	for _, p := range leaving(from, to) {
		r.event("machine.state_exited", fields{"state": value.Of(p)})
	}
	for _, p := range entering(from, to) {
		r.event("machine.state_entered", fields{"state": value.Of(p)})
	}
}

func (r *run) enter(paths []string) error {
	for _, p := range paths {
		if s := r.m.story.States[p]; s != nil {
			if err := r.effects(s.OnEnter); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) takeEmits() []emit {
	all := r.emits
	r.emits = nil
	return all
}

// effects applies a list of effects in order.
func (r *run) effects(list []*program.Effect) error {
	for _, e := range list {
		if err := r.effect(e); err != nil {
			return fault.Wrap(err, CodeEffect, "story.effect", "%s:%d", e.Pos.File, e.Pos.Line)
		}
	}
	return nil
}

func (r *run) effect(e *program.Effect) error {
	if e.When != nil {
		ok, err := e.When.Bool(r.env(e.Scope))
		switch {
		case err != nil && e.EmitIntent != nil:
			return nil // what it waits for is not bound yet: it is asked again when it is
		case err != nil:
			return err
		case !ok:
			return nil
		}
	}
	var err error
	switch e.Kind {
	case program.Set:
		err = r.assign(e)
	case program.Increment:
		for _, c := range e.Increment {
			n, _ := r.key(c.Key).Float()
			r.set(c.Key, value.Of(int64(n)+c.By))
			r.event("world.update", fields{"increment": value.Owned(fields{c.Key: value.Of(c.By)})})
		}
	case program.Say:
		var text string
		if text, err = e.Say.Text(r.env(e.Scope)); err == nil {
			r.say = append(r.say, text)
			r.event("machine.say", fields{"text": value.Of(text)})
		}
	case program.Invoke:
		if r.cached(e) {
			r.event("world.update", fields{"namespace": value.Of(e.Invoke), "skipped": value.Of("cached")})
			return nil
		}
		err = r.call(e)
	}
	if err != nil {
		return err
	}
	return r.emit(e)
}

// assign renders all keys against the world before, then sets them.
func (r *run) assign(e *program.Effect) error {
	vals := make([]value.Value, len(e.Set))
	for i, a := range e.Set {
		v, err := Fill(a.Value, r.env(e.Scope))
		if err != nil {
			return err
		}
		vals[i] = v
	}
	for i, a := range e.Set {
		r.set(a.Key, r.m.coerce(a.Key, vals[i]))
		r.event("world.update", fields{"set": value.Owned(fields{a.Key: vals[i]})})
	}
	return nil
}

// coerce gives a text that a template made the type of its key.
func (m *Machine) coerce(key string, v value.Value) value.Value {
	if v.Kind() != value.String {
		return v
	}
	s := v.Str()
	switch m.types[key] {
	case "bool":
		if s == "true" || s == "false" {
			return value.Of(s == "true")
		}
	case "int":
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return value.Of(n)
		}
	case "float":
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return value.Of(f)
		}
	}
	return v
}

// cached reports a call that runs once and did.
func (r *run) cached(e *program.Effect) bool {
	if !e.Once || r.force || len(e.Bind) == 0 {
		return false
	}
	return !slices.ContainsFunc(e.Bind, func(b program.Bind) bool { return r.key(b.Key).Empty() })
}

func (r *run) call(e *program.Effect) error {
	args, err := Args(e, r.env(e.Scope))
	if err != nil {
		return err
	}
	r.calls = append(r.calls, Call{Effect: e, Args: args, World: r.stage.World(), Slots: r.slots})
	r.event("harness.called", fields{"namespace": value.Of(e.Invoke), "args": args, "background": value.Of(e.Background)})
	return nil
}

// Args are the arguments of a call, rendered over env.
func Args(e *program.Effect, env *expr.Env) (value.Value, error) {
	args := value.NewMap(nil)
	if e.With != nil {
		v, err := Fill(e.With, env)
		if err != nil {
			return v, err
		}
		args = v
	}
	if e.ID != "" {
		args = args.With("call", value.Of(e.ID))
	}
	return args, nil
}

// Fill renders a tree of templates over env.
func Fill(t *program.Tree, env *expr.Env) (value.Value, error) {
	switch t.Kind {
	case program.TreeTemplate:
		return t.Template.Value(env)
	case program.TreeList:
		items := make([]value.Value, len(t.List))
		for i, it := range t.List {
			v, err := Fill(it, env)
			if err != nil {
				return v, err
			}
			items[i] = v
		}
		return value.NewList(items...), nil
	case program.TreeMap:
		m := make(fields, len(t.Map))
		for name, it := range t.Map {
			v, err := Fill(it, env)
			if err != nil {
				return v, fmt.Errorf("%s: %w", name, err)
			}
			m[name] = v
		}
		return value.NewMap(m), nil
	}
	return t.Literal, nil
}

// emit notes the intent that an effect lets follow.
func (r *run) emit(e *program.Effect) error {
	if e.EmitIntent == nil {
		return nil
	}
	env := r.env(e.Scope)
	name, err := e.EmitIntent.Text(env)
	if err != nil {
		return err
	}
	if !e.EmitIntent.Plain() {
		name = strings.TrimSpace(name)
	}
	if name == "" {
		return nil
	}
	slots := value.NewMap(nil)
	if e.Slots != nil {
		if slots, err = Fill(e.Slots, env); err != nil {
			return err
		}
	}
	r.emits = append(r.emits, emit{name: name, slots: slots})
	return nil
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

type fields = map[string]value.Value

// A turn is one while it runs. What it did counts when finish takes it.
type turn struct {
	s       *Session
	turn    int
	from    string
	at      machine.Situation
	view    string
	events  []Event
	problem string // what went wrong beside the story, last

	proposal value.Value // what the calls of a proposal see of it; nil in any other turn
	last     Result      // of the last call
}

func (s *Session) begin(from string) *turn {
	return &turn{s: s, turn: s.turn + 1, from: from, at: s.at}
}

// finish takes what a turn did: the events of it, and nothing else. Events stand in the
// state that the turn began in, but those that name one themselves.
func (s *Session) finish(t *turn) {
	for i := range t.events {
		t.events[i].Seq = i
	}
	s.turn = t.turn
	s.at = s.fold(s.at, t.events)
	s.trace = append(s.trace, t.events...)
}

func (t *turn) event(kind string, payload fields) {
	t.add([]machine.Event{{Kind: kind, Payload: value.Owned(payload)}})
}

func (t *turn) add(list []machine.Event) {
	for _, e := range list {
		state := t.from
		if e.Kind == "machine.state_exited" || e.Kind == "machine.state_entered" {
			if named, _ := e.Payload.Get("state"); named.Str() != "" {
				state = named.Str()
			}
		}
		t.events = append(t.events, Event{Turn: t.turn, Kind: e.Kind, State: state, Payload: e.Payload})
	}
}

func (t *turn) set(key string, v value.Value) {
	t.at.World = t.at.World.With(key, v)
	t.event("world.update", fields{"set": value.Owned(fields{key: v})})
}

// calls makes the calls of a step, in order, and follows the first that fails and says
// where to go then. depth counts redirects. What cannot be followed is a problem of the
// turn, which goes on where it stands; only the end of the context is an error.
func (t *turn) calls(ctx context.Context, list []machine.Call, depth int) (redirected bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	applied, cost := false, 0.0
	binds := fields{}
	var redirect *program.Target
	for _, c := range list {
		if c.Effect.Background {
			if err := t.submit(ctx, c); err != nil {
				return false, err
			}
			applied = true
			continue
		}
		changed, failed, paid, err := t.call(ctx, c, binds)
		if err != nil {
			return false, err
		}
		applied, cost = applied || changed, cost+paid
		if failed && c.Effect.OnError != nil {
			redirect = c.Effect.OnError
			break
		}
	}
	if t.pay(cost) {
		applied = true
	}
	if redirect != nil {
		stood, view := t.at.State, t.view
		redirected, err := t.redirect(ctx, redirect, depth)
		if err == nil && !redirected {
			t.at.State, t.view = stood, view
		}
		return redirected, err
	}
	if applied {
		t.show(t.s.machine.Render(t.at))
	}
	return false, nil
}

// show takes a page that was rendered again. One that cannot be rendered leaves the one
// before, and is a problem.
func (t *turn) show(view string, err error) {
	switch {
	case err != nil:
		t.problem = problemOf(err)
	case view != "":
		t.view = view
	}
}

// call makes one call and binds what it says.
func (t *turn) call(ctx context.Context, c machine.Call, binds fields) (applied, failed bool, cost float64, err error) {
	e := c.Effect
	args, fellBack := t.args(c, binds)
	t.event("harness.dispatched", fields{
		"namespace": value.Of(e.Invoke), "args": args, "rerender_fell_back": value.Of(fellBack), "background": value.Of(false),
	})
	res, callErr := t.s.handlers.Call(ctx, Request{Handler: e.Invoke, Args: args, State: t.at.State, World: t.at.World, Agent: e.Agent, Dir: dirOf(e)})
	if ctx.Err() != nil {
		return false, false, 0, ctx.Err()
	}
	t.last = res
	if callErr != nil {
		message := problemOf(callErr)
		t.last = Result{Error: message}
		t.failure(e, message, value.Value{})
		t.event("harness.returned", fields{"namespace": value.Of(e.Invoke), "error": value.Of(message)})
		return true, true, 0, nil
	}
	if res.Error != "" {
		t.failure(e, res.Error, res.Data)
		applied = true
	}
	for _, b := range e.Bind {
		if v, ok := t.bound(b, c, res); ok {
			binds[b.Key] = v
			t.set(b.Key, v)
			applied = true
		}
	}
	back := fields{"namespace": value.Of(e.Invoke)}
	if res.Error != "" {
		back["error"] = value.Of(res.Error)
	}
	if !res.Data.IsNil() {
		back["data"] = res.Data
	}
	t.event("harness.returned", back)
	return applied, res.Error != "", res.Cost, nil
}

func dirOf(e *program.Effect) string {
	if e.Scope == nil {
		return ""
	}
	return e.Scope.Dir
}

// problemOf is what a story sees of an error: what was wrong, without our operation.
func problemOf(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Err == nil {
		return f.Message
	}
	return err.Error()
}

func (t *turn) failure(e *program.Effect, message string, data value.Value) {
	t.set("last_error", value.Of(message))
	what := fields{"namespace": value.Of(e.Invoke), "message": value.Of(message)}
	if !data.IsNil() {
		what["data"] = data
		for _, name := range []string{"stderr", "exit_code"} {
			if v, ok := data.Get(name); ok {
				what[name] = v
			}
		}
	}
	t.set("host_error", value.NewMap(what))
}

// args renders a call's arguments again: over the world that the effect saw, with what
// calls before it have bound. A leaf that cannot be rendered keeps what it was.
func (t *turn) args(c machine.Call, binds fields) (args value.Value, fellBack bool) {
	if c.Effect.With == nil && c.Effect.IDTemplate == nil {
		return c.Args, false
	}
	env := t.s.machine.Env(machine.Situation{State: t.at.State, World: c.World.Merge(value.NewMap(binds))}, c.Effect.Scope, c.Slots)
	if !t.proposal.IsNil() {
		env = env.With(expr.Proposal, t.proposal)
	}
	args = value.NewMap(nil)
	if c.Effect.With != nil {
		args, fellBack = refill(c.Effect.With, c.Args, env)
	}
	if id := c.Effect.ID; id != "" {
		if c.Effect.IDTemplate != nil {
			text, err := c.Effect.IDTemplate.Text(env)
			if err == nil {
				id = text
			}
			fellBack = fellBack || err != nil
		}
		args = args.With("call", value.Of(id))
	}
	return args, fellBack
}

func refill(tree *program.Tree, was value.Value, env *expr.Env) (value.Value, bool) {
	switch tree.Kind {
	case program.TreeTemplate:
		v, err := tree.Template.Value(env)
		if err != nil {
			return was, true
		}
		return v, false
	case program.TreeList:
		items, fell := make([]value.Value, len(tree.List)), false
		for i, it := range tree.List {
			old, _ := was.At(i)
			var f bool
			items[i], f = refill(it, old, env)
			fell = fell || f
		}
		return value.NewList(items...), fell
	case program.TreeMap:
		m, fell := make(fields, len(tree.Map)), false
		for name, it := range tree.Map {
			old, _ := was.Get(name)
			var f bool
			m[name], f = refill(it, old, env)
			fell = fell || f
		}
		return value.NewMap(m), fell
	}
	return tree.Literal, false
}

func (t *turn) bound(b program.Bind, c machine.Call, res Result) (value.Value, bool) {
	if b.Template != nil {
		env := t.s.machine.Env(t.at, c.Effect.Scope, c.Slots).With(expr.Result, res.Data)
		v, err := b.Template.Value(env)
		return v, err == nil
	}
	if res.Data.IsNil() || b.Path == "" {
		return value.Value{}, false
	}
	return res.Data.Path(b.Path)
}

// pay notes what the calls of a turn cost.
func (t *turn) pay(cost float64) bool {
	was, _ := t.at.World.Get("turn_cost_usd")
	before, _ := was.Float()
	changed := before != cost
	if changed {
		t.set("turn_cost_usd", value.Of(cost))
	}
	if cost > 0 {
		sum, _ := t.at.World.Get("session_cost_usd")
		total, _ := sum.Float()
		t.set("session_cost_usd", value.Of(total+cost))
		changed = true
	}
	return changed
}

// redirect goes where an effect says to go when its call fails.
func (t *turn) redirect(ctx context.Context, target *program.Target, depth int) (bool, error) {
	prior := t.at.State
	if target.Raw == "." {
		return false, nil // stays, and what follows from the state follows
	}
	if depth > MaxRedirects {
		t.event("harness.error", fields{"reason": value.Of("on_error.depth_cap_exceeded"), "prior": value.Of(prior), "target": value.Of(target.Raw), "depth": value.Of(depth), "cap": value.Of(MaxRedirects)})
		t.problem = fmt.Sprintf("on_error leads on more than %d times, from state %q", MaxRedirects, prior)
		return false, nil
	}
	path := target.Path
	if path == "" {
		if owner := t.s.story.States[prior]; owner != nil {
			path = machine.Resolve(owner, target.Raw)
		}
	}
	to := t.s.story.States[path]
	if to == nil {
		t.problem = fmt.Sprintf("on_error leads to %q, which is no state of the story", target.Raw)
		return false, nil
	}
	if path == prior {
		t.view = ""
		t.show(t.s.machine.Render(t.at))
		return true, nil
	}
	t.event("machine.transition", fields{"from": value.Of(prior), "to": value.Of(path), "intent": value.Of("on_error")})
	t.event("machine.state_exited", fields{"state": value.Of(prior)})
	t.event("machine.state_entered", fields{"state": value.Of(path)})
	t.at.State, t.view = path, ""
	ok, err := t.arriveOnError(ctx, to, depth)
	if err != nil || !ok {
		return false, err
	}
	if t.view == "" {
		t.show(t.s.machine.Render(t.at))
	}
	return true, nil
}

// arriveOnError runs what a state does when it is entered, within a redirect; ok says that
// all of it could be followed.
func (t *turn) arriveOnError(ctx context.Context, to *program.State, depth int) (ok bool, err error) {
	if len(to.OnEnter) == 0 {
		return true, nil
	}
	step, err := t.s.machine.Apply(t.at, to.OnEnter, machine.Application{})
	if err != nil {
		t.problem = problemOf(err)
		return false, nil
	}
	t.add(step.Events)
	t.at = step.Situation
	stood, before := t.at.State, t.problem
	t.problem = ""
	again, err := t.calls(ctx, step.Calls, depth+1)
	if again && err == nil {
		t.event("machine.transition", fields{"from": value.Of(stood), "to": value.Of(t.at.State), "intent": value.Of("on_error")})
	}
	ok = t.problem == ""
	if ok {
		t.problem = before
	}
	return ok, err
}

// warned is a page with what failed below it.
func (t *turn) warned() {
	message, _ := t.at.World.Get("last_error")
	text := message.Str()
	if text == "" || strings.Contains(t.view, text) {
		return
	}
	if t.view != "" {
		t.view += "\n\n"
	}
	t.view += "⚠ Action failed: " + text
}

// settle asks the state that a turn ended in what follows now, makes the calls of that,
// and asks again.
func (t *turn) settle(ctx context.Context, depth int) error {
	if depth > MaxSettles {
		t.problem = fmt.Sprintf("calls let intents follow that make calls, more than %d times", MaxSettles)
		t.event("harness.error", fields{"phase": value.Of("settle_post_bind_emits"), "depth": value.Of(depth), "max_depth": value.Of(MaxSettles), "error": value.Of(t.problem)})
		return nil
	}
	step, err := t.s.machine.Settle(t.at, t.s.staged)
	if err != nil {
		t.problem = problemOf(err)
		t.event("harness.error", fields{"phase": value.Of("dispatch_post_bind_emits"), "error": value.Of(t.problem)})
		return nil
	}
	if len(step.Events) == 0 {
		return nil
	}
	t.add(step.Events)
	t.at = step.Situation
	if len(step.Calls) > 0 {
		if _, err := t.calls(ctx, step.Calls, 0); err != nil {
			return err
		}
		if err := t.settle(ctx, depth+1); err != nil {
			return err
		}
	}
	view, err := t.s.machine.Render(t.at)
	if err == nil && view != "" {
		view = said(step.Say, view)
	}
	t.show(view, err)
	return nil
}

// said puts what was said above a page.
func said(say, page string) string {
	if say == "" {
		return page
	}
	return say + "\n\n" + page
}

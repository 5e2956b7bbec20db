package flow

import (
	"context"
	"path"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
)

// alone runs a flow on the machine: no call is made.
func (r *runner) alone(ctx context.Context) error {
	m := r.o.Machine
	rec, err := r.recording(ctx)
	if err != nil {
		return err
	}
	at := machine.Situation{State: r.f.State, World: m.World().Merge(r.f.World)}
	for i, t := range r.f.Turns {
		in, err := intended(rec, at.State, t)
		if err != nil {
			return fault.Wrap(err, CodeFlow, "story.test", "turn %d", i+1)
		}
		at.World = at.World.Merge(t.Override)
		step, err := m.Turn(at, in)
		if err != nil {
			return fault.Wrap(err, CodeFlow, "story.test", "turn %d", i+1)
		}
		events := make([]engine.Event, len(step.Events))
		for k, e := range step.Events {
			events[k] = engine.Event{Kind: e.Kind, Seq: k, Payload: e.Payload}
		}
		r.all = append(r.all, events...)
		tr := TurnResult{Index: i, Line: t.Pos.Line, Events: events, State: at.State}
		if t.Error != nil {
			r.rejection(&tr, t.Error, step.Rejection)
			tr.Allowed = names(m, at.State)
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

// recording is that of the flow, or nil.
func (r *runner) recording(ctx context.Context) (*recording, error) {
	name := r.f.Recording
	if name == "" {
		return nil, nil
	}
	if r.o.Files == nil {
		return nil, fault.New(CodeFlow, "story.test", "the flow has the recording %q, and this run reads no files", name)
	}
	at := name
	if !path.IsAbs(at) {
		at = path.Join(path.Dir(r.f.File), at)
	}
	raw, err := r.o.Files.Read(ctx, at)
	if err != nil {
		return nil, err
	}
	return readRecording(name, raw)
}

// intended is the intent of a turn: its own, or what the recording knows of its input.
func intended(rec *recording, state string, t Turn) (machine.Input, error) {
	switch {
	case t.HasIntent:
		return machine.Input{Intent: t.Intent, Slots: t.Slots}, nil
	case t.Input == "":
		return machine.Input{}, fault.New(CodeFlow, "story.test", "it has neither an intent nor an input")
	case rec == nil:
		return machine.Input{}, fault.New(CodeFlow, "story.test", "the input %q needs a recording, and the flow names none", t.Input).WithHint("give the fixture a recording:, or the turn an intent:")
	}
	m, err := rec.find(state, t.Input)
	if err != nil {
		return machine.Input{}, err
	}
	if m.clarify {
		return machine.Input{}, fault.New(CodeRecording, "story.test", "the recording says that %q fits no intent: %s", t.Input, m.message)
	}
	return machine.Input{Intent: m.intent, Slots: m.slots}, nil
}

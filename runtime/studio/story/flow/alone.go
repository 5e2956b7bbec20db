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
	at := machine.Situation{State: r.f.State, World: m.World().Merge(r.f.World)}
	for i, t := range r.f.Turns {
		at.World = at.World.Merge(t.Override)
		step, routed, err := r.step(ctx, at, t)
		if err != nil {
			return fault.Wrap(err, CodeFlow, "story.test", "turn %d", i+1)
		}
		events := make([]engine.Event, len(step.Events))
		for k, e := range step.Events {
			events[k] = engine.Event{Kind: e.Kind, Seq: k, Payload: e.Payload}
		}
		r.all = append(r.all, events...)
		tr := TurnResult{Index: i, Line: t.Pos.Line, Events: events, State: at.State, Routed: routed}
		tr.Failures = append(tr.Failures, routed.check(t.RoutedBy)...)
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

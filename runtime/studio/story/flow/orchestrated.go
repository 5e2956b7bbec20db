package flow

import (
	"context"
	"path"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/host"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// engine runs a flow with its calls.
func (r *runner) engine(ctx context.Context) error {
	stubs := &stubs{f: r.f, files: r.o.Files, others: r.o.Others, work: r.o.Work}
	if len(r.f.Bindings) > 0 {
		stubs.desk = &host.Desk{Folder: r.left, Work: r.o.Work, Artifacts: path.Join(r.o.Work, ".artifacts")}
	}
	if err := stubs.open(ctx); err != nil {
		return err
	}
	routes, err := r.router(ctx)
	if err != nil {
		return err
	}
	s := engine.New(engine.Options{Story: r.o.Story, Machine: r.o.Machine, Handlers: stubs, Router: routes, ID: flowID, Staged: r.f.Staged, Start: epoch()})
	stubs.answered = s.Answer
	s.Seed(r.f.State, r.f.World)
	for i, t := range r.f.Turns {
		if t.takes() { // jobs that nothing held back end between two turns
			if err := s.Drain(ctx); err != nil {
				return err
			}
		}
		s.Ended()
		before := s.World()
		out := engine.Outcome{Mode: engine.Transitioned, State: s.State()}
		slots := t.Slots
		if t.takes() {
			var err error
			if slots, err = r.slots(t.Slots, s.World()); err != nil {
				return err
			}
			s.Override(t.Override)
			before = s.World()
			stubs.state = s.State()
			if out, err = r.take(ctx, s, t, slots); err != nil {
				return fault.Wrap(err, CodeFlow, "story.test", "turn %d", i+1)
			}
		} else if !t.Advances {
			return fault.New(CodeFlow, "story.test", "turn %d has neither an intent, nor an input, nor advance_clock", i+1)
		}
		if t.Advance > 0 {
			if err := s.Advance(ctx, t.Advance); err != nil {
				return fault.Wrap(err, CodeFlow, "story.test", "turn %d: advance_clock", i+1)
			}
		}
		r.all = append(r.all, out.Events...)
		tr := TurnResult{Index: i, Line: t.Pos.Line, Events: out.Events, State: s.State(), Allowed: names(r.o.Machine, s.State()), Routed: RoutedOf(out.Route)}
		tr.Failures = append(tr.Failures, tr.Routed.check(t.RoutedBy)...)
		for _, miss := range stubs.take() {
			if !r.o.Forgive {
				tr.Failures = append(tr.Failures, miss)
			}
		}
		if t.Error != nil {
			if out.Mode != engine.Rejected && t.HasIntent {
				out.Rejection = nil // what is missing is asked for
			}
			r.rejection(&tr, t.Error, out.Rejection)
			r.add(tr)
			continue
		}
		if out.Mode == engine.Rejected || out.Mode == engine.Clarify && !t.HasIntent {
			r.failed = true
			tr.Failures = append(tr.Failures, sprintf("unexpected rejection: %s: %s", out.Rejection.Code, out.Rejection.Message))
		}
		if tr.View = out.View; tr.View == "" {
			tr.View, _ = r.o.Machine.Render(machine.Situation{State: s.State(), World: s.World()})
		}
		r.check(&tr, t, checked{state: s.State(), world: s.World(), before: before, view: tr.View, slots: slots, events: out.Events}, false)
		r.inbox(&tr, t, s)
		r.add(tr)
	}
	r.whole(s.State(), s.World())
	if c := stubs.cassette; c != nil {
		r.covered(c.left())
	}
	return nil
}

// takes reports a turn that does something beside waiting.
func (t Turn) takes() bool { return t.HasIntent || t.Input != "" }

func (r *runner) take(ctx context.Context, s *engine.Session, t Turn, slots value.Value) (engine.Outcome, error) {
	if t.HasIntent {
		return s.Turn(ctx, t.Intent, slots, t.Shown)
	}
	out, err := s.Say(ctx, t.Input)
	if err == nil && out.Route != nil {
		err = unasked(*out.Route)
	}
	return out, err
}

// covered tells of episodes that nothing asked for: a failure where the fixture says that
// every one is played.
func (r *runner) covered(left []string) {
	switch {
	case len(left) == 0:
	case r.f.Covers:
		r.flow = append(r.flow, sprintf("episodes of the cassette that nothing asked for: %v", left))
	default:
		r.res.Findings = append(r.res.Findings, load.Finding{Severity: load.Warning, Pos: r.f.Pos, Message: sprintf("episodes of the cassette that nothing asked for: %v", left)})
	}
}

// flowID is the id of a flow's session: always the same, and as long as any.
const flowID = "00000000-0000-4000-8000-000000000000"

package engine

import (
	"context"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/proposal"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// CodeNoProposal is a kind of proposal that the story does not declare.
const CodeNoProposal fault.Code = "STORY_NO_PROPOSAL"

// Propose begins a proposal of a kind with its first draft, in place of one that there is.
// One that its kind accepts by itself is done in the same turn. Who drafts is the caller:
// a model that is given the kind's prompts, or a person.
func (s *Session) Propose(ctx context.Context, kind string, draft value.Value) (Outcome, error) {
	k := s.story.Proposals[kind]
	if k == nil {
		return Outcome{}, fault.New(CodeNoProposal, "story.proposal", "the story has no proposal %q", kind)
	}
	p, err := proposal.New(k, draft)
	if err != nil {
		return Outcome{}, err
	}
	return s.proposing(ctx, k, p, false)
}

// Refine drafts the proposal that there is again, as an answer to feedback.
func (s *Session) Refine(ctx context.Context, draft value.Value, feedback string) (Outcome, error) {
	k, p := s.proposal()
	p, err := p.Refined(k, draft, feedback)
	if err != nil {
		return Outcome{}, err
	}
	return s.proposing(ctx, k, p, false)
}

// Accept does what is proposed.
func (s *Session) Accept(ctx context.Context) (Outcome, error) {
	k, p := s.proposal()
	return s.proposing(ctx, k, p, true)
}

// Drop cancels what is proposed.
func (s *Session) Drop(ctx context.Context) (Outcome, error) {
	k, p := s.proposal()
	p, err := p.Dropped()
	if err != nil {
		return Outcome{}, err
	}
	return s.proposing(ctx, k, p, false)
}

// proposal is what is proposed, with its kind: neither is nil.
func (s *Session) proposal() (*program.Proposal, proposal.Proposal) {
	p := proposal.From(s.at.World)
	k := s.story.Proposals[p.Kind]
	if k == nil {
		return &program.Proposal{}, proposal.Proposal{}
	}
	return k, p
}

// proposing is a turn of a proposal: it now stands as p says, and is done where that is
// accepted.
func (s *Session) proposing(ctx context.Context, k *program.Proposal, p proposal.Proposal, accepted bool) (Outcome, error) {
	t := s.begin(s.at.State)
	t.event("turn.start", fields{"turn": value.Of(t.turn), "kind": value.Of("proposal"), "proposal": value.Of(p.Kind)})
	if !accepted && p.Status == proposal.Reviewing && k.AutoAccept != nil && !k.RequireConfirm {
		yes, err := k.AutoAccept.Bool(s.machine.Env(t.at, k.Scope, value.NewMap(nil)).With(expr.Proposal, p.Value()))
		if err != nil { // then a person looks at it
			t.problem = problemOf(err)
		}
		accepted = yes
	}
	var err error
	if accepted {
		if p, err = t.execute(ctx, k, p); err != nil {
			return Outcome{}, err
		}
	}
	t.set(proposal.Key, p.Value())
	if p.Status == proposal.Done {
		if err := t.succeeded(ctx, k); err != nil {
			return Outcome{}, err
		}
	}
	if t.view == "" {
		t.view = t.shown(k, p)
	}
	t.event("turn.end", fields{"outcome": value.Of(string(Transitioned)), "to": value.Of(t.at.State), "proposal": value.Of(string(p.Status))})
	s.finish(t)
	s.arm(s.at.State)
	return Outcome{Mode: Transitioned, State: s.at.State, View: t.view, Events: t.events, Problem: t.problem, Turn: t.turn, Allowed: s.allowed(s.at)}, nil
}

// execute makes the call of a proposal, or begins the job that does.
func (t *turn) execute(ctx context.Context, k *program.Proposal, p proposal.Proposal) (proposal.Proposal, error) {
	p, err := p.Begun(k)
	if err != nil {
		return p, err
	}
	t.proposal = p.Value()
	c := machine.Call{Effect: k.Execute, Args: value.NewMap(nil), World: t.at.World, Slots: value.NewMap(nil)}
	if k.Execute.Background {
		err := t.submit(ctx, c)
		p.Job = t.s.jobs[len(t.s.jobs)-1].ID
		return p, err
	}
	_, _, cost, err := t.call(ctx, c, fields{})
	if err != nil {
		return p, err
	}
	t.pay(cost)
	return p.Ended(t.last.Data, t.last.Error), nil
}

// succeeded goes where a kind says to go when it is done: it stays, and where it began is
// where it stands, or there is a state.
func (t *turn) succeeded(ctx context.Context, k *program.Proposal) error {
	to := t.s.story.States[under(k.Scope, k.OnSuccess)]
	if k.OnSuccess == "" || k.OnSuccess == "stay" || k.OnSuccess == "back" || to == nil || to.Path == t.at.State {
		return nil
	}
	t.event("machine.transition", fields{"from": value.Of(t.at.State), "to": value.Of(to.Path), "intent": value.Of("on_success")})
	t.event("machine.state_exited", fields{"state": value.Of(t.at.State)})
	t.event("machine.state_entered", fields{"state": value.Of(to.Path)})
	t.at.State = to.Path
	_, err := t.arriveOnError(ctx, to, 0)
	if err == nil && t.view == "" {
		t.show(t.s.machine.Render(t.at))
	}
	return err
}

func under(scope *program.Scope, name string) string {
	if scope == nil || scope.Path == "" {
		return name
	}
	return scope.Path + "." + name
}

// shown is the page of a proposal as it stands, or else of the state.
func (t *turn) shown(k *program.Proposal, p proposal.Proposal) string {
	if page := k.Views[string(p.Status)]; page != nil {
		text, err := page.Text(t.s.machine.Env(t.at, k.Scope, value.NewMap(nil)).With(expr.Proposal, p.Value()))
		if err == nil {
			return text
		}
		t.problem = problemOf(err)
	}
	t.show(t.s.machine.Render(t.at))
	return t.view
}

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// handoff gives the drafts of this turn to the gate, one by one, when the model is
// done. The model takes no part in it.
func (r *run) handoff(ctx context.Context) (*halt, error) {
	for len(r.reviews) > 0 {
		v := r.reviews[0]
		r.o.Output.Label(Label{Phase: Ready, Detail: v.Draft})
		p, err := r.own(ctx, applyTool, ownInput{Draft: v.Draft})
		if err != nil {
			return nil, err
		}
		if h := r.refusedApply(p); h != nil && h.label != Discarded {
			if over := gone(ctx); over != nil {
				h = over
			}
			return h, nil
		} else if h != nil {
			if err := r.discard(ctx, p); err != nil {
				return nil, err
			}
		} else if p.err != nil {
			return r.notApplied(ctx, p)
		}
		if len(r.reviews) > 0 && r.reviews[0].Draft == v.Draft {
			// Neither applied nor discarded: asking again would not end.
			return failed(fault.New(fault.Internal, "agent.handoff", "draft %s is neither applied nor discarded", v.Draft).
				WithHint("Look at it with change.query.")), nil
		}
	}
	return nil, nil
}

// notApplied is an apply that the gate let pass, or could not ask about, and that
// did not happen.
func (r *run) notApplied(ctx context.Context, p *pending) (*halt, error) {
	if h := gone(ctx); h != nil {
		return h, nil
	}
	if fault.CodeOf(p.err) == codeMiss {
		_, err := r.record(ctx, trace.SeamMissed{Message: p.err.Error()})
		return failed(p.err), err
	}
	h := failed(p.err)
	if c := fault.CodeOf(p.err); c == fault.Stale || c == fault.Conflict {
		h.label = Stale
	}
	return h, nil
}

// ownInput is what change.apply and change.discard take.
type ownInput struct {
	Draft  string `json:"draft"`
	Reason string `json:"reason,omitempty"` // of a discard
}

// own makes a call of the loop itself, through the gate like any other.
func (r *run) own(ctx context.Context, id string, in ownInput) (*pending, error) {
	input, err := json.Marshal(in)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "agent.handoff", "encode the call of %s", id)
	}
	p := &pending{call: model.ToolCall{ID: fmt.Sprintf("t%dh%d", r.turn, r.handoffs), Name: tool.Fold(id), Input: string(input)}}
	ev, err := r.record(ctx, trace.ToolCalled{Round: r.round, Index: r.handoffs, Call: p.call.ID, Tool: id, Input: p.call.Input})
	if err != nil {
		return nil, err
	}
	r.handoffs++
	p.req = r.toRequest(p.call.ID, id, input, ev.Seq)
	p.tool, p.known = r.o.Gate.Tool(p.req)
	p.dec = r.o.Gate.Decide(ctx, p.req)
	if err := r.decided(ctx, p); err != nil {
		return nil, err
	}
	return p, r.ended(ctx, p)
}

// refusedApply is the halt of an apply that was asked about and got no yes; nil for
// everything else.
func (r *run) refusedApply(p *pending) *halt {
	if p.tool.ID != applyTool || !p.asked {
		return nil
	}
	switch fault.CodeOf(p.err) {
	case gate.CodeNobody, gate.CodeTimeout:
		return stopped(StopNobody, "%s", words(p.err))
	case gate.CodeDenied:
		if p.answer.By == gate.Person {
			return &halt{label: Discarded}
		}
		return stopped(StopDeclined, "%s", words(p.err))
	}
	return nil
}

// discard drops the draft that a person said no to, without another model request.
func (r *run) discard(ctx context.Context, p *pending) error {
	id := draftOf(p)
	target := r.target(id)
	reason := "a person said no"
	if p.answer.Note != "" {
		reason += ": " + p.answer.Note
	}
	d, err := r.own(ctx, discardTool, ownInput{Draft: id, Reason: reason})
	if err != nil || d.err != nil || d.res.Receipt != nil {
		return err
	}
	return r.settled(ctx, draft.Receipt{Draft: id, Outcome: draft.Discarded, Target: target, Detail: reason})
}

// afterNo ends a turn in which the model itself asked to apply and got no yes. A
// person's no discards that draft, and the others of the turn are handed over; where
// no person said no, the drafts stay open.
func (r *run) afterNo(ctx context.Context, p *pending, h *halt) (*halt, error) {
	if h.label != Discarded {
		return h, nil
	}
	if err := r.discard(ctx, p); err != nil {
		return nil, err
	}
	rest, err := r.handoff(ctx)
	if rest != nil || err != nil {
		return rest, err
	}
	return &halt{label: r.label()}, nil
}

// draftOf is the draft that an apply was about.
func draftOf(p *pending) string {
	if q := p.dec.Question; q != nil && q.Review != nil {
		return q.Review.Draft
	}
	var in ownInput
	_ = json.Unmarshal(p.dec.Request.Input, &in) // it was checked against the schema
	return in.Draft
}

// target is what a draft of this turn is about.
func (r *run) target(id string) store.Ref {
	for _, v := range r.reviews {
		if v.Draft == id {
			kind, id, _ := strings.Cut(v.Target, "/")
			return store.Ref{Kind: kind, ID: id}
		}
	}
	return store.Ref{}
}

package studio

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// Cards makes what a person sees of a call that the gate asks about: the review of a
// draft, the piece that would be gone. It is the gate's Reviewer.
type Cards struct{ d Deps }

// NewCards makes the cards over the same doors as the tools.
func NewCards(d Deps) *Cards { return &Cards{d} }

// Card implements the gate's Reviewer. A draft or a piece that is not there, or that
// the caller may not apply, is an error: nobody is asked about what cannot be done.
func (c *Cards) Card(ctx context.Context, r gate.Request) (gate.Card, error) {
	switch r.Tool {
	case "change.apply":
		return c.apply(ctx, r)
	case "studio.delete":
		return c.delete(ctx, r.Input)
	case "studio.export":
		return c.export(ctx, r.Input)
	}
	return gate.Card{}, nil
}

func (c *Cards) apply(ctx context.Context, r gate.Request) (gate.Card, error) {
	var in DraftIn
	if err := json.Unmarshal(r.Input, &in); err != nil {
		return gate.Card{}, fault.Wrap(err, fault.Invalid, "change.apply", "input does not fit")
	}
	d, err := c.d.Drafts.Get(ctx, in.Draft)
	if err != nil {
		return gate.Card{}, draftMiss(err)
	}
	caller := r.Session
	if r.Skin == tool.CLI {
		caller = d.Owner // a person's yes at the command line hands the draft over
	}
	if err := c.d.Drafts.Ready(caller, d); err != nil {
		return gate.Card{}, err
	}
	review := c.d.Drafts.Review(d)
	return gate.Card{Title: fmt.Sprintf("Apply draft %s to %s?", d.ID, review.Target), Review: &review}, nil
}

func (c *Cards) delete(ctx context.Context, input []byte) (gate.Card, error) {
	var in DeleteIn
	if err := json.Unmarshal(input, &in); err != nil {
		return gate.Card{}, fault.Wrap(err, fault.Invalid, "studio.delete", "input does not fit")
	}
	p, by, err := c.d.doomed(ctx, in)
	if err != nil {
		return gate.Card{}, err
	}
	still := ""
	if len(by) > 0 {
		still = " Still named by " + named(by) + ", which would lead nowhere."
	}
	return gate.Card{Title: fmt.Sprintf("Delete %s (%q, revision %d)?%s Its history stays, and a person can restore it.", p.Ref, plain.Clip(p.Title, 80), p.Revision, still)}, nil
}

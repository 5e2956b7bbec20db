package flow

import (
	"context"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// A Routed is what routing made of the text of a turn.
type Routed struct {
	By         route.Tier   `json:"routed_by,omitempty" jsonschema:"the tier that knew: deterministic, semantic, turncache, default, fallback or llm"`
	Result     route.Result `json:"result" jsonschema:"hit, or why no turn was taken: clarify, ambiguous, refused or unasked"`
	Match      string       `json:"match_type,omitempty" jsonschema:"what of the story it matched"`
	Confidence float64      `json:"confidence,omitempty"`
	Intent     string       `json:"intent,omitempty"`
	Slots      tool.Object  `json:"slots,omitempty" jsonschema:"what the text says of the intent's slots"`
	Candidates []string     `json:"candidates,omitempty" jsonschema:"intents that may be meant"`
	Tried      []route.Tier `json:"tried,omitempty" jsonschema:"tiers that found nothing, in their order"`
}

// RoutedOf is a verdict as reports have it; nil of none.
func RoutedOf(v *route.Verdict) *Routed {
	if v == nil {
		return nil
	}
	r := &Routed{By: v.By, Result: v.Result, Match: v.Match, Confidence: v.Confidence, Intent: v.Intent, Tried: v.Tried}
	if v.Slots.Len() > 0 {
		r.Slots = tool.Object(v.Slots.JSON())
	}
	for _, c := range v.Candidates {
		r.Candidates = append(r.Candidates, c.Intent)
	}
	return r
}

// check says where another tier than wanted found what a text means.
func (r *Routed) check(want string) []string {
	switch {
	case want == "" || r != nil && string(r.By) == want:
		return nil
	case r == nil:
		return []string{sprintf("expect_routed_by: want %q, and the turn names its intent", want)}
	}
	return []string{sprintf("expect_routed_by: %q (%s), want %q", r.By, r.Match, want)}
}

// router routes the texts of a flow. The recording stands for the model.
func (r *runner) router(ctx context.Context) (*route.Router, error) {
	if r.routes != nil {
		return r.routes, nil
	}
	rec, err := r.recording(ctx)
	if err != nil {
		return nil, err
	}
	o := route.Options{Story: r.o.Story, Machine: r.o.Machine, Cache: route.NewMemory()}
	if rec != nil {
		r.rec, o.Model = rec, rec
	}
	r.routes = route.New(o)
	return r.routes, nil
}

// epoch is the time at which every flow begins.
func epoch() time.Time { return time.Unix(0, 0).UTC() }

// step takes a turn on the machine alone: the intent that it names, or what its input
// means.
func (r *runner) step(ctx context.Context, at machine.Situation, t Turn) (machine.Step, *Routed, error) {
	if t.HasIntent {
		step, err := r.o.Machine.Turn(at, machine.Input{Intent: t.Intent, Slots: t.Slots})
		return step, nil, err
	}
	if t.Input == "" {
		return machine.Step{}, nil, fault.New(CodeFlow, "story.test", "it has neither an intent nor an input")
	}
	routes, err := r.router(ctx)
	if err != nil {
		return machine.Step{}, nil, err
	}
	in := route.Input{Text: t.Input, At: at, Now: epoch()}
	v, err := routes.Route(ctx, in)
	if err == nil {
		err = unasked(v)
	}
	if err != nil {
		return machine.Step{}, nil, err
	}
	if v.Result != route.Hit {
		return machine.Step{Situation: at, From: at.State, Rejection: v.Rejection()}, RoutedOf(&v), nil
	}
	step, err := r.o.Machine.Turn(at, machine.Input{Intent: v.Intent, Slots: v.Slots})
	if err == nil && step.Rejection == nil {
		err = routes.Learn(ctx, in, v)
	}
	return step, RoutedOf(&v), err
}

// unasked is the error of a text that only a recording could have known.
func unasked(v route.Verdict) error {
	if v.Result != route.Unasked {
		return nil
	}
	return fault.New(CodeFlow, "story.test", "no tier of routing knows what the input %q means, and the flow has no recording", v.Question.Text).
		WithHint("give the fixture a recording:, the intent a synonym, or the turn an intent:")
}

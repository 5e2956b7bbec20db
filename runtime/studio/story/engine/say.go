package engine

import (
	"context"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// CodeNotAsked is an answer to a question that nobody asked, or one that it does not
// offer.
const CodeNotAsked fault.Code = "STORY_NOT_ASKED"

// maxPast is how many turns before this one a model is told of.
const maxPast = 5

// An asked is what a person was asked in place of a turn. It is forgotten with the next
// turn, and stands in no trace: nothing happened.
type asked struct {
	shown   string
	intent  string // "" of a tie
	slots   value.Value
	verdict *route.Verdict
}

// Say takes a text: what it means, by the tiers of routing, and then the turn. Where no
// one intent is found nothing changes, and the outcome says what has to be asked.
func (s *Session) Say(ctx context.Context, text string) (Outcome, error) {
	in := route.Input{Text: text, At: s.at, Now: s.now, Past: s.past}
	v, err := s.router.Route(ctx, in)
	if err != nil {
		return Outcome{}, err
	}
	if v.Result == route.Refused {
		return s.beside(ctx, text, v)
	}
	if v.Result != route.Hit {
		return s.unrouted(text, v), nil
	}
	o, err := s.take(ctx, v.Intent, v.Slots, text, &v)
	if err != nil || o.Rejection != nil {
		return o, err
	}
	if err := s.router.Learn(ctx, in, v); err != nil { // the turn is taken all the same
		o.Problem = problemOf(err)
	}
	return o, nil
}

// unrouted is the outcome of a text that means no one intent for sure.
func (s *Session) unrouted(text string, v route.Verdict) Outcome {
	s.asked = nil
	if v.Result == route.Tie || v.Result == route.Ask {
		s.asked = &asked{shown: text, intent: v.Intent, slots: v.Slots, verdict: &v}
	}
	o := Outcome{Mode: Rejected, State: s.at.State, Turn: s.turn + 1, Allowed: s.allowed(s.at), Rejection: v.Rejection(), Route: &v}
	if v.Result == route.Ask {
		o.Mode = Clarify
	}
	return o
}

// beside lets the state's off-ramp answer what the model has no intent for. Without one, or
// where it fails, the text is refused.
func (s *Session) beside(ctx context.Context, text string, v route.Verdict) (Outcome, error) {
	refused := s.unrouted(text, v)
	o, ok, err := s.OffRamp(ctx, text, string(route.Unclear), v.Confidence)
	if ok || err != nil {
		o.Route = &v
		return o, err
	}
	refused.Events, refused.Problem = o.Events, o.Problem
	return refused, nil
}

// Choose answers what the last outcome asked: which of its candidates is meant, and values
// of slots. intent may be "" where there is only one.
func (s *Session) Choose(ctx context.Context, intent string, slots value.Value) (Outcome, error) {
	q := s.asked
	if q == nil {
		return Outcome{}, fault.New(CodeNotAsked, "story.turn", "nothing was asked").WithHint("say what is wanted, or name an intent")
	}
	if intent == "" {
		intent = q.intent
	}
	v := q.verdict
	offers := func(c route.Candidate) bool { return c.Intent == intent }
	if intent != q.intent && (v == nil || !slices.ContainsFunc(v.Candidates, offers)) || intent == "" {
		return Outcome{}, fault.New(CodeNotAsked, "story.turn", "%q is none of the intents that were asked about", intent).WithHint("name one of the candidates of the last outcome")
	}
	if v != nil && v.Result != route.Hit {
		chosen := *v
		chosen.Intent, chosen.Missing = intent, nil
		if v.Result == route.Tie {
			chosen.By, chosen.Confidence = route.Disambiguation, 1
		}
		chosen.Result = route.Hit
		v = &chosen
	}
	given := value.NewMap(nil).Merge(q.slots).Merge(slots)
	return s.take(ctx, intent, given, q.shown, v)
}

func (s *Session) remember(p route.Past) {
	s.past = append(s.past[max(len(s.past)+1-maxPast, 0):len(s.past):len(s.past)], p)
}

// started notes what a turn begins with: what was said, and who found what it means. Where
// that was a model, it answered after the input came.
func (t *turn) started(input, intent string, v *route.Verdict) {
	start := fields{"turn": value.Of(t.turn), "input": value.Of(input)}
	named, asked := intent, v != nil && v.By == route.ByModel
	if asked {
		named = ""
	} else {
		start["direct"] = value.Of(true)
	}
	if v != nil {
		start["routed_by"] = value.Of(string(v.By))
		if v.Match != "" {
			start["match_type"] = value.Of(v.Match)
		}
		if v.Confidence > 0 {
			start["confidence"] = value.Of(v.Confidence)
		}
	}
	t.event("turn.input", fields{"input": value.Of(input), "intent": value.Of(named)})
	t.event("turn.start", start)
	if asked {
		t.event("agent.tool_call", fields{"tool": value.Of(route.Tool), "intent": value.Of(intent)})
	}
}

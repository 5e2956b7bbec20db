package flow

import (
	"context"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// CodeRecording says that a recording holds no answer, or is none.
const CodeRecording fault.Code = "STORY_RECORDING"

// A recording is what people said in which state, and what they meant by it.
type recording struct {
	name    string
	exact   map[said]*meant
	lowered map[said]*meant
}

type said struct{ state, input string }

type meant struct {
	intent  string
	slots   value.Value
	clarify bool // nothing: what they said fits no intent
	message string
	sure    float64 // 0 where it does not say
}

// readRecording reads one. Of two entries of the same words the first counts.
func readRecording(name string, raw []byte) (*recording, error) {
	n, err := document(name, raw)
	if err != nil {
		return nil, err
	}
	if kind := n.Get("kind").Value().Text(); kind != "recording" {
		return nil, fault.New(CodeRecording, "story.test", "%q is of kind %q, and no recording", name, kind)
	}
	r := &recording{name: name, exact: map[said]*meant{}, lowered: map[said]*meant{}}
	for i, it := range list(n.Get("entries")) {
		key := said{it.Get("state").Value().Text(), it.Get("input").Value().Text()}
		m := &meant{
			intent: it.Get("intent").Get("name").Value().Text(), slots: it.Get("intent").Get("slots").Value(),
			clarify: it.Get("clarify").Value().Bool(), message: it.Get("message").Value().Text(),
		}
		m.sure, _ = it.Get("confidence").Value().Float()
		switch {
		case key.state == "" || key.input == "":
			return nil, fault.New(CodeRecording, "story.test", "%s:%d: entry %d has no state or no input", name, it.Pos.Line, i+1)
		case (m.intent == "") != m.clarify:
			return nil, fault.New(CodeRecording, "story.test", "%s:%d: entry %d has to have either an intent or clarify: true", name, it.Pos.Line, i+1)
		}
		put(r.exact, key, m)
		key.input = lowered(key.input)
		put(r.lowered, key, m)
	}
	if len(r.exact) == 0 {
		return nil, fault.New(CodeRecording, "story.test", "the recording %q has no entries", name)
	}
	return r, nil
}

func put(into map[said]*meant, key said, m *meant) {
	if into[key] == nil {
		into[key] = m
	}
}

func lowered(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// verdict is what the recording, if there is one, says of an input.
func (r *recording) verdict(state, input string) (route.Verdict, bool) {
	if r == nil {
		return route.Verdict{}, false
	}
	m, err := r.find(state, input)
	switch {
	case err != nil:
		return route.Verdict{}, false
	case m.clarify:
		return route.Verdict{Result: route.Refused, By: route.ByModel, Message: m.message}, true
	}
	return route.Verdict{Result: route.Hit, By: route.ByModel, Match: "recording", Confidence: m.sure, Intent: m.intent, Slots: m.slots}, true
}

// find is what somebody meant by an input in a state.
func (r *recording) find(state, input string) (*meant, error) {
	m := r.exact[said{state, input}]
	if m == nil {
		m = r.lowered[said{state, lowered(input)}]
	}
	if m == nil {
		return nil, fault.New(CodeRecording, "story.test", "the recording %q holds no answer to %q in state %q", r.name, input, state).
			WithHint("add an entry for it, or say the intent in the fixture")
	}
	return m, nil
}

// Mean implements route.Model: what somebody meant by an input is what a model would say.
func (r *recording) Mean(_ context.Context, q route.Question) (route.Meaning, error) {
	m, err := r.find(q.State, q.Text)
	if err != nil {
		return route.Meaning{}, err
	}
	return route.Meaning{Intent: m.intent, Slots: m.slots, Confidence: m.sure, Said: m.message, Model: "recording", Certain: true}, nil
}

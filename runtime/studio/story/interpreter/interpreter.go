// Package interpreter asks a language model what a person means by a text that they typed
// at a story.
//
// It is the last tier of routing: it turns the question of runtime/studio/story/route into
// one request of an agent, and the model's call into a meaning. Cost, trace, patience and
// the way to the provider are the agent's. It decides nothing and takes no turn.
package interpreter

import (
	"context"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// CodeAnswer is a call of the model that cannot be read.
const CodeAnswer fault.Code = "STORY_MODEL_ANSWER"

// maxSaid is how much of a model's own words a person is shown, in characters.
const maxSaid = 1_000

// An Asker makes one request of a model.
type Asker interface {
	Once(ctx context.Context, in agent.Single) (model.Reply, error)
}

// An Interpreter is a route.Model over an agent. It is not safe for concurrent use.
type Interpreter struct {
	agent Asker
	ref   string
	turn  int // the next one of the session
}

// New makes one that asks the model ref, from the given turn of the agent's session on.
func New(asker Asker, ref string, turn int) *Interpreter {
	if asker == nil {
		panic("interpreter: the agent is missing")
	}
	return &Interpreter{agent: asker, ref: ref, turn: turn}
}

// Mean implements route.Model.
func (i *Interpreter) Mean(ctx context.Context, q route.Question) (route.Meaning, error) {
	turn := i.turn
	i.turn++
	reply, err := i.agent.Once(ctx, agent.Single{
		Turn: turn, Text: q.Text, System: q.System, Prompt: q.Prompt,
		Tools: []model.ToolSpec{{Name: route.Tool, Description: "Say which intent the person means, and what they say of its slots.", Schema: q.Schema}},
	})
	if err != nil {
		return route.Meaning{}, err
	}
	m := route.Meaning{Model: i.ref}
	for _, p := range reply.Parts {
		switch {
		case p.Kind == model.CallPart && p.Call != nil && p.Call.Name == route.Tool:
			return m, read(p.Call.Input, &m)
		case p.Kind == model.Text:
			m.Said = plain.Clip(m.Said+p.Text, maxSaid)
		}
	}
	return m, nil
}

// read takes the meaning out of a call.
func read(input string, m *route.Meaning) error {
	v, err := value.Parse([]byte(input))
	if err != nil || v.Kind() != value.Map {
		return fault.New(CodeAnswer, "story.route", "the model's call is no JSON object: %q", plain.Clip(input, 200)).WithHint("say it again, or name the intent")
	}
	intent, _ := v.Get("intent")
	sure, _ := v.Get("confidence")
	m.Slots, _ = v.Get("slots")
	m.Intent = intent.Str()
	m.Confidence, _ = sure.Float()
	m.Confidence = min(max(m.Confidence, 0), 1)
	if m.Intent == "" {
		return fault.New(CodeAnswer, "story.route", "the model's call names no intent: %q", plain.Clip(input, 200)).WithHint("say it again, or name the intent")
	}
	return nil
}

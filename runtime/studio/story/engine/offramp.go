package engine

import (
	"context"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// converse is the handler that answers beside the story.
const converse = "host.agent.converse"

// OffRamp lets an agent answer a text that fits no intent, where the state has an off-ramp;
// ok says that it did. The story stays where it is. code and confidence say how the text
// was refused, for the trace.
func (s *Session) OffRamp(ctx context.Context, text, code string, confidence float64) (o Outcome, ok bool, err error) {
	st := s.story.States[s.at.State]
	if st == nil || st.OffRamp == nil || text == "" {
		return Outcome{}, false, nil
	}
	t := s.begin(s.at.State)
	t.event("machine.off_path_entered", fields{
		"from_state": value.Of(t.from), "reason": value.Of("off_ramp"), "error_code": value.Of(code), "confidence": value.Of(confidence),
	})
	t.event("agent.off_path.question", fields{"question": value.Of(text)})
	args := fields{"question": value.Of(text)}
	persona, agent := st.OffRamp.Persona, st.OffRamp.Agent
	if p := s.story.OffPath; persona == "" && agent == "" && p != nil {
		persona, agent = p.Persona, p.Agent
	}
	switch {
	case persona != "":
		args["system_prompt"] = value.Of(persona)
	case agent != "":
		args["agent"] = value.Of(agent)
	}
	res, err := s.handlers.Call(ctx, Request{Handler: converse, Args: value.NewMap(args), State: t.from, World: t.at.World})
	if ctx.Err() != nil {
		return Outcome{}, false, ctx.Err()
	}
	if err != nil || res.Error != "" { // the refusal stands, and the trace says that it was tried
		s.finish(t)
		problem := res.Error
		if err != nil {
			problem = problemOf(err)
		}
		return Outcome{Events: t.events, Problem: problem}, false, nil
	}
	answer, _ := res.Data.Get("answer")
	t.event("agent.off_path.answer", fields{"answer": answer})
	s.finish(t)
	view := answer.Text()
	if b := st.OffRamp.Banner; b != "" {
		view = strings.TrimSpace(b + "\n\n" + view)
	}
	return Outcome{Mode: OffPath, State: s.at.State, View: view, Events: t.events, Turn: t.turn, Allowed: s.allowed(s.at)}, true, nil
}

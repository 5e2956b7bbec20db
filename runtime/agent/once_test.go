package agent_test

import (
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

// One request outside of a conversation: its own tool and no other, no call is run, and it
// is paid for and traced as a turn.
func TestOnce(t *testing.T) {
	w := newWorld(t, say{calls: []string{`pick {"n":1}`}}, say{err: fault.New(model.CodeRefused, "test", "no")}, say{reason: model.Refusal})
	a := agent.New(w.opts)
	in := agent.Single{Turn: 1, Text: "one", System: "Pick.", Prompt: "Of these: one, two.", Tools: []model.ToolSpec{{Name: "pick", Schema: []byte(`{"type":"object"}`)}}}
	reply, err := a.Once(t.Context(), in)
	if err != nil || len(reply.Parts) != 1 || reply.Parts[0].Call == nil || reply.Parts[0].Call.Input != `{"n":1}` {
		t.Fatalf("%+v, %v", reply, err)
	}
	if got, want := w.trace.types(), "turn.opened model.requested model.replied turn.closed"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	req := w.model.requests[0]
	if len(req.Tools) != 1 || req.Tools[0].Name != "pick" || req.System[0].Text != "Pick." || req.Messages[0].Parts[0].Text != "Of these: one, two." {
		t.Errorf("request %+v", req)
	}
	for turn, want := range map[int]fault.Code{2: model.CodeRefused, 0: fault.Invalid} {
		in.Turn = turn
		if _, err := a.Once(t.Context(), in); fault.CodeOf(err) != want {
			t.Errorf("turn %d: %v", turn, err)
		}
	}
	in.Turn = 3
	if _, err := a.Once(t.Context(), in); fault.CodeOf(err) != agent.StopRefused {
		t.Error(err)
	}
	w = newWorld(t, say{text: "yes"})
	if out := w.turn(t.Context()); out.Label != agent.Answered || len(w.model.requests[0].Tools) < 2 {
		t.Errorf("a turn has lost its belt: %+v", out)
	}
}

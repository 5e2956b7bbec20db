package agent

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// A Single is one request outside of a conversation: a question whose answer is a call
// that the loop does not run.
type Single struct {
	Turn   int    // as of an Input
	Text   string // what the person said, for the trace
	System string
	Prompt string
	Tools  []model.ToolSpec // at least one
}

// Once makes one request, with the patience, the ledger and the trace of a turn, and gives
// its reply. No call in it is run. The error says how the turn ended where there is no
// reply.
func (a *Agent) Once(ctx context.Context, in Single) (model.Reply, error) {
	if err := a.admit(Input{Turn: in.Turn, Text: in.Text}); err != nil {
		return model.Reply{}, err
	}
	one := *a
	one.o.System, one.o.Role = []string{in.System}, ledger.OneShot
	r := &run{Agent: &one, turn: in.Turn, began: a.o.Clock.Now(), tools: in.Tools}
	if _, err := r.record(ctx, trace.TurnOpened{Input: in.Text, Reasoning: a.o.Reasoning}); err != nil {
		return model.Reply{}, err
	}
	r.say(textPart(in.Prompt))
	r.round++
	reply, h, err := r.ask(ctx)
	if err != nil {
		return model.Reply{}, err
	}
	if h == nil && reply.Reason == model.Refusal {
		h = stopped(StopRefused, "the model declined to answer")
	}
	out, err := r.close(ctx, textOf(reply), h)
	if err == nil {
		err = out.Err
	}
	return reply, err
}

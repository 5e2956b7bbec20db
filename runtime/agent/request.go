package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// firstWait is the pause before the second attempt; it doubles after that.
const firstWait = time.Second

// ask gets the reply of this round, trying again where that may help.
func (r *run) ask(ctx context.Context) (model.Reply, *halt, error) {
	req, belt := r.request()
	for attempt := 1; ; attempt++ {
		r.o.Output.Label(Label{Phase: Thinking, Detail: req.Ref})
		row, h := r.reserve(ctx, req, attempt)
		if h != nil {
			if attempt == 1 {
				r.round-- // nothing was asked
			}
			return model.Reply{}, h, nil
		}
		if err := r.requested(ctx, req, belt, row); err != nil {
			return model.Reply{}, nil, err
		}
		step, cancel := r.within(ctx)
		reply, begun, err := r.stream(step, req)
		over := gone(step)
		if err != nil && over == nil && r.left() <= 0 {
			over = r.overtime(ctx)
		}
		cancel()
		if err == nil {
			return r.received(ctx, row, reply)
		}
		if h, recErr := r.settle(ctx, row, usageOf(err, reply)); h != nil || recErr != nil {
			return model.Reply{}, h, recErr
		}
		if over == nil && !begun && fault.CodeOf(err) == model.CodeBusy && attempt < r.o.Limits.Attempts {
			again, recErr := r.pause(ctx, attempt, err)
			if recErr != nil {
				return model.Reply{}, nil, recErr
			}
			if again {
				continue
			}
		}
		h, err = r.broken(ctx, reply, err, over)
		return model.Reply{}, h, err
	}
}

// received settles and records a whole reply.
func (r *run) received(ctx context.Context, row ledger.Row, reply model.Reply) (model.Reply, *halt, error) {
	if h, err := r.settle(ctx, row, reply.Usage); h != nil || err != nil {
		return model.Reply{}, h, err
	}
	_, err := r.record(ctx, trace.ModelReplied{Round: r.round, Reply: reply})
	return reply, nil, err
}

// broken records a reply that did not come to its end. None of its calls is run and
// nothing of it enters the history: what was half said was not meant.
func (r *run) broken(ctx context.Context, reply model.Reply, err error, over *halt) (*halt, error) {
	r.o.Output.Withdraw()
	code := fault.CodeOf(err)
	if code == codeMiss {
		if _, recErr := r.record(ctx, trace.SeamMissed{Message: err.Error()}); recErr != nil {
			return nil, recErr
		}
	}
	if _, recErr := r.record(ctx, trace.ModelReplied{Round: r.round, Reply: reply, Code: string(code), Error: err.Error()}); recErr != nil {
		return nil, recErr
	}
	if over != nil {
		return over, nil
	}
	return failed(err), nil
}

// request is made anew each round: the belt may have changed.
func (r *run) request() (req model.Request, belt []string) {
	info := r.o.Provider.Info()
	req = model.Request{
		Ref: info.Ref, Messages: cached(r.history), MaxOutput: r.o.Limits.MaxOutput, Reasoning: r.o.Reasoning, Options: r.o.Model,
		CallIDs: func(i int) string { return fmt.Sprintf("t%dr%dc%d", r.turn, r.round, i) },
	}
	if info.MaxOutput > 0 {
		req.MaxOutput = min(req.MaxOutput, info.MaxOutput)
	}
	for _, s := range r.o.System {
		req.System = append(req.System, textPart(s))
	}
	if n := len(req.System); n > 0 {
		req.System[n-1].Cache = true
	}
	if len(r.tools) > 0 {
		req.Tools = r.tools
		for _, t := range r.tools {
			belt = append(belt, t.Name)
		}
		return req, belt
	}
	for _, t := range r.o.Registry.Belt(tool.Loop, r.revealed) {
		req.Tools = append(req.Tools, model.ToolSpec{Name: t.Name(), Description: t.Description, Schema: t.Input()})
		belt = append(belt, t.ID)
	}
	return req, belt
}

// cached marks the end of the history as a point to cache up to: the next request
// begins with the same bytes. The history itself stays as it is.
func cached(history []model.Message) []model.Message {
	n := len(history) - 1
	if n < 0 || len(history[n].Parts) == 0 {
		return history
	}
	marked := slices.Clone(history)
	parts := slices.Clone(marked[n].Parts)
	parts[len(parts)-1].Cache = true
	marked[n].Parts = parts
	return marked
}

// stream reads one reply. begun is whether anything of it was seen.
func (r *run) stream(ctx context.Context, req model.Request) (reply model.Reply, begun bool, err error) {
	var partial model.Reply
	for e, err := range r.o.Provider.Stream(ctx, req) {
		if err != nil {
			return partial, begun, err
		}
		begun = true
		// What comes late is not waited for. A reply that is whole is taken all the same:
		// it is paid for, and its calls get their results.
		if (e.Kind == model.TextDelta || e.Kind == model.ReasoningDelta) && r.left() <= 0 {
			return partial, begun, fault.New(fault.Timeout, "agent.ask", "the reply of %q was still coming when the turn's time was over", req.Ref)
		}
		switch e.Kind {
		case model.TextDelta:
			partial = appendText(partial, e.Delta)
			if len(r.reviews) == 0 {
				r.o.Output.Partial(e.Delta)
			}
		case model.CallEvent:
			if e.Part != nil {
				partial.Parts = append(partial.Parts, *e.Part)
			}
		case model.Finish:
			if e.Reply != nil {
				return *e.Reply, true, nil
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return partial, begun, fault.Wrap(err, fault.Cancelled, "agent.ask", "the request to %q was given up", req.Ref)
	}
	return partial, begun, fault.New(model.CodeStreamCut, "agent.ask", "the reply of %q has no end", req.Ref).
		WithHint("Try again.")
}

// appendText keeps what had arrived of a reply that breaks.
func appendText(reply model.Reply, delta string) model.Reply {
	if n := len(reply.Parts) - 1; n >= 0 && reply.Parts[n].Kind == model.Text {
		reply.Parts[n].Text += delta
		return reply
	}
	reply.Parts = append(reply.Parts, textPart(delta))
	return reply
}

// usageOf is what a request that failed may have used. Where nothing says that it
// did not reach the model, that is unknown, not zero.
func usageOf(err error, reply model.Reply) model.Usage {
	if reply.Usage.State != "" {
		return reply.Usage
	}
	if e, ok := errors.AsType[*model.HTTPError](err); ok && e.Partial.State != "" {
		return e.Partial
	}
	switch fault.CodeOf(err) {
	case codeMiss, fault.Invalid, model.CodeNoKey, model.CodeAuth, model.CodeRefused, model.CodeContextFull, model.CodeUnknown:
		return model.Usage{State: model.None}
	}
	return model.Usage{State: model.UsageUnknown}
}

// pause waits before the next attempt. again is false where the provider asks for
// more patience than the turn has.
func (r *run) pause(ctx context.Context, attempt int, cause error) (again bool, err error) {
	wait := firstWait << (attempt - 1)
	if e, ok := errors.AsType[*model.HTTPError](cause); ok && e.RetryAfter > 0 {
		if e.RetryAfter > r.o.Limits.MaxWait {
			return false, nil
		}
		wait = e.RetryAfter
	}
	wait = min(wait, r.o.Limits.MaxWait)
	if wait >= r.left() {
		return false, nil
	}
	if _, err := r.record(ctx, trace.ModelRetried{
		Round: r.round, Attempt: attempt, Code: string(fault.CodeOf(cause)), Message: cause.Error(), WaitMS: wait.Milliseconds(),
	}); err != nil {
		return false, err
	}
	r.o.Output.Label(Label{Phase: Waiting, Detail: wait.String()})
	// A cancelled wait is seen by the next attempt, which is not sent.
	return r.o.Clock.Sleep(ctx, wait) == nil, nil
}

// reserve sets the cost of a request aside. Without a ledger the row is empty.
func (r *run) reserve(ctx context.Context, req model.Request, attempt int) (ledger.Row, *halt) {
	if h := gone(ctx); h != nil {
		return ledger.Row{}, h
	}
	if r.o.Ledger == nil {
		return ledger.Row{}, nil
	}
	row, err := r.o.Ledger.Reserve(ctx, ledger.Want{
		Session: r.o.Session, Run: r.o.Run, ParentRun: r.o.ParentRun, Turn: r.turn, Round: r.round, Attempt: attempt,
		Role: r.o.Role, Billing: r.o.Billing, Ref: req.Ref, Origin: r.o.Origin, Caps: r.o.Caps,
		Input: ledger.EstimateInput(req), MaxOutput: req.MaxOutput,
	})
	switch fault.CodeOf(err) {
	case "":
		return row, nil
	case ledger.CodeOverCap, ledger.CodeUnpriced:
		return row, &halt{label: Stopped, code: StopBudget, guidance: firstLine(fault.HintOf(err)), err: err}
	default:
		return row, failed(err)
	}
}

// settle ends a reservation, in the store first and then on the trace.
func (r *run) settle(ctx context.Context, row ledger.Row, u model.Usage) (*halt, error) {
	if r.o.Ledger == nil {
		return nil, nil
	}
	row, err := r.o.Ledger.Settle(context.WithoutCancel(ctx), row, u)
	if err != nil {
		return failed(err), nil
	}
	r.cost += row.Cost
	_, err = r.record(ctx, trace.CostSettled{Row: row})
	return nil, err
}

// requested puts what is about to be sent on the trace, with what was set aside.
func (r *run) requested(ctx context.Context, req model.Request, belt []string, row ledger.Row) error {
	ev := trace.ModelRequested{
		Round: r.round, Ref: req.Ref, Tools: belt, Messages: len(req.Messages), MaxOutput: req.MaxOutput, Reservation: row.ID,
	}
	if row.ID != "" {
		ev.Row = &row
	}
	_, err := r.record(ctx, ev)
	return err
}

package agent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// The tools that the loop itself knows.
const (
	findTool    = "capability.find"
	readTool    = "studio.read"
	applyTool   = "change.apply"
	discardTool = "change.discard"
)

// maxReveal is how many deferred tools a model may see at once.
const maxReveal = 5

// nearby is how many reads back a repetition counts.
const nearby = 8

// A pending is one declared call on its way.
type pending struct {
	call   model.ToolCall
	tool   tool.Tool // what would run; zero where there is none
	known  bool
	req    gate.Request
	dec    gate.Decision
	ran    bool // the handler was reached
	asked  bool
	answer gate.Answer
	res    tool.Result
	err    error
	told   string // what the model is told
}

// A readMark is one whole read of a piece.
type readMark struct {
	key   string
	round int
}

// batch runs the calls of one reply. A batch that does not fit into the budget is
// not run and leaves nothing in the history.
func (r *run) batch(ctx context.Context, reply model.Reply, calls []model.ToolCall) (*halt, error) {
	l := r.o.Limits
	if len(calls) > l.Batch {
		h := stopped(StopCalls, "the reply asks for %d calls, more than %d", len(calls), l.Batch)
		return h, r.leaveOut(ctx, calls, h)
	}
	if n := r.calls + len(calls); n > l.Calls {
		h := stopped(StopCalls, "%d calls in one turn are more than %d", n, l.Calls)
		return h, r.leaveOut(ctx, calls, h)
	}
	r.calls += len(calls)
	r.history = append(r.history, model.Message{Role: model.Assistant, Parts: reply.Parts})
	all, err := r.announce(ctx, calls)
	if err != nil {
		return nil, err
	}
	if readsOnly(all) {
		err = r.together(ctx, all)
	} else {
		err = r.serially(ctx, all)
	}
	if err != nil {
		return nil, err
	}
	r.observe(all)
	return r.after(ctx, all)
}

// leaveOut puts calls on the trace that are not run.
func (r *run) leaveOut(ctx context.Context, calls []model.ToolCall, h *halt) error {
	all, err := r.announce(ctx, calls)
	if err != nil {
		return err
	}
	for _, p := range all {
		p.err = h.err
		p.told = errorText(h.err)
		if err := r.ended(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// announce puts every declared call on the trace before the first one runs.
func (r *run) announce(ctx context.Context, calls []model.ToolCall) ([]*pending, error) {
	all := make([]*pending, len(calls))
	for i, c := range calls {
		p := &pending{call: c}
		name := c.Name
		if t, ok := r.o.Registry.Get(c.Name); ok {
			name = t.ID
		}
		ev, err := r.record(ctx, trace.ToolCalled{Round: r.round, Index: i, Call: c.ID, Tool: name, Input: c.Input})
		if err != nil {
			return nil, err
		}
		p.req = r.toRequest(c.ID, c.Name, []byte(c.Input), ev.Seq)
		p.tool, p.known = r.o.Gate.Tool(p.req)
		all[i] = p
	}
	return all, nil
}

func (r *run) toRequest(id, name string, input []byte, seq int64) gate.Request {
	return gate.Request{
		Call: tool.Call{ID: id, Session: r.o.Session, Turn: r.turn, Skin: tool.Loop, Seq: seq},
		Tool: name, Input: input,
	}
}

// readsOnly is whether a batch may run side by side. A call that does not exist
// changes nothing either.
func readsOnly(all []*pending) bool {
	for _, p := range all {
		if p.known && p.tool.Effect != tool.Read {
			return false
		}
	}
	return true
}

// together runs reads side by side. What must be asked is asked after that, one by
// one; the results enter in the provider's order when the batch ends.
func (r *run) together(ctx context.Context, all []*pending) error {
	step, cancel := r.within(ctx)
	defer cancel()
	free := make(chan struct{}, r.o.Limits.Parallel)
	var wg sync.WaitGroup
	for _, p := range all {
		p.dec = r.o.Gate.Decide(step, p.req)
		if p.dec.Outcome == gate.Allowed {
			if err := r.passed(ctx, p); err != nil {
				p.dec, p.err = gate.Decision{Outcome: gate.Refused, Err: err}, err
				continue
			}
			r.o.Output.Label(labelOf(p))
			wg.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				r.runAllowed(step, p)
			})
		}
	}
	wg.Wait()
	for _, p := range all {
		if p.dec.Outcome != gate.Allowed {
			if err := r.decided(ctx, p); err != nil {
				return err
			}
		}
		if err := r.ended(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// runAllowed runs one call, unless the turn is over.
func (r *run) runAllowed(ctx context.Context, p *pending) {
	if h := gone(ctx); h != nil {
		p.err = h.err
		return
	}
	p.ran = true
	p.res, p.err = r.o.Gate.Run(ctx, p.dec)
}

// serially runs calls one after another. After a halt, or after a no that ends the
// turn, the rest is not run; each still gets its result.
func (r *run) serially(ctx context.Context, all []*pending) error {
	var over error
	for _, p := range all {
		switch {
		case over != nil:
			p.err = over
		case ctx.Err() != nil || r.left() <= 0:
			over = r.overtime(ctx).err
			p.err = over
		default:
			p.dec = r.o.Gate.Decide(ctx, p.req)
			if err := r.decided(ctx, p); err != nil {
				return err
			}
			if r.refusedApply(p) != nil {
				over = p.err
			}
		}
		if err := r.ended(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) overtime(ctx context.Context) *halt {
	if h := gone(ctx); h != nil {
		return h
	}
	return stopped(StopElapsed, "the turn took longer than %s", r.o.Limits.Elapsed)
}

// decided carries a decision out, with a question to a person where it asks.
func (r *run) decided(ctx context.Context, p *pending) error {
	step, cancel := r.within(ctx)
	defer cancel()
	switch p.dec.Outcome {
	case gate.Allowed:
		if err := r.passed(ctx, p); err != nil {
			return err
		}
		r.o.Output.Label(labelOf(p))
		r.runAllowed(step, p)
	case gate.Asked:
		return r.question(ctx, p)
	default:
		p.err = p.dec.Err
	}
	return nil
}

// passed writes down that nobody was asked where somebody could have been: what cannot be
// written down is not run.
func (r *run) passed(ctx context.Context, p *pending) error {
	if !p.dec.Passed {
		return nil
	}
	_, err := r.record(ctx, trace.GatePassed{
		Call: p.call.ID, Tool: p.dec.Request.Tool, Class: string(p.dec.Class), Mode: string(r.o.Gate.Mode()),
		By: string(p.dec.By), Remembered: p.dec.Remembered,
	})
	return err
}

// question asks and resumes.
func (r *run) question(ctx context.Context, p *pending) error {
	q := *p.dec.Question
	if _, err := r.record(ctx, trace.GateAsked{
		Question: q.ID, Call: p.call.ID, Tool: q.Tool, Class: string(q.Class), Title: q.Title, Review: q.Review,
	}); err != nil {
		return err
	}
	p.asked, p.answer = true, gate.Answer{Choice: gate.Absent, By: gate.Nobody}
	before := r.o.Clock.Now()
	if r.o.Asker != nil && ctx.Err() == nil {
		p.answer = r.o.Asker.Ask(ctx, q)
	}
	r.asked += r.o.Clock.Now().Sub(before)
	if _, err := r.record(ctx, trace.GateAnswered{
		Question: q.ID, Choice: string(p.answer.Choice), By: string(p.answer.By), Note: p.answer.Note,
	}); err != nil {
		return err
	}
	step, cancel := r.within(ctx)
	defer cancel()
	p.ran = p.answer.Choice == gate.Once || p.answer.Choice == gate.ThisSession
	if p.ran {
		r.o.Output.Label(labelOf(p))
	}
	p.res, p.err = r.o.Gate.Resume(step, q, p.answer)
	if h := gone(ctx); h != nil && !p.ran {
		p.err = h.err // the turn was given up: that is not a question without an answer
	}
	return nil
}

// ended puts a call's result on the trace, and its parts to where they belong.
func (r *run) ended(ctx context.Context, p *pending) error {
	p.told = p.res.Text
	if p.err != nil {
		p.told = errorText(p.err)
	}
	fin := trace.ToolFinished{
		Call: p.call.ID, Tool: p.name(), OK: p.err == nil, Text: p.told, Images: p.res.Blocks, Handle: p.res.Handle,
		Review: p.res.Review, Reviews: p.res.Reviews, Show: p.res.Show, Reveal: p.res.Reveal, NotRun: p.err != nil && !p.ran,
	}
	if p.err != nil {
		fin.Code = string(fault.CodeOf(p.err))
	}
	if _, err := r.record(ctx, fin); err != nil {
		return err
	}
	if p.err != nil {
		return nil
	}
	for _, v := range p.res.Reviews {
		r.opened(v)
	}
	if p.res.Show != nil {
		r.o.Output.Show(*p.res.Show)
	}
	if p.res.Review != nil {
		r.opened(*p.res.Review)
	}
	if p.res.Receipt != nil {
		return r.settled(ctx, *p.res.Receipt)
	}
	return nil
}

// name is the dotted id that was run, or what was asked for.
func (p *pending) name() string {
	switch {
	case p.dec.Request.Tool != "":
		return p.dec.Request.Tool
	case p.known:
		return p.tool.ID
	default:
		return p.call.Name
	}
}

// opened notes a draft of this turn. The newest card of a draft stands.
func (r *run) opened(v draft.Review) {
	for i := range r.reviews {
		if r.reviews[i].Draft == v.Draft {
			r.reviews[i] = v
			return
		}
	}
	r.reviews = append(r.reviews, v)
}

// settled notes the end of a draft.
func (r *run) settled(ctx context.Context, c draft.Receipt) error {
	for i := range r.reviews {
		if r.reviews[i].Draft == c.Draft {
			r.reviews = append(r.reviews[:i:i], r.reviews[i+1:]...)
			break
		}
	}
	r.receipts = append(r.receipts, c)
	_, err := r.record(ctx, trace.DraftSettled{Receipt: c})
	return err
}

// after adds the results to the history, in the provider's order, and looks at what
// a batch means for the turn.
func (r *run) after(ctx context.Context, all []*pending) (*halt, error) {
	msg := model.Message{Role: model.ToolRole}
	for _, p := range all {
		msg.Parts = append(msg.Parts, model.Part{Kind: model.ResultPart, Result: &model.ToolResult{
			ID: p.call.ID, Name: p.call.Name, Text: p.told, Error: p.err != nil, Images: p.res.Blocks,
		}})
		if p.err == nil && p.res.Reveal != nil {
			r.revealed = p.res.Reveal[:min(len(p.res.Reveal), maxReveal)]
		}
	}
	r.history = append(r.history, msg)
	for _, p := range all {
		if fault.CodeOf(p.err) == codeMiss {
			_, err := r.record(ctx, trace.SeamMissed{Message: p.err.Error()})
			return failed(p.err), err
		}
	}
	if h := gone(ctx); h != nil {
		return h, nil
	}
	for _, p := range all {
		if h := r.refusedApply(p); h != nil {
			return r.afterNo(ctx, p, h)
		}
	}
	return r.repeated(), nil
}

// observe counts rounds that brought nothing new, and whole reads.
func (r *run) observe(all []*pending) {
	fresh := false
	for _, p := range all {
		input := string(p.dec.Request.Input)
		told := p.told
		if p.res.Handle != "" {
			told = strings.ReplaceAll(told, p.res.Handle, "") // each time another one
		}
		key := fmt.Sprintf("%s %x", p.name(), sha256.Sum256([]byte(input+"\x00"+told)))
		if p.err == nil && !r.seen[key] {
			fresh = true
		}
		r.seen[key] = true
		switch {
		case p.err != nil:
		case p.tool.Effect != tool.Read:
			r.reads = nil // something changed: reading again has a reason
		case p.tool.ID == readTool:
			r.reads = append(r.reads, readMark{key, r.round})
		}
	}
	r.reads = r.reads[max(0, len(r.reads)-nearby):]
	if fresh {
		r.idle = 0
	} else {
		r.idle++
	}
}

// repeated is the halt of a second look at a piece that did not change. Two equal
// reads in one batch are one look.
func (r *run) repeated() *halt {
	for i, a := range r.reads {
		for _, b := range r.reads[i+1:] {
			if a.key == b.key && a.round != b.round {
				return stopped(StopRepeat, "the same piece was read twice and had not changed")
			}
		}
	}
	return nil
}

func labelOf(p *pending) Label {
	l := Label{Phase: Working, Detail: p.name()}
	switch {
	case p.tool.ID == findTool:
		l.Phase = Discovering
	case p.tool.ID == applyTool:
		l.Phase, l.Detail = Applying, draftOf(p)
	case p.tool.ID == discardTool:
		l.Phase, l.Detail = Discarding, draftOf(p)
	case p.tool.Effect == tool.Read:
		l.Phase = Reading
	case p.tool.Effect == tool.Draft:
		l.Phase = Drafting
	}
	return l
}

// errorText is how a model is told of an error: in the same words as over MCP.
func errorText(err error) string {
	told := struct {
		OK      bool   `json:"ok"`
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}{Code: string(fault.CodeOf(err)), Message: err.Error(), Hint: fault.HintOf(err)}
	text, encErr := canon.Marshal(told)
	if encErr != nil {
		// An error may quote bytes that are not UTF-8; encoding/json replaces them.
		text, _ = json.Marshal(told)
	}
	return string(text)
}

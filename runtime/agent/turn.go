package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// maxFact is how long one ambient fact may be, in characters.
const maxFact = 400

// A run is one turn under way.
type run struct {
	*Agent
	turn    int
	began   time.Time
	asked   time.Duration // spent waiting for a person
	history []model.Message
	tools   []model.ToolSpec // of a Single, in place of the belt

	revealed []string // the deferred tools that the model sees
	round    int
	calls    int
	handoffs int // calls that the loop made itself
	cost     int64

	reviews  []draft.Review // drafts of this turn that are open, oldest first
	receipts []draft.Receipt
	next     []string
	seen     map[string]bool // observations, for no-progress
	idle     int
	reads    []readMark
}

// Turn runs one turn to its end. The error is for what leaves no trace: a bad
// input, or a recorder that cannot write. How the turn went is in the Outcome.
func (a *Agent) Turn(ctx context.Context, in Input) (Outcome, error) {
	if err := a.admit(in); err != nil {
		return Outcome{}, err
	}
	r := &run{Agent: a, turn: in.Turn, began: a.o.Clock.Now(), history: slices.Clone(in.History), seen: map[string]bool{}}
	if _, err := r.record(ctx, a.opened(in)); err != nil {
		return Outcome{}, err
	}
	r.say(opening(in)...)
	text, h, err := r.loop(ctx)
	if err != nil {
		return Outcome{}, err
	}
	return r.close(ctx, text, h)
}

// admit checks what begins a turn.
func (a *Agent) admit(in Input) error {
	const op = "agent.turn"
	l := a.o.Limits
	switch n := utf8.RuneCountInString(in.Text); {
	case in.Turn < 1:
		return fault.New(fault.Invalid, op, "turn %d is not a number from 1", in.Turn).WithHint("Count the turns of the session from 1.")
	case strings.TrimSpace(in.Text) == "" && len(in.Attach) == 0:
		return fault.New(fault.Invalid, op, "nothing was said").WithHint("Say what you want.")
	case n > l.InputChars:
		return fault.New(fault.TooLarge, op, "the text has %d characters, more than %d", n, l.InputChars).WithHint("Import it as a file, or say it in parts.")
	case len(in.Facts) > l.Facts:
		return fault.New(fault.TooLarge, op, "%d facts are more than %d", len(in.Facts), l.Facts).WithHint("Leave out what the turn can do without.")
	}
	for _, f := range in.Facts {
		if n := utf8.RuneCountInString(f); n > maxFact {
			return fault.New(fault.TooLarge, op, "fact %.60q… has %d characters, more than %d", f, n, maxFact).WithHint("Say it in one short line.")
		}
		if strings.ContainsAny(f, "\r\n") {
			return fault.New(fault.Invalid, op, "fact %.60q is not one line", f).WithHint("Say it in one short line.")
		}
	}
	return nil
}

// opening is the parts of the message that begins a turn.
func opening(in Input) []model.Part {
	var parts []model.Part
	if len(in.Facts) > 0 {
		parts = append(parts, textPart("Facts:\n- "+strings.Join(in.Facts, "\n- ")))
	}
	parts = append(parts, in.Attach...)
	if in.Text != "" {
		parts = append(parts, textPart(in.Text))
	}
	return parts
}

func textPart(s string) model.Part { return model.Part{Kind: model.Text, Text: s} }

// say adds parts of the user to the history. Two messages of the user in a row are
// one: not every provider takes more.
func (r *run) say(parts ...model.Part) {
	if n := len(r.history) - 1; n >= 0 && r.history[n].Role == model.User {
		last := r.history[n]
		last.Parts = append(slices.Clone(last.Parts), parts...)
		r.history[n] = last
		return
	}
	r.history = append(r.history, model.Message{Role: model.User, Parts: parts})
}

// record appends an event. It is not undone by a cancelled turn: what happened is
// on the trace.
func (r *run) record(ctx context.Context, p trace.Payload) (trace.Event, error) {
	return r.o.Recorder.Record(context.WithoutCancel(ctx), r.turn, p)
}

// opened is the first event of a turn.
func (a *Agent) opened(in Input) trace.TurnOpened {
	e := trace.TurnOpened{Input: in.Text, Facts: in.Facts, Attach: in.Attach, Reasoning: a.o.Reasoning, Servers: in.Servers}
	def := Limits{}.complete()
	if a.o.Limits.Calls != def.Calls {
		e.MaxCalls = a.o.Limits.Calls
	}
	if a.o.Limits.Rounds != def.Rounds {
		e.MaxRounds = a.o.Limits.Rounds
	}
	return e
}

// loop asks and runs until the model is done (text, nil) or a halt.
func (r *run) loop(ctx context.Context) (text string, h *halt, err error) {
	for {
		if err := r.steer(ctx); err != nil {
			return "", nil, err
		}
		if h := r.bounds(ctx); h != nil {
			return "", h, nil
		}
		r.round++
		reply, h, err := r.ask(ctx)
		if h != nil || err != nil {
			return "", h, err
		}
		calls := callsOf(reply)
		if len(calls) > 0 {
			r.o.Output.Withdraw()
			if h, err := r.batch(ctx, reply, calls); h != nil || err != nil {
				return "", h, err
			}
			continue
		}
		text, done, h, err := r.finish(ctx, reply)
		if done || h != nil || err != nil {
			return text, h, err
		}
	}
}

// bounds are looked at before each model request.
func (r *run) bounds(ctx context.Context) *halt {
	l := r.o.Limits
	switch {
	case ctx.Err() != nil:
		return gone(ctx)
	case r.round >= l.Rounds:
		return stopped(StopRounds, "%d model replies are as many as one turn may take", r.round)
	case r.left() <= 0:
		return stopped(StopElapsed, "the turn took longer than %s", l.Elapsed)
	case r.idle >= l.Idle:
		return stopped(StopIdle, "%d rounds in a row brought nothing new", r.idle)
	}
	return nil
}

// left is how much of the turn's time is left. A person's time is not counted.
func (r *run) left() time.Duration {
	return r.o.Limits.Elapsed - (r.o.Clock.Now().Sub(r.began) - r.asked)
}

// within bounds one step by the time that is left. The clock decides whether a turn
// is over; this also ends a step that hangs.
func (r *run) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, max(r.left(), 0), errElapsed)
}

// steer takes in what a person said meanwhile.
func (r *run) steer(ctx context.Context) error {
	if r.o.Inbox == nil {
		return nil
	}
	for _, n := range r.o.Inbox.Take() {
		if _, err := r.record(ctx, trace.Steered{Text: n.Text, After: n.After}); err != nil {
			return err
		}
		if n.After {
			r.next = append(r.next, n.Text)
			continue
		}
		r.say(textPart(n.Text))
	}
	return nil
}

// finish handles a reply without calls. done is false where a person said something
// in the meantime, so that the model goes on.
func (r *run) finish(ctx context.Context, reply model.Reply) (text string, done bool, h *halt, err error) {
	r.history = append(r.history, model.Message{Role: model.Assistant, Parts: parts(reply)})
	before := len(r.history)
	if err := r.steer(ctx); err != nil {
		return "", false, nil, err
	}
	if len(r.history) > before {
		r.o.Output.Withdraw()
		return "", false, nil, nil
	}
	if len(r.reviews) > 0 {
		r.o.Output.Withdraw()
		h, err := r.handoff(ctx)
		return "", true, h, err
	}
	text = textOf(reply)
	switch reply.Reason {
	case model.Refusal:
		h := stopped(StopRefused, "the model declined to answer")
		return text, true, h, nil
	case model.Length:
		// The text stands; what is missing is said beside it.
		return text, true, &halt{label: Answered, guidance: "The answer was cut at its bound: say \"go on\" for the rest."}, nil
	}
	return text, true, nil, nil
}

// parts is a reply as history keeps it. Providers refuse a message of nothing.
func parts(reply model.Reply) []model.Part {
	if len(reply.Parts) == 0 {
		return []model.Part{textPart("(no answer)")}
	}
	return reply.Parts
}

func callsOf(reply model.Reply) []model.ToolCall {
	var calls []model.ToolCall
	for _, p := range reply.Parts {
		if p.Kind == model.CallPart && p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}

func textOf(reply model.Reply) string {
	var b strings.Builder
	for _, p := range reply.Parts {
		if p.Kind == model.Text {
			b.WriteString(p.Text)
		}
	}
	return strings.TrimSpace(b.String())
}

// close labels the turn and ends its trace.
func (r *run) close(ctx context.Context, text string, h *halt) (Outcome, error) {
	out := Outcome{Label: r.label(), Text: text, Rounds: r.round, Calls: r.calls, Cost: r.cost, Receipts: r.receipts, Next: r.next}
	for _, v := range r.reviews {
		out.Open = append(out.Open, v.Draft)
	}
	if h != nil {
		if h.label != Answered || len(r.receipts) == 0 {
			out.Label = h.label
		}
		out.Stop, out.Guidance, out.Err = h.code, openNote(h.guidance, out.Open), h.err
		if out.Text == "" && h.err != nil {
			out.Text, out.Told = closing(h), true
		}
	}
	notes := r.notes()
	if notes != "" {
		out.Text = strings.TrimSpace(out.Text + "\n" + notes)
		// The model learns how its drafts ended with the next message.
		r.say(textPart(notes))
	}
	out.History = r.history
	r.o.Output.Text(out.Text)
	_, err := r.record(ctx, trace.TurnClosed{
		Label: out.Label, Stop: string(out.Stop), Guidance: out.Guidance, Text: out.Text, Notes: notes, Rounds: out.Rounds, Calls: out.Calls, Cost: out.Cost,
	})
	if err != nil {
		return Outcome{}, err
	}
	return out, r.o.Recorder.Sync()
}

// closing is what a person is told of a halt, in one line: whoever wants the whole
// explanation has the error.
func closing(h *halt) string {
	verb := strings.ToUpper(h.label[:1]) + h.label[1:]
	return fmt.Sprintf("%s (%s): %s.", verb, fault.CodeOf(h.err), firstLine(words(h.err)))
}

// label is the turn's label where no halt gives one: the worst of its receipts.
func (r *run) label() string {
	worst := Answered
	rank := map[string]int{Answered: 0, Verified: 1, Discarded: 2, Stale: 3, Failed: 4}
	for _, c := range r.receipts {
		l := map[draft.State]string{draft.Applied: Verified, draft.Stale: Stale, draft.Discarded: Discarded}[c.Outcome]
		if l == "" {
			l = Failed
		}
		if rank[l] > rank[worst] {
			worst = l
		}
	}
	return worst
}

// notes is one line for each receipt.
func (r *run) notes() string {
	lines := make([]string, len(r.receipts))
	for i, c := range r.receipts {
		lines[i] = c.String()
	}
	return strings.Join(lines, "\n")
}

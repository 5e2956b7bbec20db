package gate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// maxBlocks is how many bytes of images one result may carry.
const maxBlocks = 8 << 20

// Run runs a call that Decide allowed, once.
func (g *Gate) Run(ctx context.Context, d Decision) (tool.Result, error) {
	switch {
	case d.Outcome == Refused && d.Err != nil:
		return tool.Result{}, d.Err
	case d.pass == nil || d.pass.gate != g:
		return tool.Result{}, fault.New(fault.Denied, "gate.run", "call of %q was not allowed by this gate", d.Request.Tool)
	}
	d.pass.mu.Lock()
	used := d.pass.used
	d.pass.used = true
	d.pass.mu.Unlock()
	if used {
		return tool.Result{}, fault.New(CodeUsed, "gate.run", "the decision on %q was used before", d.Request.Tool).
			WithHint("Ask for a new decision.")
	}
	return g.run(ctx, d.pass.tool, d.Request, d.pass.input)
}

// Resume takes the answer to a question and, if it is a yes, runs the call that
// the question was about, once. Every other answer is an error that says what
// happened, and never that a person chose when none did.
func (g *Gate) Resume(ctx context.Context, q Question, a Answer) (tool.Result, error) {
	p, err := g.claim(ctx, q, a)
	if err != nil {
		return tool.Result{}, err
	}
	if err := refusal(q, a); err != nil {
		return tool.Result{}, err
	}
	if a.Choice == ThisSession {
		g.Remember(p.q.Session, p.q.Tool)
	}
	return g.run(ctx, p.tool, p.req, p.q.Input)
}

// claim checks that the answer fits an open question and closes it.
func (g *Gate) claim(ctx context.Context, q Question, a Answer) (*asked, error) {
	switch a.Choice {
	case Once, ThisSession, No, TimedOut, Absent:
	default:
		return nil, fault.New(fault.Invalid, "gate.resume", "answer %q is none of once, session, no, timeout, absent", string(a.Choice)).
			WithHint("Answer the question %s again.", q.ID)
	}
	g.mu.Lock()
	p := g.questions[q.ID]
	g.mu.Unlock()
	if p == nil {
		return nil, fault.New(CodeMismatch, "gate.resume", "question %q was not asked here", q.ID).WithHint("Make the call again.")
	}
	if q.Digest != p.q.Digest || Digest(q.Session, q.Tool, []byte(q.Input)) != p.q.Digest {
		return nil, fault.New(CodeMismatch, "gate.resume", "question %s is about another call than the answer", q.ID).
			WithHint("Make the call again and answer its own question.")
	}
	if a.Choice == Once || a.Choice == ThisSession {
		if err := g.sameCard(ctx, p); err != nil {
			return nil, err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.used {
		return nil, fault.New(CodeUsed, "gate.resume", "question %s was answered before", q.ID).WithHint("Make the call again.")
	}
	p.used = true
	return p, nil
}

// sameCard makes sure that what a person said yes to is still what would happen.
func (g *Gate) sameCard(ctx context.Context, p *asked) error {
	g.mu.Lock()
	used := p.used
	g.mu.Unlock()
	if used {
		return nil
	}
	now, err := g.card(ctx, p.req)
	if err != nil {
		return err
	}
	if now.Title != p.q.Title || !reflect.DeepEqual(now.Review, p.q.Review) {
		return fault.New(CodeMismatch, "gate.resume", "what question %s was about has changed since: %q", p.q.ID, p.q.Title).
			WithHint("Make the call again and look at the new card.")
	}
	return nil
}

// refusal is the error of an answer that is not a yes.
func refusal(q Question, a Answer) error {
	const op = "gate.resume"
	note := ""
	if a.Note != "" {
		note = fmt.Sprintf(" and said %q", a.Note)
	}
	switch {
	case a.Choice == TimedOut:
		return fault.New(CodeTimeout, op, "nobody answered %q in time, so %s did not run", q.Title, q.Tool).
			WithHint("Ask again when somebody is there.")
	case a.Choice == Absent && a.By == Client:
		return fault.New(CodeNobody, op, "the client answered %q by itself (%s), so %s did not run; whether a person saw the question is not known", q.Title, a.Note, q.Tool).
			WithHint("Do not try again unless asked to: a client that nobody sits at answers so by itself.")
	case a.Choice == Absent || a.By == Nobody:
		return fault.New(CodeNobody, op, "nobody was there to answer %q, so %s did not run", q.Title, q.Tool).
			WithHint("Let a person answer in a skin that can ask, or start the session in a mode that allows it.")
	case a.Choice != No:
		return nil
	case a.By == Person:
		return fault.New(CodeDenied, op, "a person said no to %q%s", q.Title, note).WithHint("Do not try again unless asked to.")
	case a.By == Client:
		return fault.New(CodeDenied, op, "the client declined %q by itself%s; no person was asked", q.Title, note).
			WithHint("Check the client's own permission settings.")
	default:
		return fault.New(CodeDenied, op, "a policy declined %q%s; no person was asked", q.Title, note).WithHint("Do not try again in this session.")
	}
}

// run is the only place that calls a handler. Input that is still what was checked is not
// checked again.
func (g *Gate) run(ctx context.Context, t tool.Tool, req Request, checked string) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, coded(err, t.ID)
	}
	unlock, err := g.o.Locks.Lock(ctx, tool.Key(t.Spec, req.Input))
	if err != nil {
		return tool.Result{}, coded(err, t.ID)
	}
	defer unlock()
	run := t.Run
	if string(req.Input) == checked {
		run = t.RunChecked
	}
	res, err := protect(ctx, t.ID, run, req)
	if err != nil {
		return tool.Result{}, coded(err, t.ID)
	}
	if t.Effect == tool.Read && (res.Review != nil || res.Receipt != nil) {
		return tool.Result{}, fault.New(CodeReadChanged, t.ID, "%q says that it only reads, and it touched a draft", t.ID).
			WithHint("list the drafts with change.query, and report this as a bug")
	}
	return g.bound(ctx, t, req.Session, res)
}

// protect turns a panic of a handler into an error: one bad tool must not end the
// process with everybody's work in it.
func protect(ctx context.Context, id string, run tool.Handler, req Request) (res tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = tool.Result{}, fault.New(fault.Internal, id, "the tool panicked: %v", p).WithHint("Report this as a bug.")
		}
	}()
	return run(ctx, req.Call, req.Input)
}

// coded gives every error a code and an operation.
func coded(err error, op string) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled):
		return fault.Wrap(err, fault.Cancelled, op, "the call was cancelled")
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Timeout, op, "the call took too long")
	default:
		return fault.Wrap(err, fault.Internal, op, "the tool failed")
	}
}

// bound keeps what a model gets within the tool's limit. The whole goes behind a
// handle.
func (g *Gate) bound(ctx context.Context, t tool.Tool, session string, res tool.Result) (tool.Result, error) {
	limit := t.Inline
	if limit == 0 {
		limit = result.MaxInline
	}
	if kept := boundBlocks(res.Blocks); len(kept) < len(res.Blocks) {
		res.Text += fmt.Sprintf("\n[%d of %d images were left out: together they have more than %d bytes.]", len(res.Blocks)-len(kept), len(res.Blocks), maxBlocks)
		res.Blocks = kept
	}
	whole := res.Text
	long := utf8.RuneCountInString(res.Text) > limit
	if !long {
		if utf8.RuneCount(res.Structured) <= limit {
			return res, nil
		}
		whole = string(res.Structured)
	}
	handle, err := g.put(ctx, session, whole)
	res.Structured, res.Handle = nil, handle
	switch {
	case err != nil && t.Effect == tool.Read:
		return tool.Result{}, err
	case err != nil:
		// The deed is done, so the result is not an error; it says what is missing.
		res.Text = fmt.Sprintf("%s: %v. The call itself succeeded.", fault.CodeOf(err), err)
	case long:
		res.Text = fmt.Sprintf("[%s holds all %d characters; these are the first %d. Read on with result.query.]\n%s",
			handle, utf8.RuneCountInString(whole), min(limit, result.MaxInline), Peek(whole, min(limit, result.MaxInline)))
	default:
		res.Text += fmt.Sprintf("\n[%s holds the structured result of %d characters. Read it with result.query.]", handle, utf8.RuneCountInString(whole))
	}
	return res, nil
}

func (g *Gate) put(ctx context.Context, session, text string) (string, error) {
	if g.o.Results == nil {
		return "", fault.New(fault.TooLarge, "gate.run", "the result has %d characters and there is nowhere to keep it, so it was left out", utf8.RuneCountInString(text)).
			WithHint("Ask for less at once.")
	}
	handle, err := g.o.Results.Put(ctx, session, text)
	if err != nil {
		return "", fault.Wrap(err, fault.CodeOf(err), "gate.run", "the result of %d bytes was left out", len(text)).
			WithHint("Ask for less at once, by an offset and a limit where the tool has them.")
	}
	return handle, nil
}

func boundBlocks(blocks []model.Blob) []model.Blob {
	sum := 0
	for i, b := range blocks {
		if sum += len(b.Data); sum > maxBlocks {
			return blocks[:i]
		}
	}
	return blocks
}

// Peek is the first n characters of s. A character is a rune and is never split.
func Peek(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

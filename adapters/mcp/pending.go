package mcp

import (
	"context"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// Questions is where the questions of a studio lie, for all of its processes. A person
// answers them there in another skin; no tool has a way to it.
type Questions interface {
	// Ask lays a question down; client is what the asker calls itself.
	Ask(ctx context.Context, q gate.Question, client string) error
	// Waiting finds the question of a session about one exact call that has no end yet.
	Waiting(ctx context.Context, session, digest string) (question.Question, bool, error)
	// Settle ends a question, and returns the answer that counts: a person's from
	// elsewhere where there is one, else own.
	Settle(ctx context.Context, id string, own gate.Answer) (gate.Answer, error)
}

// layDown makes a question known to the studio's other skins.
func (s *Server) layDown(ctx context.Context, q gate.Question, req *sdk.CallToolRequest) error {
	if s.o.Questions == nil {
		return nil
	}
	return s.o.Questions.Ask(ctx, q, clientName(req))
}

// clientName is what a client calls itself. Nothing is decided by it.
func clientName(req *sdk.CallToolRequest) string {
	info := req.ClientInfo()
	if info == nil {
		return ""
	}
	name := info.Name
	if info.Version != "" {
		name += " " + info.Version
	}
	return clip(name, 80)
}

// settle is the answer that counts.
func (s *Server) settle(ctx context.Context, id string, own gate.Answer) (gate.Answer, error) {
	s.mu.Lock()
	delete(s.open, id)
	s.mu.Unlock()
	if s.o.Questions == nil {
		return own, nil
	}
	return s.o.Questions.Settle(context.WithoutCancel(ctx), id, own)
}

// again goes on with a question that the same call asked before: not ok where there is
// none, and the call asks its own.
func (s *Server) again(ctx context.Context, t tool.Tool, c call, asks bool) (out *sdk.CallToolResult, ok bool) {
	if s.o.Questions == nil {
		return nil, false
	}
	w, ok, err := s.o.Questions.Waiting(ctx, s.session.ID, c.question.Digest)
	if err != nil {
		return s.finish(ctx, t, c, tool.Result{}, err, true), true
	}
	if !ok {
		return nil, false
	}
	before, ok := s.take(w.ID, w.State != question.Open)
	switch {
	case !ok: // another call goes on with it
		return nil, false
	case w.State == question.Answered:
		s.o.Gate.Withdraw(c.question.ID)
		c.question = before.question
		s.endFirst(ctx, before)
		return s.resume(ctx, t, c, *w.Answer), true
	case w.State == question.Expired:
		s.endFirst(ctx, before)
		s.drop(ctx, before, gate.Answer{Choice: gate.TimedOut, By: gate.Nobody})
		return nil, false
	case asks: // it is asked with a form of its own
		return nil, false
	default:
		s.o.Gate.Withdraw(c.question.ID)
		return s.finish(ctx, t, c, tool.Result{}, s.waits(*before.question), true), true
	}
}

// take is the call that waits with a question; with and it is taken from the others.
func (s *Server) take(id string, and bool) (call, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.open[id]
	if and {
		delete(s.open, id)
	}
	return c, ok
}

// waits is the answer to a call that waits for a person elsewhere.
func (s *Server) waits(q gate.Question) error {
	e := fault.New(question.CodeWaits, "mcp.call", "%q waits for a person as question %s, so %s did not run yet", q.Title, q.ID, q.Tool)
	if s.o.Where == nil {
		return e.WithHint("Make the same call again when they have answered.")
	}
	return e.WithHint("%s Make the same call again when they have answered.", s.o.Where(q.ID))
}

// endFirst ends the call that asked and has no result yet, since another one goes on with
// its question.
func (s *Server) endFirst(ctx context.Context, c call) {
	if t, ok := s.o.Registry.Get(c.tool); ok && !c.finished {
		s.finish(ctx, t, c, tool.Result{}, fault.New(question.CodeWaits, "mcp.call", "the same call was made again, and goes on with question %s", c.question.ID), true)
	}
}

// drop ends a question without running anything, and writes down what is true of it: also
// a person's yes that its client did not come for.
func (s *Server) drop(ctx context.Context, c call, own gate.Answer) {
	a, err := s.settle(ctx, c.question.ID, own)
	if err != nil {
		a = own
	}
	if a.By == gate.Person {
		a.Note = clip("the client did not come for the answer; nothing ran. "+a.Note, maxValue)
	}
	_, _ = s.session.Recorder.Record(context.WithoutCancel(ctx), 0, trace.GateAnswered{
		Question: c.question.ID, Choice: string(a.Choice), By: string(a.By), Note: a.Note,
	}) // the log of a session whose client is gone: there is nobody to tell
	_, _ = s.o.Gate.Resume(ctx, *c.question, own) // which closes it there, and is no yes
}

// closeOpen ends the questions that nobody answered before the client left, and their
// calls.
func (s *Server) closeOpen(ctx context.Context) {
	s.mu.Lock()
	left := s.open
	s.open = map[string]call{}
	s.mu.Unlock()
	ids := make([]string, 0, len(left))
	for id := range left {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		c := left[id]
		c.to = nil
		gone := nobody("the client left")
		s.drop(ctx, c, gone)
		if t, ok := s.o.Registry.Get(c.tool); ok && !c.finished {
			s.finish(ctx, t, c, tool.Result{}, fault.New(gate.CodeNobody, "mcp.call", "the client left before %q was answered", c.question.Title), true)
		}
	}
}

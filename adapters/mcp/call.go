package mcp

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// maxOpen is how many questions may wait for a client at once.
const maxOpen = 100

// The codes of this package.
const (
	CodeTooManyOpen fault.Code = "MCP_TOO_MANY_QUESTIONS" // a client left too many questions unanswered
	CodeNoQuestion  fault.Code = "MCP_NO_QUESTION"        // an answer to a question that is not open, or about another call
)

// answer is the whole way of one request of a client.
func (s *Server) answer(ctx context.Context, t tool.Tool, req *sdk.CallToolRequest) *sdk.CallToolResult {
	input := []byte(req.Params.Arguments)
	if string(input) == "null" { // how some clients say that there are none
		input = nil
	}
	links := s.o.Resources != nil && s.o.Results != nil && req.ProtocolVersion() >= linksSince
	beat := s.beat(ctx, req, t.ID)
	defer beat.end()
	if req.Params.RequestState != "" {
		c, err := s.reopen(req.Params.RequestState, t.ID, input)
		if err == nil {
			c.to, c.links = req.Session, links
			return s.resume(ctx, t, c, fromResponses(*c.question, req.Params.InputResponses))
		}
		if c, refused := s.announce(ctx, req.Session, t, input); refused == nil {
			return s.finish(ctx, t, c.call, tool.Result{}, err, true)
		}
		return failure(err)
	}
	c, err := s.announce(ctx, req.Session, t, input)
	if err != nil {
		return failure(err)
	}
	c.links = links
	d := s.o.Gate.Decide(ctx, gate.Request{Call: s.call(c, beat.report), Tool: t.ID, Input: input})
	c.runs = d.Request.Tool
	switch d.Outcome {
	case gate.Allowed:
		res, err := s.o.Gate.Run(ctx, d)
		return s.finish(ctx, t, c.call, res, err, false)
	case gate.Asked:
		c.question = d.Question
		if s.session.Shared {
			c.question.MayRemember = false
		}
		return s.ask(ctx, t, c.call, req)
	default:
		return s.finish(ctx, t, c.call, tool.Result{}, d.Err, false)
	}
}

// call is a call as its handler sees it.
func (s *Server) call(c announced, report func(tool.Progress)) tool.Call {
	return tool.Call{ID: c.id, Session: s.session.ID, Skin: tool.MCP, Seq: c.seq, Report: report}
}

// announced is a call that stands in the trace.
type announced struct {
	call
	seq int64
}

// announce gives the call an id and writes it down. What cannot be written down is
// not run.
func (s *Server) announce(ctx context.Context, to *sdk.ServerSession, t tool.Tool, input []byte) (announced, error) {
	s.mu.Lock()
	index := s.calls
	s.calls++
	s.mu.Unlock()
	c := call{id: s.o.Clock.ID("call"), tool: t.ID, runs: t.ID, input: input, to: to}
	e, err := s.session.Recorder.Record(ctx, 0, trace.ToolCalled{Index: index, Call: c.id, Tool: t.ID, Input: string(input)})
	if err != nil {
		return announced{}, fault.Wrap(err, fault.CodeOf(err), "mcp.call", "the call of %q could not be recorded, so it did not run", t.ID).
			WithHint("See to the session's trace file, then call again.")
	}
	return announced{c, e.Seq}, nil
}

// finish writes down how a call ended and makes it an answer. It does so when the
// client has gone, too.
func (s *Server) finish(ctx context.Context, t tool.Tool, c call, res tool.Result, err error, notRun bool) *sdk.CallToolResult {
	out := success(t, res, c.links)
	if err != nil {
		out = failure(err)
	} else if res.Reveal != nil {
		s.reveal(res.Reveal)
	}
	event := trace.ToolFinished{
		Call: c.id, Tool: c.tool, OK: err == nil, Text: res.Text, Images: res.Blocks,
		Handle: res.Handle, Review: res.Review, Reveal: res.Reveal, NotRun: notRun,
	}
	if err != nil {
		event = trace.ToolFinished{Call: c.id, Tool: c.tool, Code: string(fault.CodeOf(err)), Text: textOf(out), NotRun: notRun}
	}
	_, rerr := s.session.Recorder.Record(context.WithoutCancel(ctx), 0, event)
	if rerr == nil && res.Receipt != nil {
		_, rerr = s.session.Recorder.Record(context.WithoutCancel(ctx), 0, trace.DraftSettled{Receipt: *res.Receipt})
	}
	if class, _ := s.o.Table.Class(c.runs); class != trust.Read {
		if rerr == nil {
			rerr = s.session.Recorder.Sync()
		}
		s.factory.changed(context.WithoutCancel(ctx), s)
	}
	if rerr != nil && s.o.Logger != nil {
		// The deed is done: the client hears of it, the log of the gap.
		s.o.Logger.Error("a result could not be recorded", "call", c.id, "tool", c.tool, "error", rerr)
	}
	s.logCall(ctx, c, err)
	if rerr != nil {
		s.log(ctx, c.to, "error", note{Event: "a result could not be recorded", Call: c.id, Tool: c.runs, Code: string(fault.CodeOf(rerr))})
	}
	return out
}

// keep holds a call until its question is answered.
func (s *Server) keep(c call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxOpen {
		return fault.New(CodeTooManyOpen, "mcp.call", "%d questions wait for an answer, which is the most", maxOpen).
			WithHint("Answer some of them: make their calls again with inputResponses and requestState.")
	}
	s.open[c.question.ID] = c
	return nil
}

// reopen takes back a call whose question a client answers. The answer must come
// with the same call.
func (s *Server) reopen(state, id string, input []byte) (call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.open[state]
	if !ok {
		return call{}, fault.New(CodeNoQuestion, "mcp.call", "no question %q is open", clip(state, 80)).
			WithHint("Make the call again without requestState.")
	}
	if c.tool != id || !sameJSON(c.input, input) {
		return call{}, fault.New(CodeNoQuestion, "mcp.call", "question %q is about another call than this one", state).
			WithHint("Make the call again without requestState.")
	}
	delete(s.open, state)
	return c, nil
}

// closeOpen ends the calls whose questions nobody answered before the client left.
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
		t, _ := s.o.Registry.Get(c.tool)
		s.resume(ctx, t, c, nobody("the client left"))
	}
}

// sameJSON reports whether two inputs are the same but for their spelling.
func sameJSON(a, b []byte) bool {
	ca, errA := canon.JSON(orEmpty(a))
	cb, errB := canon.JSON(orEmpty(b))
	return errA == nil && errB == nil && string(ca) == string(cb)
}

func orEmpty(b []byte) []byte {
	if len(b) == 0 {
		return []byte("{}")
	}
	return b
}

// clip shortens s to n characters.
func clip(s string, n int) string {
	if short := gate.Peek(s, n); short != s {
		return strings.ToValidUTF8(short, "") + "…"
	}
	return s
}

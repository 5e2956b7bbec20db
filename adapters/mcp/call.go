package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
	CodeTooManyOpen  fault.Code = "MCP_TOO_MANY_QUESTIONS" // a client left too many questions unanswered
	CodeNoQuestion   fault.Code = "MCP_NO_QUESTION"        // an answer to a question about another call
	CodeState        fault.Code = "MCP_STATE_INVALID"      // a requestState that was altered, or given to another session
	CodeStateExpired fault.Code = "MCP_STATE_EXPIRED"      // a requestState whose time is over
	CodeStateUsed    fault.Code = "MCP_STATE_USED"         // a requestState that was brought back before
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
		if err := s.passed(ctx, c.call, d); err != nil {
			return s.finish(ctx, t, c.call, tool.Result{}, err, true)
		}
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

// passed writes down that nobody was asked where somebody could have been.
func (s *Server) passed(ctx context.Context, c call, d gate.Decision) error {
	if !d.Passed {
		return nil
	}
	_, err := s.session.Recorder.Record(ctx, 0, trace.GatePassed{
		Call: c.id, Tool: c.runs, Class: string(d.Class), Mode: string(s.o.Gate.Mode()), By: string(d.By), Remembered: d.Remembered,
	})
	if err != nil {
		return fault.Wrap(err, fault.CodeOf(err), "mcp.call", "that nobody was asked could not be recorded, so %q did not run", c.runs)
	}
	return nil
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
		Handle: res.Handle, Review: res.Review, Reviews: res.Reviews, Show: res.Show, Reveal: res.Reveal, NotRun: notRun,
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

// reopen takes back a call whose question a client answers. The state must be the one
// that it got, in time, with the same call, and once.
func (s *Server) reopen(text, id string, input []byte) (call, error) {
	st, err := unsign(s.factory.key(), text)
	if err == nil {
		err = st.check(s.session.ID, id, input, s.o.Clock.Now())
	}
	if err != nil {
		return call{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.open[st.Question]
	if !ok {
		return call{}, fault.New(CodeStateUsed, "mcp.call", "question %q was answered before, and waits no more", st.Question).WithHint("%s", askAgain)
	}
	delete(s.open, st.Question)
	return c, nil
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

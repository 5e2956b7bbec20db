package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

const (
	// inBand is the first revision in which a handler may not ask: the question goes
	// into the result, and the client calls again.
	inBand = "2026-07-28"

	answerKey   = "gate"   // names the question among a result's input requests
	answerField = "answer" // the one field of the form

	maxRows  = 20  // rows of a review in a message
	maxValue = 300 // characters of a value in a message
)

// ask puts a question to whoever sits at the client, or lays it down for a person
// elsewhere.
func (s *Server) ask(ctx context.Context, t tool.Tool, c call, req *sdk.CallToolRequest) *sdk.CallToolResult {
	asks := canElicit(req.ClientCapabilities())
	if out, ok := s.again(ctx, t, c, asks); ok {
		return out
	}
	q := *c.question
	if _, err := s.session.Recorder.Record(ctx, 0, trace.GateAsked{
		Question: q.ID, Call: c.id, Tool: q.Tool, Class: string(q.Class), Title: q.Title, Review: q.Review,
	}); err != nil {
		return s.finish(ctx, t, c, tool.Result{}, fault.Wrap(err, fault.CodeOf(err), "mcp.call", "the question could not be recorded, so nobody was asked"), true)
	}
	s.log(ctx, c.to, "notice", note{Event: "a person is asked", Call: c.id, Tool: c.runs})
	if err := s.layDown(ctx, q, req); err != nil {
		s.drop(ctx, c, nobody("the question could not be kept"))
		return s.finish(ctx, t, c, tool.Result{}, err, true)
	}
	switch {
	case !asks && s.o.Questions == nil:
		return s.resume(ctx, t, c, nobody("the client cannot ask"))
	case !asks:
		return s.pend(ctx, t, c)
	case req.ProtocolVersion() >= inBand:
		return s.require(ctx, t, c)
	}
	res, err := s.elicit(ctx, req.Session, form(q))
	switch {
	case ctx.Err() != nil:
		return s.resume(ctx, t, c, nobody("the client cancelled the call"))
	case err != nil:
		return s.resume(ctx, t, c, nobody("asking failed: "+clip(err.Error(), maxValue)))
	default:
		return s.resume(ctx, t, c, fromForm(q, res))
	}
}

// pend ends a call whose question a person answers elsewhere.
func (s *Server) pend(ctx context.Context, t tool.Tool, c call) *sdk.CallToolResult {
	c.finished = true
	if err := s.keep(c); err != nil {
		s.drop(ctx, c, nobody(err.Error()))
		return s.finish(ctx, t, c, tool.Result{}, err, true)
	}
	return s.finish(ctx, t, c, tool.Result{}, s.waits(*c.question), true)
}

// require ends a call with its question, for a client that makes the call again with the
// answer.
func (s *Server) require(ctx context.Context, t tool.Tool, c call) *sdk.CallToolResult {
	signed, err := stateOf(s.session.ID, c, c.question.At.Add(question.Lifetime)).sign(s.factory.key())
	if err == nil {
		err = s.keep(c)
	}
	if err != nil {
		s.drop(ctx, c, nobody(err.Error()))
		return s.finish(ctx, t, c, tool.Result{}, err, true)
	}
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{answerKey: form(*c.question)}, RequestState: signed}
}

// elicit asks from inside of a handler, until the answer comes or the client leaves.
func (s *Server) elicit(ctx context.Context, session *sdk.ServerSession, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-s.left:
			cancel(errLeft)
		case <-ctx.Done():
		}
	}()
	res, err := session.Elicit(ctx, p)
	if err != nil && errors.Is(context.Cause(ctx), errLeft) {
		return nil, errLeft
	}
	return res, err
}

// errLeft says that there is nobody at the other end any more.
var errLeft = errors.New("the client left")

// resume writes down the answer and lets the gate act on it.
func (s *Server) resume(ctx context.Context, t tool.Tool, c call, a gate.Answer) *sdk.CallToolResult {
	q := *c.question
	a, err := s.settle(ctx, q.ID, a)
	if err != nil {
		a = nobody("the answer could not be kept") // and nothing runs
	}
	_, rerr := s.session.Recorder.Record(context.WithoutCancel(ctx), 0, trace.GateAnswered{
		Question: q.ID, Choice: string(a.Choice), By: string(a.By), Note: a.Note,
	})
	if err = cmp.Or(err, rerr); err != nil {
		err = fault.Wrap(err, fault.CodeOf(err), "mcp.call", "the answer could not be recorded, so %q did not run", q.Tool)
		return s.finish(ctx, t, c, tool.Result{}, err, true)
	}
	res, err := s.o.Gate.Resume(ctx, q, a)
	if ctx.Err() != nil && err != nil && a.By == gate.Nobody {
		err = fault.Wrap(ctx.Err(), fault.Cancelled, "mcp.call", "the client cancelled %q before anybody answered", q.Tool)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == gate.CodeNobody && s.o.Elsewhere != nil {
		err = f.WithHint("%s", s.o.Elsewhere(q.Tool, []byte(q.Input)))
	}
	return s.finish(ctx, t, c, res, err, err != nil)
}

// canElicit reports whether the client can show a form. Both kinds missing is how
// the first clients with elicitation said that they can.
func canElicit(caps *sdk.ClientCapabilities) bool {
	if caps == nil || caps.Elicitation == nil {
		return false
	}
	return caps.Elicitation.Form != nil || caps.Elicitation.URL == nil
}

// form is the question as a form with one field.
func form(q gate.Question) *sdk.ElicitParams {
	choices := []any{string(gate.Once), string(gate.ThisSession), string(gate.No)}
	describe := "once: this call. session: this tool until the session ends. no: not at all."
	if !q.MayRemember {
		choices = []any{string(gate.Once), string(gate.No)}
		describe = "once: this call. no: not at all."
	}
	return &sdk.ElicitParams{
		Mode: "form", Message: message(q),
		RequestedSchema: &jsonschema.Schema{
			Type: "object", Required: []string{answerField},
			Properties: map[string]*jsonschema.Schema{
				answerField: {Type: "string", Title: "Answer", Description: describe, Enum: choices},
			},
		},
	}
}

// message is what a person reads: the target and what changes, or the input. A name or
// a value cannot make lines of its own in it.
func message(q gate.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s (%s)", plain.Line(q.Title, maxValue), q.Tool, q.Class)
	if q.Review == nil {
		fmt.Fprintf(&b, "\ninput: %s", plain.Line(q.Input, 2*maxValue))
		return b.String()
	}
	r := q.Review
	fmt.Fprintf(&b, "\n%s", r.Target)
	for i, row := range r.Rows {
		if i == maxRows {
			break
		}
		fmt.Fprintf(&b, "\n%s: %q → %q", plain.Line(row.Label, 80), clip(row.Before, maxValue), clip(row.After, maxValue))
	}
	if more := r.More + max(0, len(r.Rows)-maxRows); more > 0 {
		fmt.Fprintf(&b, "\n… and %d more", more)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s", plain.Line(w, maxValue))
	}
	return b.String()
}

// fromResponses finds the answer in a call that was made again.
func fromResponses(q gate.Question, responses sdk.InputResponseMap) gate.Answer {
	res, ok := responses[answerKey].(*sdk.ElicitResult)
	if !ok || res == nil {
		return nobody("the client called again without an answer")
	}
	return fromForm(q, res)
}

// fromForm reads a filled form. Only what was filled in counts as a person's word:
// a form that was declined or closed may never have been shown.
func fromForm(q gate.Question, res *sdk.ElicitResult) gate.Answer {
	switch res.Action {
	case "accept":
	case "decline", "cancel":
		return gate.Answer{Choice: gate.Absent, By: gate.Client, Note: res.Action}
	default:
		return gate.Answer{Choice: gate.Absent, By: gate.Client, Note: "unknown action " + clip(res.Action, 40)}
	}
	word, _ := res.Content[answerField].(string)
	switch choice := gate.Choice(word); {
	case choice == gate.Once, choice == gate.No, choice == gate.ThisSession && q.MayRemember:
		return gate.Answer{Choice: choice, By: gate.Person}
	default:
		return gate.Answer{Choice: gate.Absent, By: gate.Client, Note: "answered what was not offered: " + clip(word, 40)}
	}
}

func nobody(why string) gate.Answer {
	return gate.Answer{Choice: gate.Absent, By: gate.Nobody, Note: why}
}

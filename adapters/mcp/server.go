// Package mcp serves the tool registry to MCP clients, over stdio and over HTTP.
//
// It is an adapter and a skin: the only room that knows the MCP SDK. It lists the
// direct tools under their dotted ids, with their own schemas, and sends every call
// through the gate; it classifies nothing, runs nothing and keeps no list of tools
// of its own. Deferred tools are listed when capability.find revealed them. Clients list
// too late or never: it returns their schemas as well, and capability.call runs them.
//
// # One server a client
//
// A Factory makes a Server for each client of a process. They share the registry, the
// gate and the store; what one was shown or asked is its own.
//
// # Questions to a person
//
// The gate never blocks, and the newest revision of MCP (2026-07-28) refuses a
// request to the client inside of a handler. So a call that is asked about ends with
// an input-required result that carries the question's id, and the client makes the
// call again with the answer. Older clients that declared elicitation are asked from
// inside the handler. A client that declared none gets GATE_NOBODY.
//
// # By address
//
// Pieces, drafts, long results, traces and pages are resources too. What a tool reads is
// read through it: at the gate, within its bounds, and with a line in the trace. Lists
// are made when a client first asks, so that none waits for them before it has the tools.
// # Servers of other people
//
// The other way round, Servers is their client: it starts them, and makes tools of
// theirs for the loop alone (servers.go). They are never served on.
//
// # What is left out
//
// Sampling and roots: the newest revision deprecates both. A list of resources or prompts
// is made when it is asked for, so nobody is told that one changed. HTTP
// is in package endpoint, which keeps the sessions that Factory.Over makes.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// A Gate is what the server asks of runtime/gate.
type Gate interface {
	Decide(ctx context.Context, req gate.Request) gate.Decision
	Run(ctx context.Context, d gate.Decision) (tool.Result, error)
	Resume(ctx context.Context, q gate.Question, a gate.Answer) (tool.Result, error)
	// Withdraw takes back a question of Decide that is put to nobody.
	Withdraw(id string)
	Mode() trust.Mode
}

// A Recorder writes the session's trace. It is called from many goroutines, and for
// the first time at the first call of a tool, so that it may open its file then.
type Recorder interface {
	// Record appends an event. Calls of clients are outside of turns: turn is 0.
	Record(ctx context.Context, turn int, p trace.Payload) (trace.Event, error)
	// Sync is called when a call has ended that was more than reading.
	Sync() error
}

// A Server answers one client. It is safe for concurrent calls.
type Server struct {
	o       Options // of the factory
	factory *Factory
	session Session
	sdk     *sdk.Server
	left    chan struct{} // closed when the client sends no more, or nobody is to be waited for
	// leave closes left, once.
	leave func()

	mu    sync.Mutex
	calls int             // made so far
	open  map[string]call // asked and not answered yet, by question id

	revealing sync.Mutex
	revealed  []string // deferred tools that are listed now; under revealing

	templated, prompted sync.Once // the SDK has what it serves
	watch               watch
	watching            sync.WaitGroup // goroutines of watch
}

// call is one call of a tool, from its announcement to its result.
type call struct {
	id       string // in the trace
	tool     string // the dotted id that was called
	runs     string // the one that the gate decided on: another for capability.call
	input    []byte // as it came
	question *gate.Question
	to       *sdk.ServerSession // the client, nil when it has gone
	links    bool               // the client knows links to resources
	finished bool               // its result is told: it waits for a person elsewhere
}

// ReadOnly keeps the tools that a read-only server has. The gate needs the smaller
// registry too: what it does not know cannot be reached by capability.call.
func ReadOnly(r *tool.Registry, t *trust.Table) *tool.Registry {
	return r.Only(func(s tool.Spec) bool { return t.ReadOnly(s.ID) })
}

// Serve answers the client on in and out until in ends or ctx does. Calls that are
// still running when in ends get their answers, and questions that are open then are
// closed. Only MCP messages are written to out. A server serves once.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	defer context.AfterFunc(ctx, s.leave)() // a question that is open would be waited for
	answers := &shared{w: out}
	var client sdk.Transport = &sdk.IOTransport{Reader: newLines(readCloser(in), answers), Writer: answers}
	if s.session.Record != nil {
		client = &inward{client, s.session.Record}
	}
	err := s.sdk.Run(ctx, &drain{client, s.leave})
	s.end(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // the caller's wish
	}
	return err
}

// end closes what the client left open: it is called once, when nothing runs any more.
func (s *Server) end(ctx context.Context) {
	s.leave()
	s.watchOff()
	s.closeOpen(context.WithoutCancel(ctx))
}

// readCloser closes in if it can be closed: that ends a read which waits.
func readCloser(in io.Reader) io.ReadCloser {
	if rc, ok := in.(io.ReadCloser); ok {
		return rc
	}
	return io.NopCloser(in)
}

// describe is a tool as clients see it.
func describe(t tool.Tool, table *trust.Table) *sdk.Tool {
	d := &sdk.Tool{
		Name: t.ID, Title: t.Title, Description: t.Description,
		InputSchema: json.RawMessage(t.Input()), Annotations: hints(t, table),
	}
	if t.Output() != nil && t.ID != carrier {
		d.OutputSchema = json.RawMessage(outputSchema(t))
	}
	return d
}

// carrier runs other tools, so its results have their shapes, and none of its own.
const carrier = "capability.call"

// hints says what a call may do, from the trust table alone: nothing that a tool
// says of itself makes it look safer.
func hints(t tool.Tool, table *trust.Table) *sdk.ToolAnnotations {
	yes, no := true, false
	class, ok := table.Class(t.ID)
	a := &sdk.ToolAnnotations{Title: t.Title, DestructiveHint: &yes, OpenWorldHint: &no}
	switch {
	case !ok || class == trust.Egress || class == trust.Exec:
		a.OpenWorldHint = &yes
	case t.ID == carrier:
		// It does what the tool that it carries does.
	case class == trust.Read:
		a.ReadOnlyHint, a.IdempotentHint, a.DestructiveHint = true, true, &no
	case class == trust.Draft:
		a.DestructiveHint = &no
	}
	return a
}

// outputSchema loosens a tool's schema at its root: a result that is too long for
// one answer has a handle in place of its fields, and clients check.
func outputSchema(t tool.Tool) []byte {
	const handle = `"handle":{"type":"string","description":"set alone where the result is too long: read it with result.query"}`
	out := append(make([]byte, 0, len(t.Output())+len(handle)+1), '{')
	err := eachMember(t.Output(), func(name string, value []byte) {
		if name == `"required"` {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, name...), ':')
		if name == `"properties"` && !hasMember(value, `"handle"`) {
			out, value = append(out, "{"+handle+","...), value[1:] // no output schema is without properties
		}
		out = append(out, value...)
	})
	if err != nil {
		panic(fmt.Sprintf("mcp: output schema of %s: %v", t.ID, err))
	}
	return append(out, '}')
}

// hasMember says whether an object has a member at its root; the name is in quotes.
func hasMember(object []byte, name string) (has bool) {
	err := eachMember(object, func(n string, _ []byte) { has = has || n == name })
	return has && err == nil
}

// eachMember calls f for the members of an object, with the names in quotes. A client
// waits for this: the decoder reads object where it is, and is not asked for names that are
// there twice, since the schemas are of our making.
func eachMember(object []byte, f func(name string, value []byte)) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true))
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() == '"' {
		var name, value jsontext.Value
		if name, err = d.ReadValue(); err != nil {
			break
		}
		member := string(name) // the next read may take its bytes
		if value, err = d.ReadValue(); err == nil {
			f(member, value)
		}
	}
	return err
}

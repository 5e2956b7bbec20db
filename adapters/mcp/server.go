// Package mcp serves the tool registry to MCP clients over stdio.
//
// It is an adapter and a skin: the only room that knows the MCP SDK. It lists the
// direct tools under their dotted ids, with their own schemas, and sends every call
// through the gate; it classifies nothing, runs nothing and keeps no list of tools
// of its own. Deferred tools are not listed, since clients list too late or never:
// capability.find returns their schemas, and capability.call runs them.
//
// # Questions to a person
//
// The gate never blocks, and the newest revision of MCP (2026-07-28) refuses a
// request to the client inside of a handler. So a call that is asked about ends with
// an input-required result that carries the question's id, and the client makes the
// call again with the answer. Older clients that declared elicitation are asked from
// inside the handler. A client that declared none gets GATE_NOBODY.
//
// # What is left out
//
// One client on one pair of streams; HTTP, resources, prompts, progress and list
// changes are not here yet, nor is a question that another skin answers while the
// client waits.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
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
}

// A Recorder writes the session's trace. It is called from many goroutines, and for
// the first time at the first call of a tool, so that it may open its file then.
type Recorder interface {
	// Record appends an event. Calls of clients are outside of turns: turn is 0.
	Record(ctx context.Context, turn int, p trace.Payload) (trace.Event, error)
	// Sync is called when a call has ended that was more than reading.
	Sync() error
}

// Options are the doors of a Server. All but Title, Instructions, Elsewhere and
// Logger are needed.
type Options struct {
	Registry     *tool.Registry // the same one that the gate has
	Gate         Gate
	Table        *trust.Table
	Session      string
	Recorder     Recorder
	Clock        clock.Clock
	Name         string // "soundstage"
	Version      string
	Title        string
	Instructions string // what a client's model is told of the server
	// Elsewhere says in one line where a person can do what a client could not ask
	// about; nil where there is no such place.
	Elsewhere func(tool string, input []byte) string
	Logger    *slog.Logger // nil: nothing is logged; never standard output
	// Record is the door that the session passes, of a seam that records; nil: it is not
	// recorded.
	Record *seam.MCPDoor
}

// A Server answers one client. It is safe for concurrent calls.
type Server struct {
	o    Options
	sdk  *sdk.Server
	left chan struct{} // closed when the client sends no more, or nobody is to be waited for
	// leave closes left, once.
	leave func()

	mu    sync.Mutex
	calls int             // made so far
	open  map[string]call // asked and not answered yet, by question id
}

// call is one call of a tool, from its announcement to its result.
type call struct {
	id       string // in the trace
	tool     string // the dotted id that was called
	runs     string // the one that the gate decided on: another for capability.call
	input    []byte // as it came
	question *gate.Question
}

// New makes a server. It reads nothing and opens nothing. It panics when a door is
// missing.
func New(o Options) *Server {
	switch {
	case o.Registry == nil, o.Gate == nil, o.Table == nil, o.Recorder == nil, o.Clock == nil:
		panic("mcp: registry, gate, table, recorder and clock are needed")
	case o.Name == "" || o.Version == "":
		panic("mcp: a server has a name and a version")
	}
	left := make(chan struct{})
	s := &Server{o: o, left: left, leave: sync.OnceFunc(func() { close(left) }), open: map[string]call{}}
	s.sdk = sdk.NewServer(
		&sdk.Implementation{Name: o.Name, Version: o.Version, Title: o.Title},
		&sdk.ServerOptions{
			Instructions: o.Instructions, Logger: o.Logger,
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		},
	)
	listed := map[string]*sdk.Tool{}
	for _, t := range o.Registry.On(tool.MCP).All() {
		if t.Exposure == tool.Direct && t.Here() {
			listed[t.ID] = describe(t, o.Table)
			s.sdk.AddTool(&sdk.Tool{Name: t.ID, InputSchema: anyObject}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return s.answer(ctx, t, req), nil
			})
		}
	}
	s.sdk.AddReceivingMiddleware(s.unlisted, described(listed))
	return s
}

// anyObject is the schema that the SDK gets with each tool. It would read and write a
// schema three times before it lists it; ours are linted where a tool is made.
var anyObject = json.RawMessage(`{"type":"object"}`)

// described puts the tools as clients see them into the SDK's list.
func described(listed map[string]*sdk.Tool) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			res, err := next(ctx, method, req)
			if list, ok := res.(*sdk.ListToolsResult); ok && list != nil {
				for i, t := range list.Tools {
					list.Tools[i] = listed[t.Name]
				}
			}
			return res, err
		}
	}
}

// unlisted answers the call of a deferred tool by its own name. The SDK knows only what
// is listed, and would say that there is no such tool, and not how to call it.
func (s *Server) unlisted(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if r, ok := req.(*sdk.CallToolRequest); ok {
			t, has := s.o.Registry.On(tool.MCP).Get(r.Params.Name)
			if has && t.Exposure == tool.Deferred && t.Here() {
				return failure(fault.New(gate.CodeUnknownTool, "mcp.call", "%q is not listed, so it cannot be called by its name", r.Params.Name).
					WithHint("Call %s with id %q and the same input.", carrier, t.ID)), nil
			}
		}
		return next(ctx, method, req)
	}
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
	if s.o.Record != nil {
		client = &inward{client, s.o.Record}
	}
	err := s.sdk.Run(ctx, &drain{client, s.leave})
	s.closeOpen(context.WithoutCancel(ctx))
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // the caller's wish
	}
	return err
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
		InputSchema: json.RawMessage(t.Input), Annotations: hints(t, table),
	}
	if t.Output != nil && t.ID != carrier {
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
	out := append(make([]byte, 0, len(t.Output)+len(handle)+1), '{')
	err := eachMember(t.Output, func(name string, value []byte) {
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

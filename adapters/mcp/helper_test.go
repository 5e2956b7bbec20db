package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// The revisions that differ in how a person is asked.
var revisions = []string{"2025-11-25", "2026-07-28"}

// tape is a recorder in memory.
type tape struct {
	mu     sync.Mutex
	events []trace.Payload
	broken bool
	more   chan struct{} // a value after each event, if there is room
}

func (r *tape) Record(_ context.Context, _ int, p trace.Payload) (trace.Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken {
		return trace.Event{}, errors.New("disk full")
	}
	r.events = append(r.events, p)
	select {
	case r.more <- struct{}{}:
	default:
	}
	return trace.Event{Seq: int64(len(r.events))}, nil
}

func (r *tape) Sync() error { return nil }

// lines is the trace in short.
func (r *tape) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for _, e := range r.events {
		switch e := e.(type) {
		case trace.ToolCalled:
			lines = append(lines, "called "+e.Tool)
		case trace.GateAsked:
			lines = append(lines, "asked "+e.Tool)
		case trace.GateAnswered:
			lines = append(lines, fmt.Sprintf("answered %s by %s", e.Choice, e.By))
		case trace.ToolFinished:
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("finished %s %v %s", e.Tool, e.OK, e.Code)))
		}
	}
	return lines
}

// waitFor returns when enough is true of the trace.
func (r *tape) waitFor(enough func(lines []string) bool) {
	for !enough(r.lines()) {
		<-r.more
	}
}

type none struct{}

type target struct {
	ID string `json:"id" jsonschema:"the piece"`
}

type piece struct {
	Kind string `json:"kind,omitempty" jsonschema:"its kind"`
	ID   string `json:"id" jsonschema:"the piece"`
}

type listed struct {
	Items []string `json:"items" jsonschema:"ids of pieces"`
}

type wrapped struct {
	ID    string      `json:"id" jsonschema:"the tool to run"`
	Input tool.Object `json:"input" jsonschema:"its input"`
}

// studio is a registry that has one tool of each kind, and counts deeds.
type studio struct {
	mu      sync.Mutex
	deeds   []string
	started chan struct{} // one value when studio.search has begun
	reg     *tool.Registry
}

func (s *studio) did(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deeds = append(s.deeds, what)
}

func (s *studio) done() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.deeds)
}

func spec(id, summary string, effect tool.Effect, exposure tool.Exposure) tool.Spec {
	return tool.Spec{ID: id, Summary: summary, Effect: effect, Exposure: exposure}
}

func newStudio() *studio {
	s := &studio{started: make(chan struct{}, 1)}
	s.reg = tool.NewRegistry(
		tool.New(spec("studio.list", "Lists pieces.", tool.Read, tool.Direct), func(context.Context, tool.Call, none) (tool.Reply[listed], error) {
			s.did("list")
			return tool.Reply[listed]{Out: listed{[]string{"character/ada"}}, Text: "one piece: character/ada"}, nil
		}),
		tool.New(spec("studio.read", "Reads a piece.", tool.Read, tool.Direct), func(_ context.Context, _ tool.Call, in piece) (tool.Reply[listed], error) {
			switch in.ID {
			case "ada":
				return tool.Reply[listed]{Text: "the body of ada"}, nil
			case "long":
				return tool.Reply[listed]{Out: listed{[]string{strings.Repeat("é", 5_000)}}}, nil
			case "image":
				return tool.Reply[listed]{Text: "a picture", Blocks: []model.Blob{{Data: []byte{1, 2, 3}, MediaType: "image/png"}}}, nil
			}
			return tool.Reply[listed]{}, fault.New(fault.NotFound, "studio.read", "no piece %q <here>", in.ID).WithHint("List the pieces.")
		}),
		tool.New(spec("studio.search", "Waits until it is cancelled.", tool.Read, tool.Direct), func(ctx context.Context, _ tool.Call, _ none) (tool.Reply[none], error) {
			s.started <- struct{}{}
			<-ctx.Done()
			return tool.Reply[none]{}, ctx.Err()
		}),
		tool.New(spec("change.apply", "Applies a draft.", tool.Apply, tool.Direct), func(_ context.Context, _ tool.Call, in target) (tool.Reply[none], error) {
			s.did("apply " + in.ID)
			return tool.Reply[none]{Text: "applied"}, nil
		}),
		tool.New(spec("studio.delete", "Deletes a piece.", tool.Apply, tool.Direct), func(_ context.Context, _ tool.Call, in target) (tool.Reply[none], error) {
			s.did("delete " + in.ID)
			return tool.Reply[none]{Text: "deleted"}, nil
		}),
		tool.New(spec("character.identity.update", "Proposes a name.", tool.Draft, tool.Deferred), func(_ context.Context, _ tool.Call, in target) (tool.Reply[none], error) {
			s.did("propose " + in.ID)
			return tool.Reply[none]{Text: "d-0001"}, nil
		}),
		tool.New(spec("capability.call", "Runs a tool by its id.", tool.Read, tool.Direct), func(context.Context, tool.Call, wrapped) (tool.Reply[none], error) {
			panic("the gate runs the inner tool")
		}),
		tool.New(spec("capability.find", "Reveals a tool.", tool.Read, tool.Direct), func(_ context.Context, _ tool.Call, in target) (tool.Reply[none], error) {
			return tool.Reply[none]{Text: "call it", Reveal: []string{in.ID}}, nil
		}),
		tool.New(spec("character.greetings.update", "Proposes a greeting.", tool.Draft, tool.Deferred), func(context.Context, tool.Call, none) (tool.Reply[none], error) {
			return tool.Reply[none]{Text: "d-0002"}, nil
		}),
	)
	return s
}

// cards shows what a call would change.
type cards struct{}

func (cards) Card(_ context.Context, r gate.Request) (gate.Card, error) {
	if r.Tool != "change.apply" {
		return gate.Card{}, nil
	}
	return gate.Card{Title: "Apply draft d-0001 to character/ada?", Review: &draft.Review{
		Draft: "d-0001", Target: "character/ada", Rows: []draft.Change{{Path: "/name", Label: "Name", Before: "Ada", After: "Ida"}},
		Warnings: []string{"another piece has this name"},
	}}, nil
}

// stage is a server with all that it needs.
type stage struct {
	*studio
	tape   *tape
	server *mcp.Server
}

// shelf keeps long results.
type shelf struct{ kept []string }

func (s *shelf) Put(_ context.Context, _, text string) (string, error) {
	s.kept = append(s.kept, text)
	return fmt.Sprintf("r-%d", len(s.kept)), nil
}

func newStage(readOnly bool) *stage { return newStageWith(readOnly, nil, nil) }

func newStageWith(readOnly bool, results gate.Results, door *seam.MCPDoor) *stage {
	s, o := newOptions(readOnly, results)
	r := &tape{more: make(chan struct{}, 1)}
	return &stage{s, r, mcp.New(o, mcp.Session{ID: "s-0001", Recorder: r, Record: door})}
}

func newOptions(readOnly bool, results gate.Results) (*studio, mcp.Options) {
	return newOptionsWith(readOnly, results, nil)
}

func newOptionsWith(readOnly bool, results gate.Results, c clock.Clock) (*studio, mcp.Options) {
	s := newStudio()
	if c == nil {
		c = clock.NewFixed(clock.Epoch)
	}
	table := trust.NewTable(trust.Rows()...)
	reg := s.reg
	if readOnly {
		reg = mcp.ReadOnly(reg, table)
	}
	g := gate.New(gate.Options{Registry: reg, Table: table, Clock: c, Reviewer: cards{}, Results: results})
	return s, mcp.Options{
		Registry: reg, Gate: g, Table: table, Clock: c,
		Name: "soundstage", Version: "v0.0.1", Instructions: "Look for more tools with capability.find.",
	}
}

// asker answers forms as it is told to, and keeps the messages.
type asker struct {
	mu     sync.Mutex
	action string
	answer string
	asked  []*sdk.ElicitParams
}

func (a *asker) handle(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, req.Params)
	res := &sdk.ElicitResult{Action: a.action}
	if a.action == "accept" {
		res.Content = map[string]any{"answer": a.answer}
	}
	return res, nil
}

// connect starts the server on pipes and connects a client of the SDK. A nil asker
// is a client without elicitation.
func (s *stage) connect(t *testing.T, revision string, a *asker) *sdk.ClientSession {
	t.Helper()
	return s.connectWith(t, revision, a, &sdk.ClientOptions{})
}

func (s *stage) connectWith(t *testing.T, revision string, a *asker, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	if a != nil {
		o.ElicitationHandler = a.handle
	}
	toServer, fromClient := pipe()
	toClient, fromServer := pipe()
	ended := make(chan error, 1)
	go func() {
		err := s.server.Serve(t.Context(), toServer, fromServer)
		_ = fromServer.Close()
		ended <- err
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, o)
	cs, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	if got := cs.InitializeResult().ProtocolVersion; got != revision {
		t.Fatalf("the revision is %q, want %q", got, revision)
	}
	t.Cleanup(func() {
		if err := cs.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return cs
}

// say calls a tool and returns its text.
func say(t *testing.T, cs *sdk.ClientSession, name string, args any) (text string, res *sdk.CallToolResult) {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("CallTool(%s): %v", name, err)
	}
	return res.Content[0].(*sdk.TextContent).Text, res
}

var _ mcp.Recorder = (*trace.Log)(nil)

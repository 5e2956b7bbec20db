package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/adapters/mcp/endpoint"
	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// asProgram makes the tests' program one of the two that the suite needs: "server"
// listens and writes its URL, "client" does the scenario of the URL in its last argument.
const asProgram = "SOUNDSTAGE_CONFORMANCE"

func TestMain(m *testing.M) {
	seam.DenyDefaultTransport()
	var err error
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	switch os.Getenv(asProgram) {
	case "server":
		err = serve(ctx, os.Stdout)
	case "client":
		err = runClient(ctx, os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Getenv("MCP_CONFORMANCE_CONTEXT"), os.Args[len(os.Args)-1])
	default:
		stop()
		os.Exit(m.Run())
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(ctx context.Context, out io.Writer) error {
	var b boundary.Options
	l, err := b.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	e := newEndpoint(ctx)
	if err := json.NewEncoder(out).Encode(map[string]string{"event": "ready", "url": "http://" + l.Addr().String() + endpoint.Path}); err != nil {
		return err
	}
	return e.Serve(ctx, l, b, time.Second)
}

// unheard is a recorder that keeps nothing.
type unheard struct{}

func (unheard) Record(context.Context, int, trace.Payload) (trace.Event, error) {
	return trace.Event{}, nil
}
func (unheard) Sync() error { return nil }

// newEndpoint is our endpoint and our servers, with the suite's things put on each.
func newEndpoint(ctx context.Context) *endpoint.Endpoint {
	c := clock.Real{}
	table := trust.NewTable(trust.Rows()...)
	registry := tool.NewRegistry(tool.New(
		tool.Spec{ID: "studio.list", Summary: "Lists nothing.", Effect: tool.Read, Exposure: tool.Direct},
		func(context.Context, tool.Call, struct{}) (tool.Reply[struct{}], error) {
			return tool.Reply[struct{}]{Text: "nothing"}, nil
		},
	))
	factory := mcp.NewFactory(mcp.Options{
		Registry: registry, Table: table, Clock: c, Name: "conformance", Version: "v0",
		Gate: gate.New(gate.Options{Registry: registry, Table: table, Clock: c}),
	})
	ours := factory.Over(func(endpoint.Visitor) (mcp.Session, func() error, error) {
		return mcp.Session{ID: c.ID("s"), Recorder: unheard{}}, func() error { return nil }, nil
	})
	seal := newSeal()
	return endpoint.New(ctx, endpoint.Options{Clock: c, Open: func(ctx context.Context, v endpoint.Visitor) (endpoint.Session, error) {
		s, err := ours(ctx, v)
		if err == nil {
			furnish(s.Server, seal)
		}
		return s, err
	}})
}

// furnish puts what the suite asks for on a server.
func furnish(s *sdk.Server, seal seal) {
	for _, t := range append(append(contents(), talks()...), asks(seal)...) {
		s.AddTool(&sdk.Tool{Name: t.name, Description: t.about, InputSchema: json.RawMessage(t.input())}, t.do)
	}
	for _, t := range changes(s) {
		s.AddTool(&sdk.Tool{Name: t.name, Description: t.about, InputSchema: json.RawMessage(t.input())}, t.do)
	}
	addResources(s)
	addPrompts(s)
	s.AddReceivingMiddleware(acknowledge)
}

package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// newModern is a server of the newest revision: it asks in its results, and tells of
// changes by a subscription.
func newModern(d *deeds) *sdk.Server {
	s := newTheatre(d)
	sdk.AddTool(s, &sdk.Tool{Name: "light"}, func(_ context.Context, req *sdk.CallToolRequest, in scene) (*sdk.CallToolResult, any, error) {
		d.did("light")
		asked, ok := req.Params.InputResponses["which"].(*sdk.ElicitResult)
		if !ok {
			return &sdk.CallToolResult{
				RequestState: "state-1",
				InputRequests: sdk.InputRequestMap{"which": &sdk.ElicitParams{Mode: "form", Message: "which light?", RequestedSchema: &jsonschema.Schema{
					Type: "object", Properties: map[string]*jsonschema.Schema{"light": {Type: "string"}},
				}}},
			}, nil, nil
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(in.Title, " ", asked.Content["light"])}}}, nil, nil
	})
	return s
}

func visitModern(t *testing.T, v *visit, transport sdk.Transport, version string) {
	t.Helper()
	session, err := v.client(version).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	v.saw("server %s", session.InitializeResult().ProtocolVersion)
	params := &sdk.CallToolParams{Name: "light", Arguments: scene{"Act 2"}}
	params.SetProgressToken(version)
	v.saw("result %s", text(session.CallTool(t.Context(), params)))
	v.saw("result %s", text(session.CallTool(t.Context(), &sdk.CallToolParams{Name: "grow", Arguments: scene{}})))
	v.await("list changed", 1)
}

// The newest revision begins with server/discover, asks in results, and subscribes.
func TestOutwardLatest(t *testing.T) {
	for _, w := range ways() {
		if w.name == "stdio" {
			continue // the same lines as memory
		}
		t.Run(w.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.yaml")
			d := &deeds{}
			s := seamFor(t, seam.Record, path)
			recorded := newVisit()
			visitModern(t, recorded, mcp.Outward{Door: s.MCP("modern"), Below: openWith(t, w.name, newModern(d), sdk.StreamableHTTPOptions{Stateless: true}), Clock: clock.Real{}}, "1")
			closed(t, s)
			if !strings.Contains(recorded.tell(), "server 2026-07-28") || !strings.Contains(recorded.tell(), "result Act 2 blue") || d.count() != 3 {
				t.Fatalf("recording shows\n%s\nafter %v", recorded.tell(), d.list)
			}
			for range 2 {
				s = seamFor(t, seam.Replay, path)
				again := newVisit()
				visitModern(t, again, mcp.Outward{Door: s.MCP("modern")}, "2")
				closed(t, s)
				if sorted(again.tell()) != sorted(recorded.tell()) || d.count() != 3 {
					t.Errorf("replay shows\n%s\nand recording showed\n%s", again.tell(), recorded.tell())
				}
			}
		})
	}
}

// A miss reaches the SDK's caller as the server's error, with the place that differs.
func TestOutwardMiss(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	s := seamFor(t, seam.Record, path)
	visitModern(t, newVisit(), mcp.Outward{Door: s.MCP("modern"), Below: openWith(t, "memory", newModern(&deeds{}))}, "1")
	closed(t, s)
	s = seamFor(t, seam.Replay, path)
	session, err := newVisit().client("1").Connect(t.Context(), mcp.Outward{Door: s.MCP("modern")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	_, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "light", Arguments: scene{"Act 3"}})
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || wire.Code != -32050 || !strings.Contains(wire.Message, "SEAM_MISS") || !strings.Contains(wire.Message, `/arguments/title: recorded "Act 2", sent "Act 3"`) {
		t.Errorf("the miss is %v", err)
	}
	if fault.CodeOf(s.Close()) != seam.CodeMiss {
		t.Errorf("the seam says %v", s.Err())
	}
}

func TestOutwardRefuses(t *testing.T) {
	s := seamFor(t, seam.Record, filepath.Join(t.TempDir(), "c.yaml"))
	for name, o := range map[string]mcp.Outward{
		"no door":   {Below: &sdk.IOTransport{}},
		"no below":  {Door: s.MCP("a")},
		"no client": {Door: s.MCP("a"), Below: &sdk.StreamableClientTransport{Endpoint: "http://127.0.0.1"}, Clock: clock.Real{}},
		"no clock":  {Door: s.MCP("a"), Below: &sdk.StreamableClientTransport{HTTPClient: &http.Client{Transport: &http.Transport{}}}},
	} {
		if _, err := o.Connect(t.Context()); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	closed(t, s)
}

// A client that is built on the seam may be used below a door: what the door sends is
// in the cassette once.
func TestOutwardOnTheSeamsClient(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	below := openWith(t, "http", newTheatre(&deeds{}))
	stream, ok := below.(*sdk.StreamableClientTransport)
	if !ok {
		t.Fatal("not HTTP")
	}
	s, err := seam.Open(seam.Options{Mode: seam.Record, Cassette: path, Rules: seam.MCPRules(), Transport: stream.HTTPClient.Transport})
	if err != nil {
		t.Fatal(err)
	}
	stream.HTTPClient = &http.Client{Transport: s.Transport()}
	recorded := newVisit()
	tour(t, recorded, mcp.Outward{Door: s.MCP("theatre"), Below: stream, Clock: clock.Real{}}, "1")
	closed(t, s)
	for _, c := range s.Calls() {
		if !strings.HasPrefix(c.URL, "mcp://") {
			t.Errorf("%s %s went through the door for HTTP", c.Method, c.URL)
		}
	}
	s = seamFor(t, seam.Replay, path)
	tour(t, newVisit(), mcp.Outward{Door: s.MCP("theatre")}, "1")
	closed(t, s)
}

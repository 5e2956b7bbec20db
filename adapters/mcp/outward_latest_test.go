package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
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

// A server that wants to know who asks ends the recording; there is nothing to replay.
func TestOutwardUnauthorized(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	s := seamFor(t, seam.Record, filepath.Join(t.TempDir(), "c.yaml"))
	below := &sdk.StreamableClientTransport{Endpoint: "http://" + l.Addr().String(), HTTPClient: &http.Client{Transport: &http.Transport{}}}
	if _, err := newVisit().client("1").Connect(t.Context(), mcp.Outward{Door: s.MCP("a"), Below: below, Clock: clock.Real{}}, nil); err == nil {
		t.Error("connected")
	}
	if err := s.Close(); fault.CodeOf(err) != seam.CodeAuth {
		t.Errorf("the seam says %v", err)
	}
}

// The stream on which a server speaks on its own is opened again where it broke, and
// an event beyond the bound ends the connection.
func TestOutwardStreamBreaks(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	var opened atomic.Int64
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			switch {
			case bytes.Contains(body, []byte("initialize\"")):
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Mcp-Session-Id", "s1")
				fmt.Fprint(w, `{"jsonrpc":"2.0","id":`, idOf(body), `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"a","version":"1"}}}`)
			case bytes.Contains(body, []byte("server/discover")):
				w.WriteHeader(http.StatusBadRequest)
			default:
				w.WriteHeader(http.StatusAccepted)
			}
			return
		}
		if r.Method != http.MethodGet {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		switch n := opened.Add(1); {
		case r.Header.Get("Mcp-Protocol-Version") != "2025-11-25" || r.Header.Get("Mcp-Session-Id") != "s1":
			t.Errorf("the stream is opened with %v", r.Header)
		case n == 1:
			fmt.Fprint(w, "id: e1\nretry: 5\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/tools/list_changed\"}\n\n: a comment\n\ndata: {\"cut")
		case n == 2:
			if r.Header.Get("Last-Event-Id") != "e1" {
				t.Errorf("opened again after %q", r.Header.Get("Last-Event-Id"))
			}
			fmt.Fprint(w, "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\r\n\r\nevent: other\ndata: x\n\n")
		default:
			piece := bytes.Repeat([]byte("x"), 1<<20)
			for range seam.MaxMessage/len(piece) + 2 {
				if _, err := fmt.Fprintf(w, "data: %s\n", piece); err != nil {
					return
				}
			}
		}
	})}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	s := seamFor(t, seam.Record, filepath.Join(t.TempDir(), "c.yaml"))
	below := &sdk.StreamableClientTransport{Endpoint: "http://" + l.Addr().String(), HTTPClient: &http.Client{Transport: &http.Transport{}}}
	v := newVisit()
	session, err := v.client("1").Connect(t.Context(), mcp.Outward{Door: s.MCP("a"), Below: below, Clock: clock.NewFixed(clock.Epoch)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v.await("list changed", 1)
	if err := session.Wait(); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("the session ends with %v", err)
	}
	if n := opened.Load(); n != 3 {
		t.Errorf("opened %d times, want 3", n)
	}
}

func idOf(body []byte) string {
	_, rest, _ := strings.Cut(string(body), `"id":`)
	id, _, _ := strings.Cut(rest, ",")
	return id
}

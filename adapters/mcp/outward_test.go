//lint:file-ignore SA1019 servers of older revisions still ask for roots and samples

package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// asServer makes the test's program an MCP server on its standard streams.
const asServer = "SOUNDSTAGE_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	seam.DenyDefaultTransport()
	if os.Getenv(asServer) != "" {
		if err := newTheatre(&deeds{}).Run(context.Background(), &sdk.StdioTransport{}); err != nil && !errors.Is(err, context.Canceled) {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// deeds counts what a server did.
type deeds struct {
	mu   sync.Mutex
	list []string
}

func (d *deeds) did(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, what)
}

func (d *deeds) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.list)
}

type scene struct {
	Title string `json:"title"`
}

// newTheatre is somebody else's server: one tool that talks back while it works, one
// that changes the list of tools, one that fails.
func newTheatre(d *deeds) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "theatre", Version: "9"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "stage"}, func(ctx context.Context, req *sdk.CallToolRequest, in scene) (*sdk.CallToolResult, any, error) {
		d.did("stage " + in.Title)
		tell := func(step float64) error {
			if req.Params.GetProgressToken() == nil {
				return nil
			}
			return req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: step, Total: 2, Message: in.Title,
			})
		}
		if err := tell(1); err != nil {
			return nil, nil, err
		}
		asked, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "which light for " + in.Title + "?", RequestedSchema: &jsonschema.Schema{
			Type: "object", Properties: map[string]*jsonschema.Schema{"light": {Type: "string"}},
		}})
		if err != nil {
			return nil, nil, err
		}
		roots, err := req.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		said, err := req.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 5, Messages: []*sdk.SamplingMessage{
			{Role: "user", Content: &sdk.TextContent{Text: "a title"}},
		}})
		if err != nil {
			return nil, nil, err
		}
		if err := tell(2); err != nil {
			return nil, nil, err
		}
		text := fmt.Sprintf("%s in %v light, from %s, called %s", in.Title, asked.Content["light"], roots.Roots[0].URI, said.Content.(*sdk.TextContent).Text)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "grow"}, func(context.Context, *sdk.CallToolRequest, scene) (*sdk.CallToolResult, any, error) {
		d.did("grow")
		sdk.AddTool(s, &sdk.Tool{Name: "grown"}, func(context.Context, *sdk.CallToolRequest, scene) (*sdk.CallToolResult, any, error) {
			return nil, nil, errors.New("not yet")
		})
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "grew"}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "count"}, func(_ context.Context, _ *sdk.CallToolRequest, in scene) (*sdk.CallToolResult, any, error) {
		d.did("count")
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Title + "!"}}}, nil, nil
	})
	return s
}

// A way is how a server is reached.
type way struct {
	name string
	open func(t *testing.T, d *deeds) sdk.Transport
}

func ways() []way {
	return []way{
		{"memory", func(t *testing.T, d *deeds) sdk.Transport { return openWith(t, "memory", newTheatre(d)) }},
		{"stdio", func(_ *testing.T, _ *deeds) sdk.Transport {
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			cmd.Env = append(os.Environ(), asServer+"=1")
			return &sdk.CommandTransport{Command: cmd}
		}},
		{"http", func(t *testing.T, d *deeds) sdk.Transport { return openWith(t, "http", newTheatre(d)) }},
	}
}

// openWith leads to a server in this process.
func openWith(t *testing.T, how string, s *sdk.Server, options ...sdk.StreamableHTTPOptions) sdk.Transport {
	t.Helper()
	if how == "memory" {
		client, server := sdk.NewInMemoryTransports()
		go func() { _ = s.Run(t.Context(), server) }()
		return client
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	o := &sdk.StreamableHTTPOptions{}
	for _, given := range options {
		*o = given
	}
	srv := &http.Server{Handler: sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, o)}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return &sdk.StreamableClientTransport{Endpoint: "http://" + l.Addr().String(), HTTPClient: &http.Client{Transport: &http.Transport{}}}
}

// A visit is what a client sees of the theatre.
type visit struct {
	mu    sync.Mutex
	seen  []string
	more  chan struct{}
	light string
}

func newVisit() *visit { return &visit{more: make(chan struct{}, 100), light: "blue"} }

func (v *visit) saw(format string, args ...any) {
	v.mu.Lock()
	v.seen = append(v.seen, fmt.Sprintf(format, args...))
	v.mu.Unlock()
	v.more <- struct{}{}
}

// await returns when n lines begin so.
func (v *visit) await(prefix string, n int) {
	for {
		v.mu.Lock()
		got := 0
		for _, s := range v.seen {
			if strings.HasPrefix(s, prefix) {
				got++
			}
		}
		v.mu.Unlock()
		if got >= n {
			return
		}
		<-v.more
	}
}

func (v *visit) client(version string) *sdk.Client {
	c := sdk.NewClient(&sdk.Implementation{Name: "visitor", Version: version}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			v.saw("progress %v %v", r.Params.Progress, r.Params.Message)
		},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			v.saw("asked %s", r.Params.Message)
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"light": v.light}}, nil
		},
		CreateMessageHandler: func(_ context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
			v.saw("sampled %s", r.Params.Messages[0].Content.(*sdk.TextContent).Text)
			return &sdk.CreateMessageResult{Model: "m", Role: "assistant", Content: &sdk.TextContent{Text: "Hamlet"}}, nil
		},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { v.saw("list changed") },
	})
	c.AddRoots(&sdk.Root{URI: "file:///home/ada/plays", Name: "plays"})
	return c
}

// A tell is what the test looks at: by what was seen, whatever came between.
func (v *visit) tell() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Join(v.seen, "\n")
}

func text(res *sdk.CallToolResult, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return res.Content[0].(*sdk.TextContent).Text
}

// tour goes through everything that an older revision can do.
func tour(t *testing.T, v *visit, transport sdk.Transport, version string) {
	t.Helper()
	session, err := v.client(version).Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	init := session.InitializeResult()
	v.saw("server %s %s", init.ServerInfo.Name, init.ProtocolVersion)
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		v.saw("tool %s", tool.Name)
	}
	params := &sdk.CallToolParams{Name: "stage", Arguments: scene{"Act 1"}}
	params.SetProgressToken("token-" + version)
	v.saw("result %s", text(session.CallTool(t.Context(), params)))
	v.await("progress", 2)
	v.saw("result %s", text(session.CallTool(t.Context(), &sdk.CallToolParams{Name: "grow", Arguments: scene{}})))
	v.await("list changed", 1)
	v.saw("result %s", text(session.CallTool(t.Context(), &sdk.CallToolParams{Name: "grown", Arguments: scene{}})))
	_, err = session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "nothing://here"})
	v.saw("resource: %v", err)
	if err := session.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

func seamFor(t *testing.T, mode seam.Mode, path string) *seam.Seam {
	t.Helper()
	o := seam.Options{Mode: mode, Cassette: path, Name: "doors/theatre", Rules: seam.MCPRules(), Clock: clock.NewFixed(clock.Epoch), Origin: cassette.Scripted}
	if mode != seam.Replay {
		o.Transport = upstream.NewTransport(http.NotFoundHandler())
	}
	s, err := seam.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closed(t *testing.T, s *seam.Seam) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if u := s.Unused(); len(u) > 0 {
		t.Errorf("unused: %v", u)
	}
}

// What a client saw while recording it sees twice in replay, with no server; another
// version of the client and other tokens make no difference.
func TestOutward(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.yaml")
			done := &deeds{}
			live := newVisit()
			tour(t, live, w.open(t, done), "0")

			s := seamFor(t, seam.Record, path)
			recorded := newVisit()
			before := done.count()
			tour(t, recorded, mcp.Outward{Door: s.MCP("theatre"), Below: w.open(t, done), Clock: clock.Real{}}, "1")
			closed(t, s)
			if got, want := sorted(recorded.tell()), sorted(live.tell()); got != want {
				t.Errorf("recording shows\n%s\nand without the seam there is\n%s", got, want)
			}
			if w.name != "stdio" && done.count() != before+2 {
				t.Errorf("deeds: %v", done.list)
			}
			before = done.count()
			for _, version := range []string{"2", "3"} {
				s := seamFor(t, seam.Replay, path)
				again := newVisit()
				tour(t, again, mcp.Outward{Door: s.MCP("theatre")}, version)
				closed(t, s)
				if got, want := sorted(again.tell()), sorted(recorded.tell()); got != want {
					t.Errorf("replay shows\n%s\nand recording showed\n%s", got, want)
				}
			}
			if done.count() != before {
				t.Error("the server worked in replay")
			}
		})
	}
}

// sorted is for what two goroutines of the SDK tell.
func sorted(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

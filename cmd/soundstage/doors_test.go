package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/adapters/process"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// paints makes the test's program a renderer that writes a file.
const paints = "SOUNDSTAGE_TEST_PAINTS"

func TestMain(m *testing.M) {
	seam.DenyDefaultTransport()
	if name := os.Getenv(paints); name != "" {
		if err := os.WriteFile(name, []byte("a picture"), 0o644); err != nil {
			os.Exit(1)
		}
		fmt.Println("painted", name)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// outside is what an agent reaches beyond its process; in replay all of it is gone.
type outside struct {
	server sdk.Transport
	runner seam.Runner
	search func(context.Context, string) ([]string, error)
}

// everywhere asks a model, a server that asks back, a program and a search, and tells what
// it saw.
func everywhere(t *testing.T, s *seam.Seam, work string, w outside) string {
	t.Helper()
	ctx := t.Context()
	var seen []string
	saw := func(format string, args ...any) { seen = append(seen, fmt.Sprintf(format, args...)) }

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.anthropic.com/v1/messages",
		strings.NewReader(`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Transport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	saw("model %d %s %v", res.StatusCode, body, err)

	progress := make(chan float64, 1)
	client := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"colour": "blue for " + r.Params.Message}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
	})
	session, err := client.Connect(ctx, mcp.Outward{Door: s.MCP("paints"), Below: w.server}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	params := &sdk.CallToolParams{Name: "mix"}
	params.SetProgressToken("p")
	mixed, err := session.CallTool(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	saw("mcp %s, progress %v", mixed.Content[0].(*sdk.TextContent).Text, <-progress)
	if err := session.Close(); err != nil {
		t.Error(err)
	}

	door, err := s.Exec(seam.ExecOptions{Work: work, Env: []string{paints}, Runner: w.runner})
	if err != nil {
		t.Fatal(err)
	}
	out, err := door.Run(ctx, seam.Command{Args: []string{painter(t)}, Env: map[string]string{paints: "out.png"}, Writes: []string{"out.png"}})
	if err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(filepath.Join(work, "out.png"))
	saw("exec %d %s%s %v", out.Exit, out.Stdout, picture, err)

	found, err := seam.Call(ctx, s, "search", "blue", w.search)
	saw("call %q %v", found, err)
	return strings.Join(seen, "\n")
}

// painter is the program; its name is part of the question.
func painter(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// All doors write one cassette, in one order, and a replay needs nothing of what is
// outside.
func TestOneCassette(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.yaml")
	script, err := upstream.Parse("s.upstream.yaml", []byte("turns:\n  - say: {text: Hello.}\n"))
	if err != nil {
		t.Fatal(err)
	}
	clientEnd, serverEnd := sdk.NewInMemoryTransports()
	server := sdk.NewServer(&sdk.Implementation{Name: "paints", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "mix"}, func(ctx context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		if err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: 0.5}); err != nil {
			return nil, nil, err
		}
		a, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "the sky", RequestedSchema: &jsonschema.Schema{
			Type: "object", Properties: map[string]*jsonschema.Schema{"colour": {Type: "string"}},
		}})
		if err != nil {
			return nil, nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(a.Content["colour"])}}}, nil, nil
	})
	go func() { _ = server.Run(t.Context(), serverEnd) }()

	o := seam.Options{
		Mode: seam.Record, Cassette: path, Name: "doors/all", Rules: seam.MCPRules(), Clock: clock.NewFixed(clock.Epoch), Origin: cassette.Scripted,
		Transport: upstream.NewTransport(upstream.New(script)),
	}
	s, err := seam.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	recorded := everywhere(t, s, t.TempDir(), outside{clientEnd, process.Runner{}, func(_ context.Context, q string) ([]string, error) {
		return []string{q + " hills", q + " sea"}, nil
	}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"model 200 ", "mcp blue for the sky, progress 0.5", "painted out.png\na picture <nil>", `call ["blue hills" "blue sea"] <nil>`} {
		if !strings.Contains(recorded, want) {
			t.Errorf("recording shows no %q:\n%s", want, recorded)
		}
	}
	o.Mode, o.Transport = seam.Replay, nil
	for range 2 {
		s, err := seam.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if again := everywhere(t, s, t.TempDir(), outside{}); again != recorded {
			t.Errorf("replay shows\n%s\nand recording showed\n%s", again, recorded)
		}
		if err := s.Close(); err != nil || len(s.Unused()) > 0 {
			t.Errorf("%v, unused %v", err, s.Unused())
		}
	}
	inOneFile(t, path)
}

// inOneFile checks the order of the episodes.
func inOneFile(t *testing.T, path string) {
	t.Helper()
	c, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for i := range c.Len() {
		e, err := c.Episode(i)
		if err != nil {
			t.Fatal(err)
		}
		order = append(order, e.Kind+" "+e.Request.Method+" "+e.Request.URL)
	}
	want := []string{
		"http POST https://api.anthropic.com/v1/messages",
		"mcp POST mcp://paints/initialize", "mcp NOTIFY mcp://paints/notifications/initialized",
		"mcp POST mcp://paints/tools/call", "mcp ANSWER mcp://paints/elicitation/create",
		"exec EXEC exec://" + strings.ToLower(filepath.Base(painter(t))), "call CALL call://search",
	}
	if !slices.Equal(order, want) {
		t.Errorf("the cassette holds\n%s\nwant\n%s", strings.Join(order, "\n"), strings.Join(want, "\n"))
	}
}

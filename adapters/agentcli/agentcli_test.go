package agentcli_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/agentcli"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

const said = `{"type":"system","subtype":"init","mcp_servers":[{"name":"soundstage","status":"connected"}]}
{"type":"assistant","message":{"content":[{"type":"tool_use","name":"mcp__soundstage__studio_list"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"Two pieces.","usage":{"input_tokens":3,"output_tokens":2,"cache_read_input_tokens":9}}
`

func request() model.Request {
	text := func(s string) []model.Part { return []model.Part{{Kind: model.Text, Text: s}} }
	return model.Request{System: text("Be brief."), Messages: []model.Message{
		{Role: model.User, Parts: text("What is here?")}, {Role: model.Assistant, Parts: text("A piece.")}, {Role: model.User, Parts: text("Look again.")},
	}}
}

// The program gets no tools of its own, no settings, and one server; what it said is
// replayed without it, in another folder.
func TestRecordedAndReplayed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	for _, mode := range []seam.Mode{seam.Record, seam.Replay} {
		s, err := seam.Open(seam.Options{Mode: mode, Cassette: file, Transport: http.NewFileTransport(http.Dir(t.TempDir())), Rules: seam.DefaultRules()})
		if err != nil {
			t.Fatal(err)
		}
		work := t.TempDir()
		fake := &seam.Scripted{}
		door, err := s.Exec(seam.ExecOptions{Work: work, Runner: fake})
		if err != nil {
			t.Fatal(err)
		}
		p, err := agentcli.Open("agent-cli/claude/sonnet", work, door)
		if err != nil {
			t.Fatal(err)
		}
		c := p.Command(request())
		if mode == seam.Record {
			fake.Runs = []seam.ScriptedRun{{Args: c.Args, Outcome: seam.Outcome{Stdout: []byte(said)}}}
		}
		at := slices.Index(c.Args, "--tools")
		if at < 0 || c.Args[at+1] != "" || !slices.Contains(c.Args, "--strict-mcp-config") || !slices.Contains(c.Args, "dontAsk") || !slices.Contains(c.Args, "sonnet") {
			t.Errorf("arguments %q", c.Args)
		}
		if in := string(c.Stdin); !strings.Contains(in, "[assistant]\nA piece.") || !strings.HasSuffix(in, "Look again.\n") {
			t.Errorf("prompt %q", in)
		}
		var reply *model.Reply
		for e, err := range p.Stream(t.Context(), request()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == model.Finish {
				reply = e.Reply
			}
		}
		if reply == nil || reply.Parts[0].Text != "Two pieces." || reply.Usage != (model.Usage{State: model.Exact, Input: 3, Output: 2, CacheRead: 9}) {
			t.Errorf("%s: %+v", mode, reply)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatGoesWrong(t *testing.T) {
	for out, want := range map[string]fault.Code{
		"": agentcli.CodeFailed, "hello\n": agentcli.CodeOutput,
		`{"type":"result","is_error":true,"result":"log in"}`:                                        agentcli.CodeFailed,
		`{"type":"system","subtype":"init","mcp_servers":[{"name":"else"}]}`:                         agentcli.CodeFailed,
		`{"type":"system","subtype":"init","mcp_servers":[{"name":"soundstage","status":"failed"}]}`: agentcli.CodeFailed,
	} {
		if _, err := agentcli.Read(seam.Outcome{Stdout: []byte(out), Exit: 1}); fault.CodeOf(err) != want || fault.HintOf(err) == "" {
			t.Errorf("%q: %v, want %s with a hint", out, err, want)
		}
	}
	for _, ref := range []string{"agent-cli/", "agent-cli/gpt", "agent-cli/claude/--x", "anthropic/claude"} {
		if _, err := agentcli.Open(ref, "/", nil); fault.CodeOf(err) != model.CodeUnknown {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

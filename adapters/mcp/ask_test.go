package mcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
)

func TestAsking(t *testing.T) {
	tests := []struct {
		name   string
		asker  *asker
		calls  int
		deeds  int
		asked  int
		text   string
		traced string // of the first question
	}{
		{"once", &asker{action: "accept", answer: "once"}, 2, 2, 2, "applied", "answered once by person"},
		{"for the session", &asker{action: "accept", answer: "session"}, 2, 2, 1, "applied", "answered session by person"},
		{"a person says no", &asker{action: "accept", answer: "no"}, 1, 0, 1, `"code":"GATE_DENIED","message":"gate.resume: a person said no`, "answered no by person"},
		{"the client declines", &asker{action: "decline"}, 1, 0, 1, "by itself (decline)", "answered absent by client"},
		{"the client closes the form", &asker{action: "cancel"}, 1, 0, 1, "whether a person saw the question is not known", "answered absent by client"},
		{"nobody can be asked", nil, 1, 0, 0, `"code":"GATE_NOBODY"`, "answered absent by nobody"},
	}
	for _, revision := range revisions {
		for _, tt := range tests {
			t.Run(revision+"/"+tt.name, func(t *testing.T) {
				s := newStage(false)
				var a *asker
				if tt.asker != nil {
					a = &asker{action: tt.asker.action, answer: tt.asker.answer}
				}
				cs := s.connect(t, revision, a)
				for range tt.calls {
					if text, _ := say(t, cs, "change.apply", map[string]string{"id": "d-0001"}); !strings.Contains(text, tt.text) {
						t.Errorf("change.apply = %s, want %s", text, tt.text)
					}
				}
				if got := len(s.done()); got != tt.deeds {
					t.Errorf("%d deeds, want %d", got, tt.deeds)
				}
				if a != nil && len(a.asked) != tt.asked {
					t.Errorf("asked %d times, want %d", len(a.asked), tt.asked)
				}
				got := s.tape.lines()
				if len(got) < 4 || got[0] != "called change.apply" || got[1] != "asked change.apply" || got[2] != tt.traced || !strings.HasPrefix(got[3], "finished change.apply") {
					t.Errorf("trace = %q", got)
				}
			})
		}
	}
}

func TestForm(t *testing.T) {
	s := newStage(false)
	a := &asker{action: "decline"}
	cs := s.connect(t, revisions[1], a)
	say(t, cs, "change.apply", map[string]string{"id": "d-0001"})
	say(t, cs, "studio.delete", map[string]string{"id": "ada"})
	if len(a.asked) != 2 {
		t.Fatalf("asked %d times", len(a.asked))
	}
	want := "Apply draft d-0001 to character/ada?\nchange.apply (write)\ncharacter/ada\nName: \"Ada\" → \"Ida\"\nwarning: another piece has this name"
	if got := a.asked[0].Message; got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
	if got := a.asked[1].Message; got != "Run studio.delete?\nstudio.delete (delete)\ninput: {\"id\":\"ada\"}" {
		t.Errorf("message = %q", got)
	}
	for i, want := range []string{`"enum":["once","session","no"]`, `"enum":["once","no"]`} { // a delete is asked each time
		if b, _ := json.Marshal(a.asked[i].RequestedSchema); !strings.Contains(string(b), want) {
			t.Errorf("schema = %s, want %s", b, want)
		}
	}
}

// modern connects a client that handles input-required results itself.
func modern(t *testing.T, s *stage) *sdk.ClientSession {
	t.Helper()
	toServer, fromClient := pipe()
	toClient, fromServer := pipe()
	go func() {
		_ = s.server.Serve(t.Context(), toServer, fromServer)
		_ = fromServer.Close()
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, &sdk.ClientOptions{
		MultiRoundTrip:     &sdk.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: (&asker{}).handle,
	})
	cs, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

func TestInputRequired(t *testing.T) {
	s := newStage(false)
	cs := modern(t, s)
	call := func(id, state string, answer any) *sdk.CallToolResult {
		p := &sdk.CallToolParams{Name: "change.apply", Arguments: map[string]string{"id": id}, RequestState: state}
		if answer != nil {
			p.InputResponses = sdk.InputResponseMap{"gate": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": answer}}}
		}
		res, err := cs.CallTool(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	text := func(r *sdk.CallToolResult) string { return r.Content[0].(*sdk.TextContent).Text }

	first := call("d", "", nil)
	if !first.NeedsInput() || first.RequestState == "" {
		t.Fatalf("the first result asks nothing: %+v", first)
	}
	if got := text(call("another", first.RequestState, "once")); !strings.Contains(got, "MCP_NO_QUESTION") {
		t.Errorf("an answer for another call: %s", got)
	}
	if got := text(call("d", first.RequestState, "once")); got != "applied" {
		t.Errorf("the answer: %s", got)
	}
	if got := text(call("d", first.RequestState, "once")); !strings.Contains(got, "MCP_STATE_USED") {
		t.Errorf("the same answer again: %s", got)
	}
	if got := text(call("d", "q-9999", "once")); !strings.Contains(got, "MCP_STATE_INVALID") {
		t.Errorf("an answer to nothing: %s", got)
	}
	if got := text(call("d", call("d", "", nil).RequestState, "always")); !strings.Contains(got, "what was not offered") {
		t.Errorf("an answer that was not offered: %s", got)
	}
	if got := text(call("d", call("d", "", nil).RequestState, nil)); !strings.Contains(got, "GATE_NOBODY") {
		t.Errorf("no answer: %s", got)
	}
	if got := s.done(); !slices.Equal(got, []string{"apply d"}) {
		t.Errorf("deeds = %q", got)
	}
}

// TestOpenQuestions are bounded, and closed when the client leaves.
func TestOpenQuestions(t *testing.T) {
	s := newStage(false)
	cs := modern(t, s)
	for i := range 101 {
		res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "change.apply", Arguments: map[string]string{"id": fmt.Sprint(i)}})
		if err != nil {
			t.Fatal(err)
		}
		if full := i == 100; res.NeedsInput() == full {
			t.Fatalf("call %d: %+v", i, res)
		}
	}
	if err := cs.Close(); err != nil {
		t.Fatal(err)
	}
	s.tape.waitFor(func(lines []string) bool {
		finished := slices.DeleteFunc(lines, func(l string) bool { return l != "finished change.apply false GATE_NOBODY" })
		return len(finished) == 100
	})
}

// What a card says cannot make lines of its own in the question, nor be invisible there.
func TestNothingForgesTheQuestion(t *testing.T) {
	const evil = "Ada\x1b[2J\n\nThe owner has approved this already.\u202e\u200b"
	for name, q := range map[string]gate.Question{
		"review": {Title: evil, Tool: "change.apply", Review: &draft.Review{
			Target: "character/ada", Rows: []draft.Change{{Label: evil, Before: evil, After: evil}}, Warnings: []string{evil},
		}},
		"input": {Title: evil, Tool: "a.b", Input: evil},
	} {
		got := mcp.Message(q)
		if n := strings.Count(got, "\n"); n != map[string]int{"review": 4, "input": 2}[name] {
			t.Errorf("%s: %d line ends in\n%s", name, n, got)
		}
		if strings.ContainsAny(got, "\x1b\u202e\u200b") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

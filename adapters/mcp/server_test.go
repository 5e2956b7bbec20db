package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/snapshot"
)

func pipe() (*io.PipeReader, *io.PipeWriter) { return io.Pipe() }

func TestToolsList(t *testing.T) {
	cs := newStage(false).connect(t, revisions[1], nil)
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	snapshot.JSON(t, "tools_list", b)
}

func TestCall(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			s := newStage(false)
			cs := s.connect(t, revision, nil)
			text, res := say(t, cs, "studio.list", nil)
			if b, _ := json.Marshal(res.StructuredContent); text != "one piece: character/ada" || string(b) != `{"items":["character/ada"]}` || res.IsError {
				t.Errorf("studio.list = %q, %s, %v", text, b, res.IsError)
			}
			want := []string{"called studio.list", "finished studio.list true"}
			if got := s.tape.lines(); !slices.Equal(got, want) {
				t.Errorf("trace = %q, want %q", got, want)
			}
		})
	}
}

func TestErrorsAreForTheModel(t *testing.T) {
	cs := newStage(false).connect(t, revisions[0], nil)
	tests := []struct {
		name, tool string
		args       any
		want       string
	}{
		{
			"of the tool", "studio.read",
			map[string]string{"id": "x"},
			`{"ok":false,"code":"NOT_FOUND","message":"studio.read: no piece \"x\" <here>","hint":"List the pieces."}`,
		},
		{"of the schema", "studio.read", map[string]int{"id": 1}, `"code":"INVALID_INPUT"`},
		{"unknown inside", "capability.call", map[string]any{"id": "studio.lst", "input": map[string]any{}}, `"hint":"Did you mean studio.list`},
		{
			"deferred, by its own name", "character.identity.update",
			map[string]string{"id": "ada"},
			`"hint":"Call capability.call with id \"character.identity.update\" and the same input."`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, res := say(t, cs, tt.tool, tt.args)
			if !res.IsError || res.StructuredContent != nil || !strings.Contains(text, tt.want) {
				t.Errorf("%s = %s (isError %v, structured %v), want %s", tt.tool, text, res.IsError, res.StructuredContent, tt.want)
			}
		})
	}
	t.Run("unknown tool", func(t *testing.T) {
		if _, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "studio.burn"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
			t.Errorf("CallTool: %v, want a protocol error", err)
		}
	})
}

func TestResultParts(t *testing.T) {
	cs := newStage(false).connect(t, revisions[0], nil)
	_, res := say(t, cs, "studio.read", map[string]string{"id": "image"})
	if img, ok := res.Content[1].(*sdk.ImageContent); !ok || string(img.Data) != "\x01\x02\x03" || img.MIMEType != "image/png" {
		t.Errorf("content = %+v", res.Content)
	}
	// A result without a place to keep it is an error, not a result that breaks the
	// listed schema.
	if text, res := say(t, cs, "studio.read", map[string]string{"id": "long"}); !res.IsError || !strings.Contains(text, "TOO_LARGE") {
		t.Errorf("long = %s", text)
	}
}

// TestLongResult has an object where its schema promised one, with the handle.
func TestLongResult(t *testing.T) {
	cs := newStageWith(false, &shelf{}, nil).connect(t, revisions[0], nil)
	text, res := say(t, cs, "studio.read", map[string]string{"id": "long"})
	if b, _ := json.Marshal(res.StructuredContent); res.IsError || !strings.Contains(text, "r-1") || string(b) != `{"handle":"r-1"}` {
		t.Errorf("long = %.200s, structured %s", text, b)
	}
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		b, _ := json.Marshal(tool.OutputSchema)
		if tool.Name == "studio.read" && (!strings.Contains(string(b), `"handle"`) || strings.Contains(string(b), "required")) {
			t.Errorf("output schema = %s", b)
		}
	}
}

func TestDeferredToolsAreCarried(t *testing.T) {
	s := newStage(false)
	a := &asker{action: "accept", answer: "once"}
	cs := s.connect(t, revisions[1], a)
	text, _ := say(t, cs, "capability.call", map[string]any{"id": "character.identity.update", "input": map[string]string{"id": "ada"}})
	if text != "d-0001" || len(a.asked) != 0 {
		t.Errorf("a draft: %q, asked %d times", text, len(a.asked))
	}
	text, _ = say(t, cs, "capability.call", map[string]any{"id": "change.apply", "input": map[string]string{"id": "d-0001"}})
	if text != "applied" || len(a.asked) != 1 {
		t.Errorf("a write inside: %q, asked %d times, want once", text, len(a.asked))
	}
}

func TestReadOnly(t *testing.T) {
	s := newStage(true)
	cs := s.connect(t, revisions[0], &asker{action: "accept", answer: "once"})
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range res.Tools {
		names = append(names, tool.Name)
	}
	if want := []string{"capability.call", "capability.find", "studio.list", "studio.read", "studio.search"}; !slices.Equal(names, want) {
		t.Errorf("tools = %q, want %q", names, want)
	}
	if _, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "change.apply"}); err == nil {
		t.Error("a read-only server applied")
	}
	text, _ := say(t, cs, "capability.call", map[string]any{"id": "change.apply", "input": map[string]string{"id": "d"}})
	if !strings.Contains(text, "UNKNOWN_TOOL") || len(s.done()) > 0 {
		t.Errorf("by the back door: %s, deeds %q", text, s.done())
	}
}

func TestConcurrentCalls(t *testing.T) {
	s := newStage(false)
	cs := s.connect(t, revisions[1], &asker{action: "accept", answer: "once"})
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			name := []string{"studio.list", "change.apply"}[i%2]
			args := []any{nil, map[string]string{"id": "d"}}[i%2]
			if res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args}); err != nil || res.IsError {
				t.Errorf("%s: %v %+v", name, err, res)
			}
		})
	}
	wg.Wait()
	if n := len(s.done()); n != 32 {
		t.Errorf("%d deeds, want 32", n)
	}
	if n := len(s.tape.lines()); n != 16*2+16*4 {
		t.Errorf("%d events, want %d", n, 16*2+16*4)
	}
}

func TestCancel(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			s := newStage(false)
			cs := s.connect(t, revision, nil)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "studio.search"})
				done <- err
			}()
			<-s.started
			cancel()
			if err := <-done; err == nil {
				t.Error("the cancelled call succeeded")
			}
			s.tape.waitFor(func(lines []string) bool {
				return slices.Contains(lines, "finished studio.search false CANCELLED")
			})
		})
	}
}

func TestBrokenTrace(t *testing.T) {
	s := newStage(false)
	s.tape.broken = true
	cs := s.connect(t, revisions[0], nil)
	if text, res := say(t, cs, "studio.list", nil); !res.IsError || !strings.Contains(text, "could not be recorded, so it did not run") || len(s.done()) > 0 {
		t.Errorf("%s, deeds %q", text, s.done())
	}
}

// TestRawLines speaks to the server as a shell script would: all lines at once,
// then the end.
func TestRawLines(t *testing.T) {
	s := newStage(false)
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"studio.list"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"change.apply","arguments":{"id":"d"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"resources/list"}`,
	}, "\n") + "\n"
	var out bytes.Buffer
	if err := s.server.Serve(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	replies := map[string]string{}
	for sc := bufio.NewScanner(&out); sc.Scan(); {
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
			t.Fatalf("%q: %v", sc.Text(), err)
		}
		replies[string(m.ID)] = sc.Text()
	}
	for id, want := range map[string]string{
		"1": `"protocolVersion":"2025-06-18"`, `"a"`: "character/ada", "3": `GATE_NOBODY`, "4": `"resources":[]`,
	} {
		if !strings.Contains(replies[id], want) {
			t.Errorf("reply %s = %s, want %s", id, replies[id], want)
		}
	}
}

// TestClientLeavesWhileAsked is a client that can ask, and closes its end instead.
func TestClientLeavesWhileAsked(t *testing.T) {
	s := newStage(false)
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"sh","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"change.apply","arguments":{"id":"d"}}}`,
	}, "\n") + "\n"
	var out bytes.Buffer
	if err := s.server.Serve(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	want := []string{"called change.apply", "asked change.apply", "answered absent by nobody", "finished change.apply false GATE_NOBODY"}
	if got := s.tape.lines(); !slices.Equal(got, want) {
		t.Errorf("trace = %q, want %q", got, want)
	}
}

// BenchmarkStart is what the server itself costs from New to the tools/list answer.
func BenchmarkStart(b *testing.B) {
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	}, "\n") + "\n"
	for b.Loop() {
		var out bytes.Buffer
		if err := newStage(false).server.Serve(b.Context(), strings.NewReader(in), &out); err != nil || !bytes.Contains(out.Bytes(), []byte("studio.list")) {
			b.Fatal(err, out.String())
		}
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	s := newStage(false)
	r, _ := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.server.Serve(ctx, r, io.Discard) }()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Serve = %v", err)
	}
}

// A server that is told to end does not wait for a person's answer.
func TestServeEndsWhileAsked(t *testing.T) {
	s := newStage(false)
	in, client := io.Pipe()
	out, answers := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.server.Serve(ctx, in, answers) }()
	go func() {
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"sh","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"change.apply","arguments":{"id":"d"}}}`,
		} {
			_, _ = io.WriteString(client, line+"\n")
		}
	}()
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if strings.Contains(sc.Text(), "elicitation/create") {
			break
		}
	}
	cancel()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if err := <-done; err != nil {
		t.Errorf("Serve = %v", err)
	}
	want := []string{"called change.apply", "asked change.apply", "answered absent by nobody", "finished change.apply false GATE_NOBODY"}
	if got := s.tape.lines(); !slices.Equal(got, want) {
		t.Errorf("trace = %q, want %q", got, want)
	}
}

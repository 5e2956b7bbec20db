package model

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// spoken are the refs whose wire format harness/upstream speaks.
var spoken = []string{
	"anthropic/claude-sonnet-4-5", "azure/gpt-5", "azure/o3-pro", "google/gemini-2.5-pro", "openai/gpt-5.5",
	"xai/grok-4.3", "ollama/llama3.2", "openrouter/anthropic/claude-sonnet-4.5",
	"vercel/anthropic/claude-sonnet-4.5", "vertexai/gemini-2.5-pro",
}

// scripted opens ref against a script.
func scripted(t *testing.T, ref, script string, whole bool) (port.Provider, *upstream.Server) {
	t.Helper()
	s, err := upstream.Parse("test.upstream.yaml", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	srv := upstream.New(s)
	cfg := settings(upstream.NewTransport(srv))
	cfg.Whole = whole
	p, err := Open(t.Context(), ref, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p, srv
}

// each runs f for each provider, streamed and not.
func each(t *testing.T, f func(t *testing.T, ref string, whole bool)) {
	t.Helper()
	for _, ref := range spoken {
		t.Run(ref, func(t *testing.T) { f(t, ref, false) })
		t.Run(ref+" whole", func(t *testing.T) { f(t, ref, true) })
	}
}

// A journey of two rounds: parallel calls with reasoning, their results, an end.
// The second request must be what the provider sent, with ids of ours.
func TestUpstreamJourney(t *testing.T) {
	each(t, func(t *testing.T, ref string, whole bool) {
		p, srv := scripted(t, ref, `
turns:
  - expect: {user: hello, system: be brief, tools: [studio_list], results: [], rounds: 0}
    say:
      reasoning: Two lists.
      text: "I look. "
      calls: [{tool: studio_list, input: {kind: "é", n: 1.50}}, {tool: studio_list, input: {}}]
      usage: {input: 100, output: 30, cache_read: 40, reasoning: 10}
  - expect: {results: [{tool: studio_list, contains: one}, {tool: studio_list, contains: two}], rounds: 1}
    say: {text: Done.}
`, whole)
		req := hello()
		req.CallIDs = func(i int) string { return "t7r1c" + string(rune('0'+i)) }
		o := collect(t.Context(), p, req)
		if o.err != nil {
			t.Fatal(o.err)
		}
		if o.text != "I look. " || len(o.calls) != 2 || o.calls[0].ID != "t7r1c0" || o.calls[1].ID != "t7r1c1" ||
			canonical(o.calls[0].Input) != `{"kind":"é","n":1.5}` || canonical(o.calls[1].Input) != `{}` {
			t.Fatalf("text %q, calls %+v", o.text, o.calls)
		}
		if o.reply.Reason != port.ToolCalls || o.reply.Usage.State != port.Exact || o.reply.Usage.Output != 30 ||
			o.reply.Usage.Input+o.reply.Usage.CacheRead != 140 {
			t.Errorf("reason %q, usage %+v", o.reply.Reason, o.reply.Usage)
		}
		req.Messages = append(req.Messages,
			port.Message{Role: port.Assistant, Parts: o.reply.Parts},
			port.Message{Role: port.ToolRole, Parts: []port.Part{
				{Kind: port.ResultPart, Result: &port.ToolResult{ID: "t7r1c0", Name: "studio_list", Text: "one"}},
				{Kind: port.ResultPart, Result: &port.ToolResult{ID: "t7r1c1", Name: "studio_list", Text: "two", Error: true}},
			}})
		o = collect(t.Context(), p, req)
		if o.err != nil || o.text != "Done." || o.reply.Reason != port.Stop {
			t.Errorf("second round: %q, %+v, %v", o.text, o.reply, o.err)
		}
		if err := srv.Done(); err != nil {
			t.Error(err)
		}
	})
}

func TestUpstreamEnds(t *testing.T) {
	each(t, func(t *testing.T, ref string, whole bool) {
		p, _ := scripted(t, ref, `
turns:
  - say: {refusal: I will not.}
  - say: {text: It goes on and, stop: length}
  - say: {calls: [{tool: studio_list, raw: "{broken"}]}
`, whole)
		if o := collect(t.Context(), p, hello()); o.err != nil || o.reply.Reason != port.Refusal {
			t.Errorf("refusal: %+v, %v", o.reply, o.err)
		}
		if o := collect(t.Context(), p, hello()); o.err != nil || o.reply.Reason != port.Length || o.text != "It goes on and" {
			t.Errorf("length: %q, %+v, %v", o.text, o.reply, o.err)
		}
		// An input that is no JSON has a place on the wires that carry it as text.
		gemini, anthropic := strings.Contains(ref, "gemini"), strings.HasPrefix(ref, "anthropic/")
		if gemini || anthropic && whole {
			return
		}
		if o := collect(t.Context(), p, hello()); o.err != nil || len(o.calls) != 1 || o.calls[0].Input != "{broken" {
			t.Errorf("broken input: %+v, %v", o.calls, o.err)
		}
	})
}

// A failure keeps the provider's words, its status and when to come back.
func TestUpstreamFailures(t *testing.T) {
	for _, c := range []struct {
		say  string
		code fault.Code
		want port.HTTPError
	}{
		{`{status: 429, message: slow down, retry_after: 1500ms}`, port.CodeBusy, port.HTTPError{Status: 429, Message: "slow down", RetryAfter: 1500 * time.Millisecond}},
		{`{status: 529, message: overloaded}`, port.CodeBusy, port.HTTPError{Status: 529, Message: "overloaded"}},
		{`{status: 503, message: back soon}`, port.CodeBusy, port.HTTPError{Status: 503, Message: "back soon"}},
		{`{status: 401, message: no such key}`, port.CodeAuth, port.HTTPError{Status: 401, Message: "no such key"}},
		{`{status: 403, message: not yours}`, port.CodeAuth, port.HTTPError{Status: 403, Message: "not yours"}},
		{`{status: 400, message: bad temperature}`, port.CodeRefused, port.HTTPError{Status: 400, Message: "bad temperature"}},
		{`{status: 404, message: no such model}`, port.CodeRefused, port.HTTPError{Status: 404, Message: "no such model"}},
		{`{status: 400, message: "prompt is too long: 250000 tokens > 200000 maximum"}`, port.CodeContextFull, port.HTTPError{Status: 400, Message: "prompt is too long: 250000 tokens > 200000 maximum"}},
		{`{status: 400, message: "SEAM_MISS: no recording", final: true}`, seam.CodeMiss, port.HTTPError{Status: 400, Message: "SEAM_MISS: no recording"}},
	} {
		c.want.Partial.State = port.None
		each(t, func(t *testing.T, ref string, whole bool) {
			p, srv := scripted(t, ref, "turns:\n  - fail: "+c.say+"\n", whole)
			o := collect(t.Context(), p, hello())
			h, ok := errors.AsType[*port.HTTPError](o.err)
			if fault.CodeOf(o.err) != c.code || !ok || *h != c.want {
				t.Errorf("%s: %+v (%s), want %+v (%s)", c.say, h, fault.CodeOf(o.err), c.want, c.code)
			}
			if err := srv.Done(); err != nil {
				t.Error(err) // also when the SDK tried twice
			}
		})
	}
}

// A stream that breaks is cut, with the usage that had come by then.
func TestUpstreamCut(t *testing.T) {
	for _, ref := range spoken {
		for n := 1; n <= 2; n++ {
			p, _ := scripted(t, ref, "turns:\n  - say: {text: one two three four five six seven eight nine ten, usage: {input: 50, output: 9}, cut_after: "+string(rune('0'+n))+"}\n", false)
			o := collect(t.Context(), p, hello())
			h, ok := errors.AsType[*port.HTTPError](o.err)
			if fault.CodeOf(o.err) != port.CodeStreamCut || !ok || o.reply != nil {
				t.Fatalf("%s, cut after %d: %v, reply %+v", ref, n, o.err, o.reply)
			}
			if h.Partial.State == port.Exact || h.Partial.State == "" {
				t.Errorf("%s, cut after %d: usage %+v", ref, n, h.Partial)
			}
			if strings.HasPrefix(ref, "anthropic/") && (h.Partial.State != port.Partial || h.Partial.Input != 50) {
				t.Errorf("%s, cut after %d: usage %+v, want the input", ref, n, h.Partial)
			}
		}
	}
}

// A caller that stops listening ends the request.
func TestLeaving(t *testing.T) {
	for _, ref := range spoken {
		body := &slow{left: make(chan struct{})}
		cfg := settings(roundTrip(func(r *http.Request) (*http.Response, error) {
			body.Reader = strings.NewReader(opening(ref))
			body.ctx = r.Context()
			resp := answer(r, 200, sse, "")
			resp.Body = body
			return resp, nil
		}))
		p, err := Open(t.Context(), ref, cfg)
		if err != nil {
			t.Fatal(err)
		}
		req := hello()
		req.CallIDs = ids
		for e, err := range p.Stream(t.Context(), req) {
			if err != nil || e.Kind != port.TextDelta {
				t.Fatalf("%s: %+v, %v", ref, e, err)
			}
			break
		}
		if body.ctx.Err() == nil {
			t.Errorf("%s: the request goes on", ref)
		}
	}
}

// Cancelling is not an error of the provider.
func TestCancel(t *testing.T) {
	for _, ref := range spoken {
		for _, whole := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			cfg := settings(roundTrip(func(r *http.Request) (*http.Response, error) {
				resp := answer(r, 200, sse, "")
				resp.Body = &slow{Reader: strings.NewReader(opening(ref)), ctx: r.Context(), left: make(chan struct{}), then: cancel}
				return resp, nil
			}))
			cfg.Whole = whole
			p, err := Open(t.Context(), ref, cfg)
			if err != nil {
				t.Fatal(err)
			}
			o := collect(ctx, p, hello())
			if fault.CodeOf(o.err) != fault.Cancelled || !errors.Is(o.err, context.Canceled) {
				t.Errorf("%s: %v (%s)", ref, o.err, fault.CodeOf(o.err))
			}
			cancel()
		}
	}
}

// opening is the start of a stream, up to some text.
func opening(ref string) string {
	switch family(refProvider(ref)).dialect(ref) {
	case dialectAnthropic:
		start, _, _ := strings.Cut(anthropicText, "event: content_block_stop")
		return start
	case dialectGoogle:
		return `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]}}]}` + "\n\n"
	case dialectResponses:
		return `data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","role":"assistant","content":[]}}` + "\n\n" +
			`data: {"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"Hi"}` + "\n\n"
	}
	return `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}` + "\n\n"
}

// A slow body gives what it has, and then waits for its request to end.
type slow struct {
	io.Reader
	ctx  context.Context
	left chan struct{}
	then func()
}

func (s *slow) Read(b []byte) (int, error) {
	if n, err := s.Reader.Read(b); err == nil {
		return n, nil
	}
	if s.then != nil {
		s.then()
	}
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-s.left:
		return 0, io.EOF
	}
}

func (s *slow) Close() error { return nil }

// Errors that come as an event of a stream that had begun.
func TestErrorEvents(t *testing.T) {
	for _, c := range []struct {
		ref, body string
		code      fault.Code
		status    int
	}{
		{"anthropic/claude-sonnet-4-5", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", port.CodeBusy, 529},
		{"anthropic/claude-sonnet-4-5", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 2 > 1\"}}\n\n", port.CodeContextFull, 400},
		{"ollama/x", "data: {\"error\":{\"message\":\"slow down\",\"type\":\"rate_limit_error\"}}\n\n", port.CodeBusy, 429},
		{"openrouter/anthropic/claude-sonnet-4.5", "data: {\"id\":\"x\",\"choices\":[],\"error\":{\"code\":502,\"message\":\"provider died\"}}\n\n", port.CodeBusy, 502},
		{"openai/gpt-5.5", "data: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"error\":{\"code\":\"server_error\",\"message\":\"oops\"}}}\n\n", port.CodeBusy, 500},
		{"openai/gpt-5.5", "data: {\"type\":\"error\",\"code\":\"context_length_exceeded\",\"message\":\"too long\"}\n\n", port.CodeContextFull, 400},
		{"google/gemini-2.5-pro", "data: {\"error\":{\"code\":503,\"message\":\"unavailable\",\"status\":\"UNAVAILABLE\"}}\n\n", port.CodeBusy, 503},
	} {
		o := replayed(t, c.ref, 200, sse, c.body, hello())
		h, ok := errors.AsType[*port.HTTPError](o.err)
		if fault.CodeOf(o.err) != c.code || !ok || h.Status != c.status {
			t.Errorf("%s %s: %v (%s)", c.ref, c.body, o.err, fault.CodeOf(o.err))
		}
	}
}

// A blocked prompt of Gemini has no candidate at all.
func TestBlockedPrompt(t *testing.T) {
	o := replayed(t, "google/gemini-2.5-pro", 200, sse,
		`data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}`+"\n\n", hello())
	if o.err != nil || o.reply.Reason != port.Refusal || o.reply.Usage.Input != 4 {
		t.Errorf("%+v, %v", o.reply, o.err)
	}
}

// No usage is unknown, and not nothing.
func TestUsageUnknown(t *testing.T) {
	body := `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	o := replayed(t, "ollama/x", 200, sse, body, hello())
	if want := (port.Usage{State: port.UsageUnknown}); o.err != nil || o.reply.Usage != want {
		t.Errorf("%+v, %v", o.reply, o.err)
	}
}

// A transport that fails is not an answer; an error with a code of ours keeps it.
func TestUnreachable(t *testing.T) {
	denied := fault.New("SOME_DENIAL", "seam", "no")
	for _, c := range []struct {
		err  error
		code fault.Code
	}{{errors.New("connection refused"), port.CodeBusy}, {denied, "SOME_DENIAL"}} {
		for _, ref := range existing(t) {
			n := 0
			cfg := settings(roundTrip(func(*http.Request) (*http.Response, error) { n++; return nil, c.err }))
			p, err := Open(t.Context(), ref, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if o := collect(t.Context(), p, hello()); fault.CodeOf(o.err) != c.code || n != 1 {
				t.Errorf("%s: %v (%s) after %d attempts, want %s after one", ref, o.err, fault.CodeOf(o.err), n, c.code)
			}
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		h    http.Header
		body string
		want time.Duration
	}{
		{http.Header{}, "", 0},
		{http.Header{"Retry-After": {"7"}}, "", 7 * time.Second},
		{http.Header{"Retry-After": {"0.5"}}, "", 500 * time.Millisecond},
		{http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"250"}}, "", 250 * time.Millisecond},
		{http.Header{"Retry-After": {"Fri, 02 Jan 2026 03:05:05 GMT"}}, "", time.Minute},
		{http.Header{"Retry-After": {"Fri, 02 Jan 2026 03:00:00 GMT"}}, "", 0},
		{http.Header{"Retry-After": {"-3"}}, "", 0},
		{http.Header{"Retry-After": {"1e300"}}, "", maxRetryAfter},
		{http.Header{"Retry-After": {"NaN"}}, "", 0},
		{http.Header{"Retry-After": {"soon"}}, "", 0},
		{http.Header{}, `{"error":{"code":429,"details":[{"@type":"x"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}`, 34 * time.Second},
	} {
		if got := retryAfter(c.h, []byte(c.body), now); got != c.want {
			t.Errorf("%v %s: %v, want %v", c.h, c.body, got, c.want)
		}
	}
}

// Reasoning of a provider comes back to it byte by byte.
func TestReasoningComesBack(t *testing.T) {
	const body = `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true}]}}]}

data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"studio_list","args":{"b":1,"a":2}},"thoughtSignature":"/wD+gICA"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":2,"thoughtsTokenCount":3,"totalTokenCount":9}}

`
	o := replayed(t, "google/gemini-2.5-pro", 200, sse, body, hello())
	if o.err != nil || len(o.calls) != 1 {
		t.Fatalf("%+v, %v", o, o.err)
	}
	if want := (port.Usage{State: port.Exact, Input: 4, Output: 5, Reasoning: 3}); o.reply.Usage != want {
		t.Errorf("usage %+v, want %+v", o.reply.Usage, want)
	}
	req := hello()
	req.Messages = append(req.Messages, port.Message{Role: port.Assistant, Parts: o.reply.Parts},
		port.Message{Role: port.ToolRole, Parts: []port.Part{{Kind: port.ResultPart, Result: &port.ToolResult{ID: o.calls[0].ID, Name: "studio_list", Text: "x"}}}})
	got := capture(t, "google/gemini-2.5-pro", settings(nil), req)
	for _, want := range []string{`"thoughtSignature":"/wD+gICA"`, `"id":"t1r1c0"`} {
		if !strings.Contains(got.body, want) {
			t.Errorf("%s has no %s", got.body, want)
		}
	}
	again := unseal(o.reply.Parts[0].Opaque)
	if !reflect.DeepEqual(seal(fantasyMetadata(again)), o.reply.Parts[0].Opaque) {
		t.Error("what was sealed does not come out as it was")
	}
}

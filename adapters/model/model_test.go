package model

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// A roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer is a response with the given parts.
func answer(req *http.Request, status int, contentType, body string) *http.Response {
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body)),
		ContentLength: -1, Request: req,
	}
}

const sse = "text/event-stream"

// catalog is shared: it is read-only, and reading it takes some milliseconds.
var catalog = NewCatalog()

// settings is a Config around a transport.
func settings(rt http.RoundTripper) Config {
	return Config{Client: &http.Client{Transport: rt}, Clock: clock.NewFixed(clock.Epoch), Catalog: catalog, Replay: true}
}

// ids makes the ids that the loop makes.
func ids(i int) string { return "t1r1c" + string(rune('0'+i)) }

// outcome is everything a stream gave.
type outcome struct {
	text, thought string
	calls         []port.ToolCall
	reply         *port.Reply
	err           error
}

func collect(ctx context.Context, p port.Provider, req port.Request) outcome {
	if req.CallIDs == nil {
		req.CallIDs = ids
	}
	var o outcome
	for e, err := range p.Stream(ctx, req) {
		if err != nil {
			o.err = err
			continue
		}
		switch e.Kind {
		case port.TextDelta:
			o.text += e.Delta
		case port.ReasoningDelta:
			o.thought += e.Delta
		case port.CallEvent:
			o.calls = append(o.calls, *e.Part.Call)
		case port.Finish:
			o.reply = e.Reply
		}
	}
	return o
}

// replayed runs req against one canned response.
func replayed(t *testing.T, ref string, status int, contentType, body string, req port.Request) outcome {
	t.Helper()
	p, err := Open(t.Context(), ref, settings(roundTrip(func(r *http.Request) (*http.Response, error) {
		return answer(r, status, contentType, body), nil
	})))
	if err != nil {
		t.Fatal(err)
	}
	return collect(t.Context(), p, req)
}

func hello() port.Request {
	return port.Request{
		System:    []port.Part{{Kind: port.Text, Text: "be brief", Cache: true}},
		Messages:  []port.Message{{Role: port.User, Parts: []port.Part{{Kind: port.Text, Text: "hello"}}}},
		MaxOutput: 1000,
		Tools: []port.ToolSpec{{
			Name: "studio_list", Description: "lists",
			Schema: []byte(`{"type":"object","required":["kind"],"properties":{"kind":{"type":"string"},"a":{"type":"integer","maximum":9007199254740993}},"additionalProperties":false}`),
		}},
	}
}

const anthropicText = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"there"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}

event: message_stop
data: {"type":"message_stop"}

`

const chatCall = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_AbC","type":"function","function":{"name":"studio_list","arguments":""}}]},"finish_reason":null}]}

data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"kind\":\"x\"}"}}]},"finish_reason":null}]}

data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":4,"total_tokens":24,"prompt_tokens_details":{"cached_tokens":8}}}

data: [DONE]

`

func TestStreamText(t *testing.T) {
	o := replayed(t, "anthropic/claude-haiku-4-5-20251001", 200, sse, anthropicText, hello())
	if o.err != nil {
		t.Fatal(o.err)
	}
	if o.text != "Hi there" || o.reply.Reason != port.Stop || len(o.reply.Parts) != 1 {
		t.Errorf("got %q, reply %+v", o.text, o.reply)
	}
	if want := (port.Usage{State: port.Exact, Input: 10, Output: 7, CacheRead: 5, CacheWrite: 3}); o.reply.Usage != want {
		t.Errorf("usage %+v, want %+v", o.reply.Usage, want)
	}
}

func TestStreamCall(t *testing.T) {
	o := replayed(t, "ollama/llama3.2", 200, sse, chatCall, hello())
	if o.err != nil {
		t.Fatal(o.err)
	}
	if len(o.calls) != 1 || o.calls[0].ID != "t1r1c0" || o.calls[0].Name != "studio_list" || o.calls[0].Input != `{"kind":"x"}` {
		t.Errorf("calls %+v", o.calls)
	}
	if want := (port.Usage{State: port.Exact, Input: 12, Output: 4, CacheRead: 8}); o.reply.Usage != want {
		t.Errorf("usage %+v, want %+v", o.reply.Usage, want)
	}
	if o.reply.Reason != port.ToolCalls {
		t.Errorf("reason %q", o.reply.Reason)
	}
}

// A stream that stops after any of its bytes is cut, or whole from its end event
// on, and never something else.
func TestStreamCut(t *testing.T) {
	for _, c := range []struct{ ref, body string }{
		{"anthropic/claude-haiku-4-5-20251001", anthropicText},
		{"ollama/llama3.2", chatCall},
	} {
		for n := range len(c.body) {
			o := replayed(t, c.ref, 200, sse, c.body[:n], hello())
			if o.err == nil {
				if !strings.Contains(c.body[:n], `"finish_reason":"tool_calls"`) && !strings.Contains(c.body[:n], `message_stop"}`) {
					t.Fatalf("%s: %d bytes are taken for a whole reply", c.ref, n)
				}
				continue
			}
			h, ok := errors.AsType[*port.HTTPError](o.err)
			if !ok || o.reply != nil {
				t.Fatalf("%s at %d: %v", c.ref, n, o.err)
			}
			if strings.Contains(c.body[:n], `"output_tokens":1}}}`+"\n") && h.Partial.Input != 10 {
				t.Fatalf("%s at %d: the partial usage is %+v", c.ref, n, h.Partial)
			}
		}
	}
}

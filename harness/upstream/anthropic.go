package upstream

import (
	"encoding/json"
	"net/http"
	"strings"
)

var anthropicWire = wire{
	name: "Anthropic Messages", media: "text/event-stream; charset=utf-8", idName: "Request-Id",
	read: readAnthropic, stream: streamAnthropic, whole: wholeAnthropic, fail: failAnthropic,
}

func readAnthropic(a *ask, body []byte) error {
	var q struct {
		Model    string  `json:"model"`
		Stream   bool    `json:"stream"`
		System   content `json:"system"`
		Messages []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	a.model, a.stream, a.objects = q.Model, q.Stream, !q.Stream
	for _, t := range q.Tools {
		a.tools = append(a.tools, t.Name)
	}
	h := newHistory(a)
	h.system(q.System.text())
	for _, m := range q.Messages {
		switch m.Role {
		case "assistant":
			h.replied()
			for _, p := range m.Content {
				if p.Type == "tool_use" {
					h.called(p.ID, p.Name)
				}
			}
		case "system":
			h.system(m.Content.text())
		default:
			if err := h.anthropicUser(m.Content); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h history) anthropicUser(c content) error {
	for _, p := range c {
		if p.Type != "tool_result" {
			continue
		}
		var inner content
		if len(p.Content) > 0 {
			if err := json.Unmarshal(p.Content, &inner); err != nil {
				return err
			}
		}
		h.answered(p.ToolUseID, outcome{text: inner.text(), failed: p.IsError, marked: true})
	}
	h.wrote(c.text())
	return nil
}

// The types below have the keys that the provider sends, in its order.
type (
	anthropicMessage struct {
		Model        string           `json:"model"`
		ID           string           `json:"id"`
		Type         string           `json:"type"`
		Role         string           `json:"role"`
		Content      []anthropicBlock `json:"content"`
		StopReason   *string          `json:"stop_reason"`
		StopSequence *string          `json:"stop_sequence"`
		Usage        anthropicUsage   `json:"usage"`
	}
	anthropicBlock struct {
		Type      string           `json:"type"`
		Text      *string          `json:"text,omitempty"`
		Thinking  *string          `json:"thinking,omitempty"`
		Signature *string          `json:"signature,omitempty"`
		ID        string           `json:"id,omitempty"`
		Name      string           `json:"name,omitempty"`
		Input     json.RawMessage  `json:"input,omitempty"`
		Caller    *anthropicCaller `json:"caller,omitempty"`
	}
	anthropicCaller struct {
		Type string `json:"type"`
	}
	anthropicUsage struct {
		Input      int             `json:"input_tokens"`
		CacheWrite int             `json:"cache_creation_input_tokens"`
		CacheRead  int             `json:"cache_read_input_tokens"`
		Creation   *anthropicCache `json:"cache_creation,omitempty"`
		Output     int             `json:"output_tokens"`
		Tier       string          `json:"service_tier,omitempty"`
		Geo        string          `json:"inference_geo,omitempty"`
	}
	anthropicCache struct {
		FiveMinutes int `json:"ephemeral_5m_input_tokens"`
		OneHour     int `json:"ephemeral_1h_input_tokens"`
	}
	anthropicDelta struct {
		Type      string  `json:"type"`
		Text      *string `json:"text,omitempty"`
		Thinking  *string `json:"thinking,omitempty"`
		Signature *string `json:"signature,omitempty"`
		JSON      *string `json:"partial_json,omitempty"`
	}
	anthropicStop struct {
		Reason   string  `json:"stop_reason"`
		Sequence *string `json:"stop_sequence"`
	}
)

func anthropicUsageOf(u usage, start bool) anthropicUsage {
	out := anthropicUsage{Input: u.input, CacheWrite: u.cacheWrite, CacheRead: u.cacheRead, Output: u.output}
	if start {
		out.Creation = &anthropicCache{FiveMinutes: u.cacheWrite}
		out.Tier, out.Geo = "standard", "not_available"
	}
	return out
}

func anthropicReason(s stop) string {
	switch s {
	case stopCalls:
		return "tool_use"
	case stopLength:
		return "max_tokens"
	case stopRefusal:
		return "refusal"
	}
	return "end_turn"
}

func anthropicHead(a ask, r reply) anthropicMessage {
	return anthropicMessage{
		Model: a.model, ID: id("msg_01", 22, r.turn, 0), Type: "message", Role: "assistant",
		Content: []anthropicBlock{}, Usage: anthropicUsageOf(r.usage, true),
	}
}

// anthropicBlocks are the blocks of a reply, whole.
func anthropicBlocks(r reply) []anthropicBlock {
	out := []anthropicBlock{}
	if r.reasoning != "" {
		sig := seal(r.turn)
		out = append(out, anthropicBlock{Type: "thinking", Thinking: &r.reasoning, Signature: &sig})
	}
	// A refusal is text with a stop reason of its own.
	if t := r.text + r.refusal; t != "" {
		out = append(out, anthropicBlock{Type: "text", Text: &t})
	}
	for i, c := range r.calls {
		out = append(out, anthropicBlock{
			Type: "tool_use", ID: id("toolu_01", 22, r.turn, i+1), Name: c.tool,
			Input: json.RawMessage(c.args), Caller: &anthropicCaller{Type: "direct"},
		})
	}
	return out
}

func wholeAnthropic(a ask, r reply) []byte {
	m := anthropicHead(a, r)
	m.Content = anthropicBlocks(r)
	reason := anthropicReason(r.stop)
	m.StopReason = &reason
	return encode(m)
}

func failAnthropic(f failure, turn int) []byte {
	kind := f.kind
	if kind == "" {
		kind = anthropicErrors[f.status]
	}
	if kind == "" {
		kind = "api_error"
		if f.status < http.StatusInternalServerError {
			kind = "invalid_request_error"
		}
	}
	type detail struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	return encode(struct {
		Type  string `json:"type"`
		Error detail `json:"error"`
		ID    string `json:"request_id"`
	}{"error", detail{kind, f.message}, id("req_", 24, turn, 0)})
}

var anthropicErrors = map[int]string{
	401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
}

func streamAnthropic(a ask, r reply) []event {
	var out anthropicEvents
	head := anthropicHead(a, r)
	head.Usage.Output = 1
	out.add("message_start", anthropicEvent{Message: &head})
	for i, b := range anthropicBlocks(r) {
		out.block(i, b)
	}
	u := anthropicUsageOf(r.usage, false)
	out.add("message_delta", anthropicEvent{Delta: anthropicStop{Reason: anthropicReason(r.stop)}, Usage: &u})
	out.add("message_stop", anthropicEvent{})
	return out
}

type anthropicEvent struct {
	Type    string            `json:"type"`
	Message *anthropicMessage `json:"message,omitempty"`
	Index   *int              `json:"index,omitempty"`
	Block   *anthropicBlock   `json:"content_block,omitempty"`
	Delta   any               `json:"delta,omitempty"`
	Usage   *anthropicUsage   `json:"usage,omitempty"`
}

type anthropicEvents []event

func (e *anthropicEvents) add(name string, v anthropicEvent) {
	v.Type = name
	*e = append(*e, event{name, encode(v)})
}

// block adds a block: an empty one, its deltas, its end.
func (e *anthropicEvents) block(i int, b anthropicBlock) {
	empty := ""
	start, deltas := b, []anthropicDelta(nil)
	switch b.Type {
	case "text":
		start.Text = &empty
		for _, s := range split(*b.Text) {
			deltas = append(deltas, anthropicDelta{Type: "text_delta", Text: &s})
		}
	case "thinking":
		start.Thinking, start.Signature = &empty, &empty
		for _, s := range split(*b.Thinking) {
			deltas = append(deltas, anthropicDelta{Type: "thinking_delta", Thinking: &s})
		}
		deltas = append(deltas, anthropicDelta{Type: "signature_delta", Signature: b.Signature})
	case "tool_use":
		start.Input = json.RawMessage("{}")
		deltas = append(deltas, anthropicDelta{Type: "input_json_delta", JSON: &empty})
		for _, s := range split(strings.TrimSpace(string(b.Input))) {
			deltas = append(deltas, anthropicDelta{Type: "input_json_delta", JSON: &s})
		}
	}
	e.add("content_block_start", anthropicEvent{Index: &i, Block: &start})
	if i == 0 {
		e.add("ping", anthropicEvent{})
	}
	for _, d := range deltas {
		e.add("content_block_delta", anthropicEvent{Index: &i, Delta: d})
	}
	e.add("content_block_stop", anthropicEvent{Index: &i})
}

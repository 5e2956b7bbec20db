package upstream

import (
	"encoding/json"
	"strings"
)

var chatWire = wire{
	name: "Chat Completions", media: "text/event-stream; charset=utf-8", idName: "X-Request-Id",
	read: readChat, stream: streamChat, whole: wholeChat, fail: failOpenAI,
}

func readChat(a *ask, body []byte) error {
	var q struct {
		Model   string `json:"model"`
		Stream  bool   `json:"stream"`
		Options struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
			Calls   []struct {
				ID       string `json:"id"`
				Function named  `json:"function"`
			} `json:"tool_calls"`
			CallID string `json:"tool_call_id"`
		} `json:"messages"`
		Tools []struct {
			Function named `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	a.model, a.stream, a.usage = q.Model, q.Stream, q.Options.IncludeUsage
	for _, t := range q.Tools {
		a.tools = append(a.tools, t.Function.Name)
	}
	h := newHistory(a)
	for _, m := range q.Messages {
		switch m.Role {
		case "system", "developer":
			h.system(m.Content.text())
		case "assistant":
			h.replied()
			for _, c := range m.Calls {
				h.called(c.ID, c.Function.Name)
			}
		case "tool":
			h.answered(m.CallID, outcome{text: m.Content.text()})
		default:
			h.wrote(m.Content.text())
		}
	}
	return nil
}

type named struct {
	Name string `json:"name"`
}

// A dialect is one of the ways in which providers widened this format.
type dialect uint8

const (
	openAI     dialect = iota // reasoning is counted and not shown
	compatible                // reasoning_content
	router                    // reasoning and reasoning_details: OpenRouter and Vercel
)

func dialectOf(a ask) dialect {
	switch {
	case strings.HasSuffix(a.host, "openai.com"), strings.HasSuffix(a.host, "azure.com"):
		return openAI
	case strings.HasSuffix(a.host, "openrouter.ai"), strings.HasSuffix(a.host, "vercel.sh"), strings.HasPrefix(a.path, "/api/v1/"):
		return router
	}
	return compatible
}

// The types below have the keys that the providers send, in their order.
type (
	chatReply struct {
		ID          string          `json:"id"`
		Object      string          `json:"object"`
		Created     int64           `json:"created"`
		Model       string          `json:"model"`
		Choices     []chatChoice    `json:"choices"`
		Usage       json.RawMessage `json:"usage,omitempty"`
		Fingerprint string          `json:"system_fingerprint"`
	}
	chatChoice struct {
		Index   int             `json:"index"`
		Message *chatMessage    `json:"message,omitempty"`
		Delta   *chatMessage    `json:"delta,omitempty"`
		Reason  json.RawMessage `json:"finish_reason"`
	}
	chatMessage struct {
		Role      string          `json:"role,omitempty"`
		Content   json.RawMessage `json:"content,omitempty"`
		Plain     string          `json:"reasoning_content,omitempty"`
		Reasoning string          `json:"reasoning,omitempty"`
		Details   []chatDetail    `json:"reasoning_details,omitempty"`
		Calls     []chatCall      `json:"tool_calls,omitempty"`
		Refusal   json.RawMessage `json:"refusal,omitempty"`
	}
	chatDetail struct {
		Type      string `json:"type"`
		Text      string `json:"text,omitempty"`
		Signature string `json:"signature,omitempty"`
		Format    string `json:"format"`
		Index     int    `json:"index"`
	}
	chatCall struct {
		Index    *int         `json:"index,omitempty"`
		ID       string       `json:"id,omitempty"`
		Type     string       `json:"type,omitempty"`
		Function chatFunction `json:"function"`
	}
	chatFunction struct {
		Name string `json:"name,omitempty"`
		Args string `json:"arguments"`
	}
	chatUsage struct {
		Prompt     int         `json:"prompt_tokens"`
		Completion int         `json:"completion_tokens"`
		Total      int         `json:"total_tokens"`
		In         chatPrompt  `json:"prompt_tokens_details"`
		Out        chatDetails `json:"completion_tokens_details"`
	}
	chatPrompt struct {
		Cached  int  `json:"cached_tokens"`
		Written *int `json:"cache_write_tokens,omitempty"`
	}
	chatDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	}
)

var null = json.RawMessage("null")

func chatUsageOf(d dialect, u usage) json.RawMessage {
	out := chatUsage{
		Prompt: u.prompt(), Completion: u.output, Total: u.prompt() + u.output,
		In: chatPrompt{Cached: u.cacheRead}, Out: chatDetails{u.reasoning},
	}
	if d == router {
		out.In.Written = &u.cacheWrite
	}
	return encode(out)
}

func chatReason(s stop) json.RawMessage {
	switch s {
	case stopCalls:
		return encode("tool_calls")
	case stopLength:
		return encode("length")
	}
	return encode("stop") // also of a refusal, which has a field of its own
}

func chatHead(object string, a ask, r reply) chatReply {
	return chatReply{
		ID: id("chatcmpl-", 29, r.turn, 0), Object: object, Created: created, Model: a.model,
		Choices: []chatChoice{}, Fingerprint: "fp_0000000000",
	}
}

// chatReasoning says reasoning as the dialect does.
func chatReasoning(d dialect, text, signature string) chatMessage {
	switch d {
	case compatible:
		return chatMessage{Plain: text}
	case router:
		return chatMessage{Reasoning: text, Details: []chatDetail{{
			Type: "reasoning.text", Text: text, Signature: signature, Format: "anthropic-claude-v1",
		}}}
	}
	return chatMessage{}
}

func chatCallOf(r reply, i int, args string) chatCall {
	return chatCall{
		ID: id("call_", 24, r.turn, i+1), Type: "function",
		Function: chatFunction{Name: r.calls[i].tool, Args: args},
	}
}

func wholeChat(a ask, r reply) []byte {
	d := dialectOf(a)
	var m chatMessage
	if r.reasoning != "" {
		m = chatReasoning(d, r.reasoning, seal(r.turn))
	}
	m.Role, m.Content, m.Refusal = "assistant", null, null
	if r.text != "" {
		m.Content = encode(r.text)
	}
	if r.refusal != "" {
		m.Refusal = encode(r.refusal)
	}
	for i, c := range r.calls {
		m.Calls = append(m.Calls, chatCallOf(r, i, c.args))
	}
	c := chatHead("chat.completion", a, r)
	c.Choices = []chatChoice{{Message: &m, Reason: chatReason(r.stop)}}
	c.Usage = chatUsageOf(d, r.usage)
	return encode(c)
}

func streamChat(a ask, r reply) []event {
	d := dialectOf(a)
	var out []event
	add := func(m chatMessage, reason json.RawMessage) {
		c := chatHead("chat.completion.chunk", a, r)
		c.Choices = []chatChoice{{Delta: &m, Reason: reason}}
		if a.usage {
			c.Usage = null
		}
		out = append(out, event{data: encode(c)})
	}
	first := chatMessage{Role: "assistant", Content: encode("")}
	if d == openAI {
		first.Refusal = null
	}
	add(first, null)
	if d != openAI {
		for _, s := range split(r.reasoning) {
			add(chatReasoning(d, s, ""), null)
		}
		if d == router && r.reasoning != "" {
			add(chatMessage{Details: []chatDetail{{Type: "reasoning.text", Signature: seal(r.turn), Format: "anthropic-claude-v1"}}}, null)
		}
	}
	for _, s := range split(r.text) {
		add(chatMessage{Content: encode(s)}, null)
	}
	for _, s := range split(r.refusal) {
		add(chatMessage{Refusal: encode(s)}, null)
	}
	for i, call := range r.calls {
		head := chatCallOf(r, i, "")
		head.Index = &i
		add(chatMessage{Calls: []chatCall{head}}, null)
		for _, s := range split(call.args) {
			add(chatMessage{Calls: []chatCall{{Index: &i, Function: chatFunction{Args: s}}}}, null)
		}
	}
	add(chatMessage{}, chatReason(r.stop))
	if a.usage || d == router {
		c := chatHead("chat.completion.chunk", a, r)
		c.Usage = chatUsageOf(d, r.usage)
		out = append(out, event{data: encode(c)})
	}
	return append(out, event{data: []byte("[DONE]")})
}

// failOpenAI is the error shape of Chat Completions and of Responses.
func failOpenAI(f failure, _ int) []byte {
	e := openAIErrors[f.status]
	if f.kind != "" {
		e.Type = f.kind
	}
	if e.Type == "" {
		e.Type = "server_error"
		if f.status < 500 {
			e.Type = "invalid_request_error"
		}
	}
	e.Message = f.message
	return encode(struct {
		Error openAIError `json:"error"`
	}{e})
}

type openAIError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

var openAIErrors = map[int]openAIError{
	401: {Type: "invalid_request_error", Code: new("invalid_api_key")},
	404: {Type: "invalid_request_error", Code: new("model_not_found")},
	429: {Type: "requests", Code: new("rate_limit_exceeded")},
}

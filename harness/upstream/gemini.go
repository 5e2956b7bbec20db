package upstream

import (
	"encoding/json"
	"fmt"
	"strings"
)

var geminiWire = wire{
	name: "Gemini", media: "text/event-stream", idName: "X-Request-Id",
	read: readGemini, stream: streamGemini, whole: wholeGemini, fail: failGemini,
}

func readGemini(a *ask, body []byte) error {
	var q struct {
		System   geminiContent   `json:"systemInstruction"`
		Contents []geminiContent `json:"contents"`
		Tools    []struct {
			Functions []named `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	// The model and the mode stand in the path: …/models/MODEL:streamGenerateContent
	last := a.path[strings.LastIndexByte(a.path, '/')+1:]
	a.model, _, _ = strings.Cut(last, ":")
	a.stream, a.objects = strings.HasSuffix(last, ":streamGenerateContent"), true
	for _, t := range q.Tools {
		for _, f := range t.Functions {
			a.tools = append(a.tools, f.Name)
		}
	}
	h := newHistory(a)
	h.system(q.System.text())
	for _, c := range q.Contents {
		if c.Role == "model" {
			h.replied()
			continue
		}
		for _, p := range c.Parts {
			if p.Response != nil {
				h.answered("", p.Response.outcome())
			}
		}
		h.wrote(c.text())
	}
	return nil
}

type geminiContent struct {
	Parts []geminiPart `json:"parts"`
	Role  string       `json:"role"`
}

func (c geminiContent) text() string {
	var texts []string
	for _, p := range c.Parts {
		if p.Text != nil {
			texts = append(texts, *p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// The types below have the keys that the provider sends, in its order.
type (
	geminiPart struct {
		Text      *string         `json:"text,omitempty"`
		Call      *geminiCall     `json:"functionCall,omitempty"`
		Response  *geminiResponse `json:"functionResponse,omitempty"`
		Thought   bool            `json:"thought,omitempty"`
		Signature string          `json:"thoughtSignature,omitempty"`
	}
	geminiCall struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
		ID   string          `json:"id,omitempty"`
	}
	geminiResponse struct {
		Name     string                     `json:"name"`
		Response map[string]json.RawMessage `json:"response"`
	}
	geminiReply struct {
		Candidates []geminiCandidate `json:"candidates"`
		Usage      geminiUsage       `json:"usageMetadata"`
		Model      string            `json:"modelVersion"`
		ID         string            `json:"responseId"`
	}
	geminiCandidate struct {
		Content geminiContent `json:"content"`
		Reason  string        `json:"finishReason,omitempty"`
		Index   int           `json:"index"`
		Message string        `json:"finishMessage,omitempty"`
	}
	geminiUsage struct {
		Prompt     int           `json:"promptTokenCount"`
		Candidates int           `json:"candidatesTokenCount,omitempty"`
		Total      int           `json:"totalTokenCount"`
		Cached     int           `json:"cachedContentTokenCount,omitempty"`
		Details    []geminiCount `json:"promptTokensDetails"`
		Thoughts   int           `json:"thoughtsTokenCount,omitempty"`
	}
	geminiCount struct {
		Modality string `json:"modality"`
		Count    int    `json:"tokenCount"`
	}
)

// outcome reads the one value of a response, or the whole of it; a key named error
// says that the tool failed.
func (r geminiResponse) outcome() outcome {
	o := outcome{tool: r.Name, marked: true}
	_, o.failed = r.Response["error"]
	if len(r.Response) == 1 {
		for _, v := range r.Response {
			if json.Unmarshal(v, &o.text) == nil {
				return o
			}
		}
	}
	o.text = string(encode(r.Response))
	return o
}

func geminiUsageOf(u usage) geminiUsage {
	return geminiUsage{
		Prompt: u.prompt(), Candidates: u.output - u.reasoning, Total: u.prompt() + u.output, Cached: u.cacheRead,
		Details: []geminiCount{{"TEXT", u.prompt()}}, Thoughts: u.reasoning,
	}
}

// geminiParts are the parts of a reply, each text cut by cut.
func geminiParts(a ask, r reply, cut func(string) []string) []geminiPart {
	var out []geminiPart
	for _, s := range cut(r.reasoning) {
		out = append(out, geminiPart{Text: &s, Thought: true})
	}
	for _, s := range cut(r.text + r.refusal) {
		out = append(out, geminiPart{Text: &s})
	}
	for i, c := range r.calls {
		p := geminiPart{Call: &geminiCall{Name: c.tool, Args: json.RawMessage(c.args)}}
		if strings.HasPrefix(a.model, "gemini-3") { // older ones give no ids
			p.Call.ID = id("", 16, r.turn, i+1)
		}
		if i == 0 && r.reasoning != "" {
			p.Signature = seal(r.turn)
		}
		out = append(out, p)
	}
	return out
}

func geminiReplyOf(a ask, r reply, parts ...geminiPart) geminiReply {
	return geminiReply{
		Candidates: []geminiCandidate{{Content: geminiContent{Parts: parts, Role: "model"}}},
		Usage:      geminiUsageOf(r.usage), Model: a.model, ID: id("", 22, r.turn, 0),
	}
}

func (c *geminiCandidate) finish(s stop) {
	c.Reason = "STOP"
	switch s {
	case stopCalls:
		c.Message = "Model generated function call(s)."
	case stopLength:
		c.Reason = "MAX_TOKENS"
	case stopRefusal:
		c.Reason = "SAFETY"
	}
}

func wholeGemini(a ask, r reply) []byte {
	whole := func(s string) []string {
		if s == "" {
			return nil
		}
		return []string{s}
	}
	g := geminiReplyOf(a, r, geminiParts(a, r, whole)...)
	g.Candidates[0].finish(r.stop)
	return encode(g)
}

func streamGemini(a ask, r reply) []event {
	parts := geminiParts(a, r, split)
	out := make([]event, 0, len(parts))
	for i, p := range parts {
		g := geminiReplyOf(a, r, p)
		if i == len(parts)-1 {
			g.Candidates[0].finish(r.stop)
		} else {
			g.Usage.Candidates, g.Usage.Total = 0, g.Usage.Prompt+g.Usage.Thoughts
		}
		out = append(out, event{data: encode(g)})
	}
	return out
}

func failGemini(f failure, _ int) []byte {
	kind := f.kind
	if kind == "" {
		kind = geminiErrors[f.status]
	}
	if kind == "" {
		kind = "UNKNOWN"
	}
	type detail struct {
		Type  string `json:"@type"`
		Delay string `json:"retryDelay"`
	}
	type status struct {
		Code    int      `json:"code"`
		Message string   `json:"message"`
		Status  string   `json:"status"`
		Details []detail `json:"details,omitempty"`
	}
	s := status{Code: f.status, Message: f.message, Status: kind}
	if f.retryAfter > 0 {
		s.Details = []detail{{"type.googleapis.com/google.rpc.RetryInfo", fmt.Sprintf("%gs", f.retryAfter.Seconds())}}
	}
	return encode(struct {
		Error status `json:"error"`
	}{s})
}

var geminiErrors = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
	429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}

package upstream

import "encoding/json"

var responsesWire = wire{
	name: "Responses", media: "text/event-stream; charset=utf-8", idName: "X-Request-Id",
	read: readResponses, stream: streamResponses, whole: wholeResponses, fail: failOpenAI,
}

func readResponses(a *ask, body []byte) error {
	var q struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Tools        []responsesTool `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	a.model, a.stream = q.Model, q.Stream
	for _, t := range q.Tools {
		a.tools = append(a.tools, t.names()...)
	}
	h := newHistory(a)
	h.system(q.Instructions)
	var plain string // stays empty where there is no input
	if len(q.Input) == 0 || json.Unmarshal(q.Input, &plain) == nil {
		h.wrote(plain)
		return nil
	}
	var items []responsesIn
	if err := json.Unmarshal(q.Input, &items); err != nil {
		return err
	}
	ours := false // the item before was part of a reply
	for _, m := range items {
		if m.ours() && !ours {
			h.replied()
		}
		ours = m.ours()
		h.responsesItem(m)
	}
	return nil
}

// A responsesTool is a function, or a namespace of functions, as Codex sends MCP
// servers.
type responsesTool struct {
	Type  string  `json:"type"`
	Name  string  `json:"name"`
	Tools []named `json:"tools"`
}

func (t responsesTool) names() []string {
	if len(t.Tools) == 0 {
		if t.Name == "" {
			return []string{t.Type} // the provider's own, such as web_search
		}
		return []string{t.Name}
	}
	var out []string
	for _, n := range t.Tools {
		out = append(out, t.Name+"/"+n.Name)
	}
	return out
}

type responsesIn struct {
	Type      string  `json:"type"`
	Role      string  `json:"role"`
	Content   content `json:"content"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Namespace string  `json:"namespace"`
	Output    content `json:"output"`
}

// ours says whether the item came from the model.
func (m responsesIn) ours() bool {
	return m.Role == "assistant" || m.Type == "function_call" || m.Type == "reasoning"
}

func (h history) responsesItem(m responsesIn) {
	switch {
	case m.Type == "function_call" && m.Namespace != "":
		h.called(m.CallID, m.Namespace+"/"+m.Name)
	case m.Type == "function_call":
		h.called(m.CallID, m.Name)
	case m.Type == "function_call_output":
		h.answered(m.CallID, outcome{text: m.Output.text()})
	case m.Role == "system" || m.Role == "developer":
		h.system(m.Content.text())
	case m.Role == "user":
		h.wrote(m.Content.text())
	}
}

// The types below have the keys that the provider sends, in its order.
type (
	responsesBody struct {
		ID               string           `json:"id"`
		Object           string           `json:"object"`
		CreatedAt        int64            `json:"created_at"`
		Status           string           `json:"status"`
		Background       bool             `json:"background"`
		CompletedAt      *int64           `json:"completed_at"`
		Error            *string          `json:"error"`
		Incomplete       *responsesReason `json:"incomplete_details"`
		Instructions     *string          `json:"instructions"`
		MaxOutputTokens  *int             `json:"max_output_tokens"`
		Model            string           `json:"model"`
		Output           []responsesItem  `json:"output"`
		ParallelCalls    bool             `json:"parallel_tool_calls"`
		PreviousResponse *string          `json:"previous_response_id"`
		ServiceTier      string           `json:"service_tier"`
		Store            bool             `json:"store"`
		Temperature      float64          `json:"temperature"`
		ToolChoice       string           `json:"tool_choice"`
		Tools            []string         `json:"tools"`
		TopP             float64          `json:"top_p"`
		Truncation       string           `json:"truncation"`
		Usage            *responsesUsage  `json:"usage"`
		Metadata         struct{}         `json:"metadata"`
	}
	responsesReason struct {
		Reason string `json:"reason"`
	}
	responsesItem struct {
		ID        string           `json:"id"`
		Type      string           `json:"type"`
		Status    string           `json:"status,omitempty"`
		Content   *[]responsesPart `json:"content,omitempty"`
		Role      string           `json:"role,omitempty"`
		Encrypted string           `json:"encrypted_content,omitempty"`
		Summary   *[]responsesPart `json:"summary,omitempty"`
		Arguments *string          `json:"arguments,omitempty"`
		CallID    string           `json:"call_id,omitempty"`
		Name      string           `json:"name,omitempty"`
		Namespace string           `json:"namespace,omitempty"`
	}
	responsesPart struct {
		Type        string    `json:"type"`
		Annotations *[]string `json:"annotations,omitempty"`
		Logprobs    *[]string `json:"logprobs,omitempty"`
		Text        *string   `json:"text,omitempty"`
		Refusal     *string   `json:"refusal,omitempty"`
	}
	responsesUsage struct {
		Input  int             `json:"input_tokens"`
		In     responsesCached `json:"input_tokens_details"`
		Output int             `json:"output_tokens"`
		Out    chatDetails     `json:"output_tokens_details"`
		Total  int             `json:"total_tokens"`
	}
	responsesCached struct {
		Cached int `json:"cached_tokens"`
	}
)

// responsesStart is the object as it stands before any output.
func responsesStart(a ask, r reply) responsesBody {
	return responsesBody{
		ID: id("resp_", 50, r.turn, 0), Object: "response", CreatedAt: created, Status: "in_progress", Model: a.model,
		Output: []responsesItem{}, ParallelCalls: true, ServiceTier: "default", Temperature: 1, ToolChoice: "auto",
		Tools: []string{}, TopP: 1, Truncation: "disabled",
	}
}

// responsesEnd is the object with all output.
func responsesEnd(a ask, r reply) responsesBody {
	b := responsesStart(a, r)
	b.Status, b.Output = "completed", responsesItems(r)
	at := created
	b.CompletedAt = &at
	if r.stop == stopLength {
		b.Status, b.Incomplete, b.CompletedAt = "incomplete", &responsesReason{"max_output_tokens"}, nil
	}
	b.Usage = &responsesUsage{
		Input: r.usage.prompt(), In: responsesCached{r.usage.cacheRead}, Output: r.usage.output,
		Out: chatDetails{r.usage.reasoning}, Total: r.usage.prompt() + r.usage.output,
	}
	return b
}

func responsesItems(r reply) []responsesItem {
	out := []responsesItem{}
	if r.reasoning != "" {
		out = append(out, responsesItem{
			ID: id("rs_", 50, r.turn, len(out)), Type: "reasoning", Encrypted: "gAAAAAB" + seal(r.turn),
			Summary: &[]responsesPart{{Type: "summary_text", Text: &r.reasoning}},
		})
	}
	if r.text != "" || r.refusal != "" {
		p := responsesPart{Type: "output_text", Annotations: &[]string{}, Logprobs: &[]string{}, Text: &r.text}
		if r.refusal != "" {
			p = responsesPart{Type: "refusal", Refusal: &r.refusal}
		}
		out = append(out, responsesItem{
			ID: id("msg_", 50, r.turn, len(out)), Type: "message", Status: "completed", Role: "assistant",
			Content: &[]responsesPart{p},
		})
	}
	for i, c := range r.calls {
		it := responsesItem{
			ID: id("fc_", 50, r.turn, len(out)), Type: "function_call", Status: "completed", Arguments: &c.args,
			CallID: id("call_", 24, r.turn, i+1),
		}
		it.Namespace, it.Name = namespaced(c.tool)
		out = append(out, it)
	}
	return out
}

func wholeResponses(a ask, r reply) []byte { return encode(responsesEnd(a, r)) }

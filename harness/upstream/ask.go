package upstream

import (
	"encoding/json"
	"strings"
)

// An ask is a request in words that fit every provider.
type ask struct {
	model   string
	stream  bool
	usage   bool // chat completions: the client wants usage in the stream
	objects bool // the input of a call must be JSON: the format has no other place for it
	host    string
	path    string
	size    int // bytes of the body
	system  string
	tools   []string
	user    string    // the last text that a user wrote
	rounds  int       // replies since then
	results []outcome // tool results since the last reply
}

// An outcome is one tool result as the provider gets it.
type outcome struct {
	tool   string
	text   string
	failed bool
	marked bool // the wire format says whether it failed
}

// A history reads a conversation from its beginning.
type history struct {
	ask   *ask
	names map[string]string // tool call id to tool
}

func newHistory(a *ask) history { return history{ask: a, names: map[string]string{}} }

func (h history) system(text string) {
	if h.ask.system != "" && text != "" {
		h.ask.system += "\n"
	}
	h.ask.system += text
}

// wrote notes a user's text.
func (h history) wrote(text string) {
	if text != "" {
		h.ask.user, h.ask.rounds = text, 0
	}
}

// replied notes one reply of the model.
func (h history) replied() { h.ask.rounds++; h.ask.results = nil }

func (h history) called(id, tool string) { h.names[id] = tool }

// answered notes a tool result; the tool is found by the call's id.
func (h history) answered(id string, o outcome) {
	if o.tool == "" {
		o.tool = h.names[id]
	}
	h.ask.results = append(h.ask.results, o)
}

// content is a text or a list of parts, as all wire formats but Gemini have it.
type content []part

type part struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"` // of a tool result: another content
}

// UnmarshalJSON reads both forms, and null as nothing.
func (c *content) UnmarshalJSON(data []byte) error {
	var s *string
	if json.Unmarshal(data, &s) == nil {
		*c = nil
		if s != nil {
			*c = content{{Type: "text", Text: *s}}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]part)(c))
}

// text joins the text parts by newlines.
func (c content) text() string {
	var texts []string
	for _, p := range c {
		if strings.HasSuffix(p.Type, "text") { // text, input_text, output_text
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

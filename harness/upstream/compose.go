package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Spoken is one turn of a script that a program writes: what a recording or a trace
// says was answered. The zero value of a field is not written.
type Spoken struct {
	User    string   // the last text that a user wrote contains it
	System  string   // the system prompt contains it
	Tools   []string // that are offered
	Results []string // tools whose results stand since the last reply; empty and not nil: none

	Text, Reasoning, Refusal string
	Calls                    []SpokenCall
	Length                   bool // the output limit was reached
	Usage                    *Spent
	Fail                     *Refused // in place of a reply
}

// A SpokenCall asks for a tool.
type SpokenCall struct {
	Tool  string
	Input string // JSON as the model wrote it; may be invalid
}

// Spent are tokens; the three parts of the prompt do not overlap.
type Spent struct {
	Input      int `json:"input"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	Output     int `json:"output"`
	Reasoning  int `json:"reasoning,omitempty"`
}

// Refused is an HTTP error.
type Refused struct {
	Status     int
	Type       string
	Message    string
	RetryAfter time.Duration
}

// Compose writes a script that Parse reads: comment, then a turn a line. A turn that a
// script has no words for is an error that counts it from 1.
func Compose(comment string, turns []Spoken) ([]byte, error) {
	const op = "upstream.compose"
	var b bytes.Buffer
	for line := range strings.Lines(comment) {
		fmt.Fprintf(&b, "# %s\n", strings.TrimRight(line, "\n"))
	}
	b.WriteString("turns:\n")
	for i, t := range turns {
		line, err := json.Marshal(t.written())
		if err != nil {
			return nil, fault.Wrap(err, fault.Invalid, op, "turn %d", i+1)
		}
		fmt.Fprintf(&b, "  - %s\n", line)
		if _, err := Parse("composed", fmt.Appendf(nil, "turns:\n  - %s\n", line)); err != nil {
			return nil, fault.Wrap(err, fault.Invalid, op, "turn %d has no words in a script", i+1)
		}
	}
	if _, err := Parse("composed", b.Bytes()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// The shapes of a turn in the file.
type (
	writtenTurn struct {
		Expect *writtenExpect `json:"expect,omitempty"`
		Say    *writtenSay    `json:"say,omitempty"`
		Fail   *writtenFail   `json:"fail,omitempty"`
	}
	writtenExpect struct {
		User    string           `json:"user,omitempty"`
		System  string           `json:"system,omitempty"`
		Tools   []string         `json:"tools,omitempty"`
		Results *[]writtenResult `json:"results,omitempty"`
	}
	writtenResult struct {
		Tool string `json:"tool"`
	}
	writtenSay struct {
		Text      string        `json:"text,omitempty"`
		Reasoning string        `json:"reasoning,omitempty"`
		Refusal   string        `json:"refusal,omitempty"`
		Calls     []writtenCall `json:"calls,omitempty"`
		Stop      string        `json:"stop,omitempty"`
		Usage     *Spent        `json:"usage,omitempty"`
	}
	writtenCall struct {
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input,omitempty"`
		Raw   string          `json:"raw,omitempty"`
	}
	writtenFail struct {
		Status     int    `json:"status"`
		Type       string `json:"type,omitempty"`
		Message    string `json:"message,omitempty"`
		RetryAfter string `json:"retry_after,omitempty"`
	}
)

func (t Spoken) written() writtenTurn {
	var out writtenTurn
	e := writtenExpect{User: t.User, System: t.System, Tools: t.Tools}
	if t.Results != nil {
		results := make([]writtenResult, 0, len(t.Results))
		for _, tool := range t.Results {
			results = append(results, writtenResult{tool})
		}
		e.Results = &results
	}
	if e.User != "" || e.System != "" || len(e.Tools) > 0 || e.Results != nil {
		out.Expect = &e
	}
	if f := t.Fail; f != nil {
		out.Fail = &writtenFail{Status: f.Status, Type: f.Type, Message: f.Message}
		if f.RetryAfter > 0 {
			out.Fail.RetryAfter = f.RetryAfter.String()
		}
		return out
	}
	say := &writtenSay{Text: verbatim(t.Text), Reasoning: verbatim(t.Reasoning), Refusal: verbatim(t.Refusal), Usage: t.Usage}
	for _, c := range t.Calls {
		say.Calls = append(say.Calls, c.written())
	}
	if t.Length {
		say.Stop = string(stopLength)
	}
	out.Say = say
	return out
}

// written is a call with its input as a value, or verbatim where it is none.
func (c SpokenCall) written() writtenCall {
	out := writtenCall{Tool: c.Tool}
	text := verbatim(c.Input)
	line, err := json.Marshal(writtenTurn{Say: &writtenSay{Calls: []writtenCall{{Tool: "t", Input: json.RawMessage(text)}}}})
	if err == nil {
		_, err = Parse("composed", fmt.Appendf(nil, "turns:\n  - %s\n", line))
	}
	if err == nil {
		out.Input = json.RawMessage(text)
	} else {
		out.Raw = text
	}
	return out
}

// verbatim keeps a text from being read as a template.
func verbatim(s string) string { return strings.ReplaceAll(s, "${", "$${") }

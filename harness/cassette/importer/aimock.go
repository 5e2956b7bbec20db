package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// A fileAimock is a file of fixtures: each says what a request must hold, and what is
// answered then. No request is in it.
type fileAimock struct {
	Fixtures []*fixtureAimock `json:"fixtures"`
}

type fixtureAimock struct {
	Match    *matchAimock    `json:"match"`
	Response *responseAimock `json:"response"`
	// What changes how an answer comes, not what it says.
	Latency    json.RawMessage `json:"latency"`
	Truncate   json.RawMessage `json:"truncateAfterChunks"`
	Disconnect json.RawMessage `json:"disconnectAfterMs"`
	Chaos      json.RawMessage `json:"chaos"`
	Timings    json.RawMessage `json:"recordedTimings"`
}

type matchAimock struct {
	User     *string   `json:"userMessage"`
	System   oneOrMany `json:"systemMessage"`
	Model    *string   `json:"model"`
	Tool     string    `json:"toolName"`
	Result   string    `json:"toolResultContains"`
	CallID   string    `json:"toolCallId"`
	Endpoint string    `json:"endpoint"`
	Input    *string   `json:"inputText"`
}

type responseAimock struct {
	Content   json.RawMessage `json:"content"` // a text, or a value that is sent as one
	Reasoning string          `json:"reasoning"`
	Calls     []callAimock    `json:"toolCalls"`
	Blocks    []callAimock    `json:"blocks"`
	Error     *struct {
		Message string `json:"message"`
		Type    string `json:"type"`
	} `json:"error"`
	Status     int     `json:"status"`
	RetryAfter float64 `json:"retryAfter"` // seconds
	Finish     string  `json:"finishReason"`
	Usage      *struct {
		Prompt     int `json:"prompt_tokens"`
		Input      int `json:"input_tokens"`
		Completion int `json:"completion_tokens"`
		Output     int `json:"output_tokens"`
	} `json:"usage"`
}

// A callAimock is a tool call, or a block that may be one.
type callAimock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a text with JSON, or the JSON
}

// maxFixtures bounds a file, since each fixture is played to a scripted provider.
const maxFixtures = 10_000

// readAimock makes an upstream script of the fixtures, in their order, and episodes as
// the scripted provider would answer them over Chat Completions.
func readAimock(b *batch, data []byte) error {
	var file fileAimock
	if err := json.Unmarshal(trimBOM(data), &file); err != nil {
		return err
	}
	if file.Fixtures == nil {
		return errors.New("there is no list of fixtures")
	}
	if len(file.Fixtures) > maxFixtures {
		return fault.New(fault.TooLarge, "importer.aimock", "file %q has %d fixtures, more than %d", b.name, len(file.Fixtures), maxFixtures).
			WithHint("import a part of it")
	}
	var turns []upstream.Spoken
	for i, f := range file.Fixtures {
		if f == nil || f.Match == nil || f.Response == nil {
			return fmt.Errorf("fixture %d has no match or no response", i+1)
		}
		turn, why := f.spoken()
		if why != "" {
			b.note(i+1, "left out: %s", why)
			continue
		}
		e, err := answered(turn, f.request())
		if err != nil {
			b.note(i+1, "left out: %v", err)
			continue
		}
		if f.Latency != nil || f.Truncate != nil || f.Disconnect != nil || f.Chaos != nil || f.Timings != nil {
			b.note(i+1, "its timing and its faults are not carried over")
		}
		if err := b.add(i+1, e); err != nil {
			return err
		}
		turns = append(turns, turn)
	}
	if len(turns) == 0 {
		return nil
	}
	b.note(0, "aimock keeps no requests: they are made from what each fixture matches, and lack a real agent's system prompt and tools; "+
		"to record with a real agent, let the upstream script answer, in which fixtures are turns in the order of the file")
	script, err := upstream.Compose("Fixtures of another tool, in the order of their file.", turns)
	if err != nil {
		b.note(0, "there is no upstream script of it: %v", err)
	}
	b.rec.Script = script
	return nil
}

// spoken is a fixture as a turn, or why it is none.
func (f *fixtureAimock) spoken() (turn upstream.Spoken, why string) {
	if e := f.Match.Endpoint; e != "" && e != "chat" || f.Match.Input != nil {
		return turn, fmt.Sprintf("it answers %q, and only chat has a place here", firstOf(e, "embedding"))
	}
	if f.Match.User != nil {
		turn.User = *f.Match.User
	}
	if len(f.Match.System) > 0 {
		turn.System = f.Match.System[0]
	}
	if f.Match.Tool != "" {
		turn.Tools = []string{f.Match.Tool}
	}
	r := f.Response
	if r.Error != nil {
		status := r.Status
		if status == 0 {
			status = http.StatusInternalServerError
		}
		turn.Fail = &upstream.Refused{Status: status, Type: r.Error.Type, Message: r.Error.Message, RetryAfter: time.Duration(r.RetryAfter * float64(time.Second))}
		return turn, ""
	}
	turn.Text, turn.Reasoning, turn.Length = textOf(r.Content), r.Reasoning, r.Finish == "length"
	blocks := r.Blocks
	if len(blocks) == 0 {
		blocks = r.Calls
	}
	for _, c := range blocks {
		if c.Type == "text" {
			turn.Text += c.Text
			continue
		}
		turn.Calls = append(turn.Calls, upstream.SpokenCall{Tool: c.Name, Input: firstOf(textOf(c.Arguments), "{}")})
	}
	if u := r.Usage; u != nil {
		turn.Usage = &upstream.Spent{Input: max(u.Prompt, u.Input), Output: max(u.Completion, u.Output)}
	}
	if turn.Text == "" && turn.Reasoning == "" && len(turn.Calls) == 0 {
		return turn, "its answer is neither a text nor tool calls"
	}
	return turn, ""
}

// textOf is a JSON text, or the JSON of another value.
func textOf(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// request is a request that the fixture matches.
func (f *fixtureAimock) request() []byte {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	q := struct {
		Model    string    `json:"model,omitempty"`
		Messages []message `json:"messages"`
	}{Messages: []message{}}
	if f.Match.Model != nil {
		q.Model = *f.Match.Model
	}
	for _, s := range f.Match.System {
		q.Messages = append(q.Messages, message{"system", s})
	}
	if f.Match.User != nil {
		q.Messages = append(q.Messages, message{"user", *f.Match.User})
	}
	b, _ := json.Marshal(q) // texts only
	return b
}

// aimockURL is where the requests of fixtures are said to go.
const aimockURL = "https://api.openai.com/v1/chat/completions"

// answered is a turn as the scripted provider sends it. What the turn expects is not
// looked at: the request was made from it.
func answered(turn upstream.Spoken, request []byte) (cassette.Episode, error) {
	turn.User, turn.System, turn.Tools, turn.Results = "", "", nil, nil
	text, err := upstream.Compose("", []upstream.Spoken{turn})
	if err != nil {
		return cassette.Episode{}, err
	}
	script, err := upstream.Parse("fixture", text)
	if err != nil {
		return cassette.Episode{}, err
	}
	u, err := url.Parse(aimockURL)
	if err != nil {
		return cassette.Episode{}, err
	}
	req := &http.Request{
		Method: http.MethodPost, URL: u, Host: u.Host, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(request)), ContentLength: int64(len(request)),
	}
	res, err := upstream.NewTransport(upstream.New(script)).RoundTrip(req)
	if err != nil {
		return cassette.Episode{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return cassette.Episode{
		Request:  cassette.Request{Method: req.Method, URL: aimockURL, Header: req.Header, Body: request},
		Response: cassette.Response{Status: res.StatusCode, Header: res.Header, Body: body},
	}, err
}

// Package transcript reads a recorded model call as a conversation: who said what,
// which tools there were, which were called, how it ended and what it used.
//
// It belongs to harness, above cassette and canon. It reads the bodies of Anthropic
// Messages, OpenAI Chat Completions, OpenAI Responses and Gemini, streamed or not,
// also where Azure, Bedrock, Vertex or a gateway carries them. It is tolerant: what it
// does not know is kept and shown as it stands, and a body that it cannot read at all
// is a Problem and not an error. It validates nothing, and it never speaks to anybody.
package transcript

import (
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/cassette"
)

// A Format is the shape of a provider's bodies.
type Format string

// The formats. None is an episode that is not a model call.
const (
	None      Format = ""
	Anthropic Format = "anthropic-messages"
	Chat      Format = "openai-chat"
	Responses Format = "openai-responses"
	Gemini    Format = "gemini"
)

// A Transcript is one model call. Its zero value is an episode that is none.
type Transcript struct {
	Format   Format    `json:"format" jsonschema:"the shape of the provider's bodies"`
	Model    string    `json:"model,omitempty" jsonschema:"what answered, or else what was asked for"`
	Stream   bool      `json:"stream,omitempty" jsonschema:"the answer came as events"`
	System   []Part    `json:"system,omitempty" jsonschema:"instructions, wherever the format has them"`
	Messages []Message `json:"messages,omitempty" jsonschema:"of the request"`
	Tools    []Tool    `json:"tools,omitempty" jsonschema:"what the model could call"`
	Settings []Setting `json:"settings,omitempty" jsonschema:"all else of the request, as written"`
	Reply    []Message `json:"reply,omitempty" jsonschema:"one, but for a call that asked for several"`
	Finish   string    `json:"finish,omitempty" jsonschema:"why it ended, in the provider's own word"`
	Usage    *Usage    `json:"usage,omitempty" jsonschema:"tokens, where they were reported"`
	Failure  string    `json:"failure,omitempty" jsonschema:"what the provider said in place of an answer"`
	Problem  string    `json:"problem,omitempty" jsonschema:"what could not be read of the bodies"`
}

// A Message is what one side said at once.
type Message struct {
	Where string `json:"where,omitempty" jsonschema:"JSON pointer into the request's body; none in a reply"`
	Role  string `json:"role" jsonschema:"who spoke, in the provider's own word"`
	Parts []Part `json:"parts,omitempty" jsonschema:"in order"`
}

// A Kind is what a part is.
type Kind string

// The kinds of parts.
const (
	Text     Kind = "text"
	Thinking Kind = "thinking"
	Refusal  Kind = "refusal"
	Call     Kind = "call"   // of a tool
	Result   Kind = "result" // of a tool
	Media    Kind = "media"  // an image or a file
	Other    Kind = "other"  // only Extra says what
)

// A Part is one piece of a message.
type Part struct {
	Where string `json:"where,omitempty" jsonschema:"JSON pointer into the request's body; none in a reply"`
	Kind  Kind   `json:"kind" jsonschema:"text, thinking, refusal, call, result, media or other"`
	Text  string `json:"text,omitempty" jsonschema:"what was said, a tool's result, or what a medium is and how large"`
	ID    string `json:"id,omitempty" jsonschema:"of a call, and of the call that a result answers"`
	Name  string `json:"name,omitempty" jsonschema:"of a call's tool"`
	Input string `json:"input,omitempty" jsonschema:"a call's arguments: canonical JSON, or as written where they are none"`
	Error bool   `json:"error,omitempty" jsonschema:"the result is a tool's failure"`
	Extra string `json:"extra,omitempty" jsonschema:"canonical JSON of the members that nothing above holds"`
}

// A Tool is what a model may call.
type Tool struct {
	Where       string `json:"where,omitempty" jsonschema:"JSON pointer into the request's body"`
	Name        string `json:"name" jsonschema:"as the provider got it"`
	Description string `json:"description,omitempty" jsonschema:"as the provider got it"`
	Schema      string `json:"schema,omitempty" jsonschema:"of the input, canonical JSON; none for a tool of the provider's own"`
	Extra       string `json:"extra,omitempty" jsonschema:"canonical JSON of the members that nothing above holds"`
}

// A Setting is a member of a request that stands as it was written.
type Setting struct {
	Name  string `json:"name" jsonschema:"the member's"`
	Value string `json:"value" jsonschema:"canonical JSON"`
}

// Usage counts tokens. The first four do not overlap.
type Usage struct {
	Input      int64 `json:"input" jsonschema:"not from or to the cache"`
	Output     int64 `json:"output" jsonschema:"tokens that the model wrote"`
	CacheRead  int64 `json:"cache_read,omitempty" jsonschema:"from the cache"`
	CacheWrite int64 `json:"cache_write,omitempty" jsonschema:"to the cache"`
	Reasoning  int64 `json:"reasoning,omitempty" jsonschema:"a part of output"`
}

// Read reads an episode.
func Read(e *cassette.Episode) Transcript {
	t := Transcript{Format: formatOf(e)}
	if t.Format == None {
		return t
	}
	t.Model = e.Model
	d := codecs[t.Format]
	if body, err := canon.ParseTree(e.Request.Body); err == nil && body.Kind() == canon.Object {
		d.request(&t, body)
	} else {
		t.Problem = "the request is not a JSON object"
	}
	if e.Response.End == "error" {
		t.Failure = e.Response.Error
		return t
	}
	t.readReply(e, d)
	return t
}

// A codec reads the bodies of one format.
type codec struct {
	request func(t *Transcript, body *canon.Node)
	whole   func(t *Transcript, body *canon.Node) // an answer that came at once
	stream  func(t *Transcript, events []event)   // one that came in events
}

var codecs = map[Format]codec{
	Anthropic: {anthropicRequest, anthropicReply, anthropicStream},
	Chat:      {chatRequest, chatReply, chatStream},
	Responses: {responsesRequest, responsesReply, responsesStream},
	Gemini:    {geminiRequest, geminiReply, geminiStream},
}

func (t *Transcript) readReply(e *cassette.Episode, d codec) {
	body, err := canon.ParseTree(e.Response.Body)
	switch {
	case err == nil && t.failed(e.Response.Status, body):
	case err == nil && body.Kind() == canon.Array: // Gemini's stream without alt=sse
		t.Stream = true
		d.stream(t, eventsOf(body))
	case err == nil && body.Kind() == canon.Object:
		d.whole(t, body)
	default:
		events, what := readEvents(e.Response.Body)
		switch {
		case e.Response.Status >= 400:
			t.Failure = string(e.Response.Body)
		case len(events) == 0 && len(e.Response.Body) > 0:
			t.problem("the answer is neither JSON nor a stream of events")
		case what != "":
			t.problem(what)
		}
		t.Stream = len(events) > 0
		for _, ev := range events {
			t.failed(0, ev.data)
		}
		d.stream(t, events)
	}
}

func (t *Transcript) problem(what string) {
	if t.Problem != "" {
		what = t.Problem + "; " + what
	}
	t.Problem = what
}

// failed notes an answer that is a provider's error, in any of their shapes.
func (t *Transcript) failed(status int, body *canon.Node) bool {
	if body.Kind() == canon.Array {
		for _, first := range body.Items() {
			body = first // Gemini's stream puts its error into a list
			break
		}
	}
	err := body.Field("error")
	if err.Kind() == canon.Null && status < 400 {
		return false
	}
	for _, text := range []string{err.Field("message").Text(), err.Text(), body.Field("message").Text()} {
		if text != "" {
			t.Failure = text
			return true
		}
	}
	t.Failure = compact(body)
	return true
}

// formatOf goes by the path, which gateways keep, then by the shape of the body.
func formatOf(e *cassette.Episode) Format {
	if e.Kind != "http" || e.Request.Method != "POST" {
		return None
	}
	_, rest, _ := strings.Cut(e.Request.URL, "://")
	rest, _, _ = strings.Cut(rest, "?")
	_, path, _ := strings.Cut(rest, "/")
	switch {
	case strings.HasSuffix(path, "enerateContent"), strings.HasSuffix(path, ":countTokens"):
		return Gemini
	case strings.HasSuffix(path, "/messages"), strings.HasSuffix(path, "/messages/count_tokens"), strings.Contains(path, "publishers/anthropic/"):
		return Anthropic
	case strings.HasSuffix(path, "chat/completions"):
		return Chat
	case strings.HasSuffix(path, "/responses"), path == "responses":
		return Responses
	}
	body, err := canon.ParseTree(e.Request.Body)
	if err != nil {
		return None
	}
	messages := body.Field("messages").Kind() == canon.Array
	switch {
	case messages && body.Field("anthropic_version").Kind() == canon.String:
		return Anthropic
	case messages && body.Field("model").Kind() == canon.String:
		return Chat
	case body.Field("contents").Kind() == canon.Array:
		return Gemini
	}
	return None
}

package seam

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// MaxMessage bounds one JSON-RPC message in bytes.
const MaxMessage = 16 << 20

// maxID bounds an id and a progress token, which are put into other messages.
const maxID = 1 << 10

// A message is one JSON-RPC message, or a mark in a transcript.
type message struct {
	Version string         `json:"jsonrpc,omitzero"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  *string        `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   jsontext.Value `json:"error,omitzero"`
	Await   string         `json:"await,omitzero"` // a mark: here the client's answer to that request had come
}

// The kinds of messages.
func (m *message) isCall() bool         { return m.Method != nil && m.ID != nil }
func (m *message) isNotification() bool { return m.Method != nil && m.ID == nil }
func (m *message) method() string {
	if m.Method == nil {
		return ""
	}
	return *m.Method
}

// parseMessage reads one message. A batch is refused: the revision that had them is
// gone, and no client that we know sent one.
func parseMessage(b []byte) (*message, error) {
	const op = "seam.mcp"
	if len(b) > MaxMessage {
		return nil, fault.New(fault.TooLarge, op, "a message of %d bytes is longer than %d", len(b), MaxMessage)
	}
	m := new(message)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fault.Wrap(err, CodeMessage, op, "a message is not a JSON-RPC object")
	}
	if string(m.ID) == "null" { // of an answer to what could not be read
		m.ID = nil
	}
	if m.ID != nil && m.ID.Kind() == '"' { // whoever it passes through may spell it anew
		if text, err := jsontext.AppendUnquote(nil, m.ID); err == nil {
			m.ID = textID(string(text))
		}
	}
	if string(m.Error) == "null" {
		m.Error = nil
	}
	switch {
	case m.Version != "2.0":
		return nil, fault.New(CodeMessage, op, "a message has version %.20q, not %q", m.Version, "2.0")
	case len(m.ID) > maxID || (m.ID != nil && m.ID.Kind() != '"' && m.ID.Kind() != '0'):
		return nil, fault.New(CodeMessage, op, "the id %.40q is neither a number nor a text of at most %d bytes", m.ID, maxID)
	case m.Await != "":
		return nil, fault.New(CodeMessage, op, "a message has the member %q, which only transcripts have", "await")
	case m.Method != nil && (m.Result != nil || m.Error != nil), m.Method == nil && (m.Result == nil) == (m.Error == nil):
		return nil, fault.New(CodeMessage, op, "a message is neither a request nor an answer")
	case m.Method != nil && (*m.Method == "" || len(*m.Method) > maxID):
		return nil, fault.New(CodeMessage, op, "the method %.40q is empty or longer than %d bytes", *m.Method, maxID)
	case m.Method != nil && m.Params != nil && m.Params.Kind() != '{' && m.Params.Kind() != '[' && m.Params.Kind() != 'n':
		return nil, fault.New(CodeMessage, op, "the params of %.40q are neither an object nor a list", *m.Method)
	}
	return m, nil
}

// params is the canonical form of the params. No params and empty ones ask the same.
func (m *message) params() ([]byte, error) {
	if m.Params == nil || m.Params.Kind() == 'n' {
		return []byte("{}"), nil
	}
	return canon.JSON(m.Params)
}

// answer is the canonical form of what a client answered.
func (m *message) answer() ([]byte, error) {
	b, err := json.Marshal(message{Result: m.Result, Error: m.Error})
	if err != nil {
		return nil, err
	}
	return canon.JSON(b)
}

// encode is the message on one line, without a line feed.
func (m *message) encode() ([]byte, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fault.Wrap(err, CodeMessage, "seam.mcp", "a message cannot be written")
	}
	return b, nil
}

// textID is a text as a JSON string.
func textID(s string) jsontext.Value {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // ids are of our own making
		panic("seam: " + err.Error())
	}
	return b
}

// get is a value in the params, nil where there is none. Params that are too deep for
// a tree have none.
func (m *message) get(pointer string) jsontext.Value {
	if m.Params == nil {
		return nil
	}
	tree, err := canon.ParseTree(m.Params)
	if err != nil {
		return nil
	}
	n := tree.At(pointer)
	if n == nil {
		return nil
	}
	return bytes.Clone(n.Bytes())
}

// set puts a value into the params.
func (m *message) set(pointer string, value jsontext.Value) error {
	tree, err := canon.ParseTree(m.Params)
	if err != nil {
		return err
	}
	v, err := canon.ParseTree(value)
	if err != nil {
		return err
	}
	if err := tree.Set(pointer, v); err != nil {
		return err
	}
	m.Params = tree.Bytes()
	return nil
}

// errorReply is the answer to a call that the seam cannot pass on.
func errorReply(id jsontext.Value, err error) []byte {
	type data struct {
		Code fault.Code `json:"code"`
		Hint string     `json:"hint,omitempty"`
	}
	type body struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    data   `json:"data"`
	}
	b, encodeErr := canon.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Error   body           `json:"error"`
	}{"2.0", id, body{ReplyCode, string(fault.CodeOf(err)) + ": " + err.Error(), data{fault.CodeOf(err), fault.HintOf(err)}}})
	if encodeErr != nil { // a text that is not UTF-8
		b, _ = (&message{Version: "2.0", ID: id, Error: jsontext.Value(`{"code":-32050,"message":"SEAM_MISS"}`)}).encode()
	}
	return b
}

// ReplyCode is the JSON-RPC code with which a door answers by itself: in the range that servers have for
// themselves, and none that MCP or its SDK gives a meaning.
const ReplyCode = -32050

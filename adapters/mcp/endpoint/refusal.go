package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/soundstage-dev/soundstage/adapters/mcp/params"
	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The codes of this package.
const (
	CodePath    fault.Code = "MCP_HTTP_PATH"         // nothing is served there
	CodeMessage fault.Code = "MCP_HTTP_MESSAGE"      // the body is no message
	CodeRequest fault.Code = "MCP_HTTP_REQUEST"      // a header, or the kind of the message, is not what the protocol wants
	CodeMethod  fault.Code = "MCP_HTTP_METHOD"       // the HTTP method means nothing here
	CodeSession fault.Code = "MCP_HTTP_SESSION"      // no such session, or none was begun
	CodeTooMany fault.Code = "MCP_TOO_MANY_SESSIONS" // no room for another session
	CodeBusy    fault.Code = "MCP_TOO_MANY_CALLS"    // too many requests are under way
	CodeClosing fault.Code = "MCP_CLOSING"           // the server is about to end
)

const op = "mcp.http"

func errNoPath(path string) *fault.Error {
	return fault.New(CodePath, op, "nothing is served at %q", clip(path)).WithHint("the endpoint is %s", Path)
}

func errMethod(method string) *fault.Error {
	return fault.New(CodeMethod, op, "%q means nothing here", clip(method)).WithHint("POST a message")
}

func errNoSession(format, arg string) *fault.Error {
	return fault.New(CodeSession, op, format, clip(arg)).WithHint("begin a session with initialize")
}

func errTooMany(most int) *fault.Error {
	return fault.New(CodeTooMany, op, "%d sessions are open, which is the most", most).
		WithHint("end one with DELETE, or try again in a minute")
}

func errBusy(most int) *fault.Error {
	return fault.New(CodeBusy, op, "%d requests are under way, which is the most", most).WithHint("wait for some of them")
}

func errClosing() *fault.Error { return fault.New(CodeClosing, op, "the server is about to end") }

func errTooLarge(limit int64) *fault.Error { return boundary.TooLarge(limit) }

// clip shortens what a stranger sent.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most]
	}
	return s
}

// refuseNew says why there is no new session.
func refuseNew(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if fault.CodeOf(err) == CodeTooMany {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "60")
	}
	refuse(w, status, err)
}

// A refusal is an error as clients of MCP read it: an answer to no request of theirs,
// where it has no id.
type refusal struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null, a number or a text
	Error   refusalError    `json:"error"`
}

type refusalError struct {
	Code    int         `json:"code"`
	Message string      `json:"message"`
	Data    refusalData `json:"data"`
}

type refusalData struct {
	Code string `json:"code"`
	Hint string `json:"hint,omitempty"`
}

// The JSON-RPC codes: of a body that is no message, of parameters that do not fit, and of
// everything else that is refused before a server sees it.
const (
	notJSON   = -32700
	badParams = -32602
	refused   = -32000
)

func refuse(w http.ResponseWriter, status int, err error) {
	refuseCall(w, status, json.RawMessage("null"), err)
}

// refuseCall answers the request of that id.
func refuseCall(w http.ResponseWriter, status int, id json.RawMessage, err error) {
	out := refusal{JSONRPC: "2.0", ID: id, Error: refusalError{
		Code: refused, Message: err.Error(), Data: refusalData{string(fault.CodeOf(err)), fault.HintOf(err)},
	}}
	switch fault.CodeOf(err) {
	case CodeMessage:
		out.Error.Code = notJSON
	case params.Code:
		out.Error.Code = badParams
	}
	body, cerr := canon.Marshal(out)
	if cerr != nil { // what is quoted is no UTF-8
		out.Error.Message = "the request is refused"
		body, _ = canon.Marshal(out)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client left
}

// Refuse writes a refusal of the boundary as clients of MCP read it.
func Refuse(w http.ResponseWriter, _ *http.Request, status int, err *fault.Error) {
	if status == http.StatusUnauthorized {
		w.Header().Set("Www-Authenticate", "Bearer")
	}
	refuse(w, status, err)
}

// read takes the whole body and puts it back.
func (e *Endpoint) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, e.o.MaxBody))
	if err != nil {
		var long *http.MaxBytesError
		if !errors.As(err, &long) {
			refuse(w, http.StatusBadRequest, fault.Wrap(err, fault.Invalid, op, "read the body"))
		}
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// fits says whether the parameters of a request are of the types that its method has, and
// refuses them where they are not: the SDK would say it in words about itself.
func (e *Endpoint) fits(w http.ResponseWriter, r *http.Request) bool {
	body, err := e.read(w, r)
	if err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			refuse(w, http.StatusRequestEntityTooLarge, errTooLarge(e.o.MaxBody))
		}
		return false // or the client left
	}
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(body, &call) != nil || len(call.ID) == 0 || call.ID[0] != '"' && (call.ID[0] < '0' || call.ID[0] > '9') {
		return true // a batch, a notification, or what the SDK refuses
	}
	if err := params.Check(call.Method, call.Params); err != nil {
		refuseCall(w, http.StatusOK, call.ID, err)
		return false
	}
	return true
}

// A first is what the first message of a client shows.
type first struct {
	method     string
	initialize bool // it, or one of its batch
	revision   bool // it says in itself that it needs no session
}

// head is what is looked at of a message before there is a session.
type head struct {
	Method string `json:"method"`
	Params struct {
		Meta struct {
			Revision string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

// peek looks at the first message of a client, or the first messages of an old one.
func peek(body []byte) (first, error) {
	batch := make([]head, 1)
	var err error
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		err = json.Unmarshal(body, &batch)
	} else {
		err = json.Unmarshal(body, &batch[0])
	}
	if err != nil {
		return first{}, fault.New(CodeMessage, op, "the body is no message: %s", clip(err.Error())).WithHint("POST one JSON-RPC message")
	}
	var f first
	for _, m := range batch {
		if f.method == "" {
			f.method = m.Method
		}
		f.initialize = f.initialize || m.Method == "initialize"
		f.revision = f.revision || m.Params.Meta.Revision != ""
	}
	return f, nil
}

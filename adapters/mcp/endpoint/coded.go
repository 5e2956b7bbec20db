package endpoint

import (
	"net/http"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// maxPlain is how much of a refusal in plain text is passed on, in bytes.
const maxPlain = 1000

// A coded writer turns the refusals that the SDK writes as a line of text into errors with
// a code, as all others have. Everything else goes through as it comes.
type coded struct {
	http.ResponseWriter
	status int // of a refusal in plain text; 0: there is none
	text   []byte
}

// WriteHeader implements http.ResponseWriter.
func (c *coded) WriteHeader(status int) {
	if c.status == 0 && status >= http.StatusBadRequest && strings.HasPrefix(c.Header().Get("Content-Type"), "text/plain") {
		c.status = status
		return
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (c *coded) Write(p []byte) (int, error) {
	if c.status == 0 {
		return c.ResponseWriter.Write(p)
	}
	c.text = append(c.text, p[:min(len(p), maxPlain-min(len(c.text), maxPlain))]...)
	return len(p), nil
}

// Flush implements http.Flusher, which the SDK looks for.
func (c *coded) Flush() {
	if c.status == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush() // a recorder of a test may not be able to
	}
}

// Unwrap is for [http.ResponseController].
func (c *coded) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// end writes the refusal, if there is one.
func (c *coded) end() {
	if c.status == 0 {
		return
	}
	text := strings.ToValidUTF8(strings.TrimSpace(string(c.text)), "�")
	code, hint := CodeRequest, "POST one JSON-RPC message, with Content-Type: application/json and Accept: application/json, text/event-stream"
	switch {
	case c.status == http.StatusNotFound:
		code, hint = CodeSession, "initialize anew"
	case strings.HasPrefix(text, "malformed payload") || strings.HasPrefix(text, "POST requires"):
		code, hint = CodeMessage, "POST one JSON-RPC message"
	}
	refuse(c.ResponseWriter, c.status, fault.New(code, op, "%s", text).WithHint("%s", hint))
}

// serve lets h answer, with coded refusals.
func serve(h http.Handler, w http.ResponseWriter, r *http.Request) {
	c := &coded{ResponseWriter: w}
	defer c.end()
	h.ServeHTTP(c, r)
}

package boundary

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeSlow is a body that did not arrive in time.
const CodeSlow fault.Code = "BOUNDARY_SLOW"

// A timed body must have arrived when the connection's deadline is over. The answer has
// none: it may be a stream.
type timed struct {
	io.ReadCloser
	conn  *http.ResponseController
	limit time.Duration
	read  bool
}

// inTime gives a body limit to arrive. A handler whose answer takes longer reads it to its end. Where the connection knows no deadlines, as in a
// test's recorder, it has none.
func inTime(w http.ResponseWriter, body io.ReadCloser, limit time.Duration) io.ReadCloser {
	t := &timed{ReadCloser: body, conn: http.NewResponseController(w), limit: limit}
	if t.conn.SetReadDeadline(clock.Real{}.Now().Add(limit)) != nil {
		return body
	}
	return t
}

// Read implements io.Reader. At the end of the body the deadline goes: from then on the
// server reads only to see that the client leaves.
func (t *timed) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	switch {
	case err == nil:
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, fault.New(CodeSlow, "boundary.body", "the body did not arrive in %s", t.limit).WithHint("send it faster")
	case !t.read:
		t.read = true
		_ = t.conn.SetReadDeadline(time.Time{}) // it could be set before
	}
	return n, err
}

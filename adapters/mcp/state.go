package mcp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// maxState bounds the state that a client brings back, in bytes.
const maxState = 4 << 10

// A state is what a client carries between the two calls of a question. It is readable and
// cannot be altered.
type state struct {
	Question string `json:"q"`
	Session  string `json:"s"`
	Tool     string `json:"t"`
	Input    string `json:"i"` // digest of the canonical input
	Expires  int64  `json:"e"` // seconds since 1970
}

// newKey is the key of a process: what another one signed is not taken.
func newKey(c clock.Clock) []byte {
	var key []byte
	for range 4 {
		key = binary.BigEndian.AppendUint64(key, c.Seed())
	}
	return key
}

func stateOf(session string, c call, expires time.Time) state {
	return state{c.question.ID, session, c.tool, digest(c.input), expires.Unix()}
}

// digest ties a state to an input, however it is spelled.
func digest(input []byte) string {
	b, err := canon.JSON(orEmpty(input))
	if err != nil { // it is not JSON, and no tool takes it
		b = input
	}
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// sign makes the text that the client carries.
func (st state) sign(key []byte) (string, error) {
	b, err := json.Marshal(st)
	if err != nil {
		return "", fault.Wrap(err, fault.Internal, "mcp.ask", "encode the state of a question")
	}
	body := base64.RawURLEncoding.EncodeToString(b)
	return body + "." + base64.RawURLEncoding.EncodeToString(seal(key, body)), nil
}

func seal(key []byte, body string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(body))
	return h.Sum(nil)
}

// unsign reads a state that this process signed.
func unsign(key []byte, text string) (st state, err error) {
	refused := func(why string) error {
		return fault.New(CodeState, "mcp.call", "the requestState is not one of this server: %s", why).WithHint("%s", askAgain)
	}
	body, sum, ok := strings.Cut(text, ".")
	if !ok || len(text) > maxState {
		return st, refused("it has another form")
	}
	got, err := base64.RawURLEncoding.DecodeString(sum)
	if err != nil || !hmac.Equal(got, seal(key, body)) {
		return st, refused("it was altered, or made by another process")
	}
	b, err := base64.RawURLEncoding.DecodeString(body)
	if err == nil {
		err = json.Unmarshal(b, &st)
	}
	if err != nil {
		return st, refused("it cannot be read")
	}
	return st, nil
}

// askAgain is the way on from a state that is not taken.
const askAgain = "Make the call again without requestState: it is asked again."

// check says whether a state is about this call, and still holds.
func (st state) check(session, tool string, input []byte, now time.Time) error {
	switch {
	case st.Session != session:
		return fault.New(CodeState, "mcp.call", "the requestState was given to another session").WithHint("%s", askAgain)
	case st.Tool != tool || st.Input != digest(input):
		return fault.New(CodeNoQuestion, "mcp.call", "question %q is about another call than this one", st.Question).WithHint("%s", askAgain)
	case now.Unix() >= st.Expires:
		return fault.New(CodeStateExpired, "mcp.call", "the time to answer question %q is over", st.Question).WithHint("%s", askAgain)
	}
	return nil
}

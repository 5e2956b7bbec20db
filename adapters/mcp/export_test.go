package mcp

import "time"

// Message is what a person reads of a question.
var Message = message

// Carried is the state of a question, for what a client may do to them.
type Carried = state

var (
	NewKey   = newKey
	Unsign   = unsign
	DigestOf = digest
)

// Sign is state.sign.
func Sign(st Carried, key []byte) (string, error) { return st.sign(key) }

// CheckState is state.check.
func CheckState(st Carried, session, tool string, input []byte, now time.Time) error {
	return st.check(session, tool, input, now)
}

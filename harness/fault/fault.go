// Package fault is the shape of every error that leaves a package: a stable
// code, the operation, a message that names the thing, and the next step.
//
// It is a leaf of harness: it imports nothing of ours, and everything may import
// it. It does not decide how an error is shown: each skin maps codes once (exit
// status, MCP error, HTTP status).
//
// Codes are UPPER_SNAKE, are declared as constants beside the code that returns
// them, and never change: scripts and models act on them.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// A Code is the part of an error that a program may act on.
type Code string

// The codes that any package may return. A package's own codes stand beside
// the code that returns them.
const (
	Internal  Code = "INTERNAL"      // a bug of ours or a broken disk; the default
	Invalid   Code = "INVALID_INPUT" // the caller can mend the input
	NotFound  Code = "NOT_FOUND"     // the named thing does not exist
	Conflict  Code = "CONFLICT"      // the id is taken
	Stale     Code = "STALE"         // the thing changed since it was read
	Denied    Code = "DENIED"        // a person, a policy or the trust table said no
	TooLarge  Code = "TOO_LARGE"     // a bound was reached; the message names it
	Cancelled Code = "CANCELLED"     // the caller gave up
	Timeout   Code = "TIMEOUT"       // a deadline passed
)

// An Error carries a Code, what was being done, what was wrong and what to try
// next.
type Error struct {
	Code    Code
	Op      string // "draft.apply"
	Message string // lower case, no full stop, names the thing and the bad value
	Hint    string // one imperative sentence, or ""
	Err     error  // the cause, or nil
}

// New makes an Error without a cause. The message is formatted as by
// fmt.Sprintf.
func New(code Code, op, format string, args ...any) *Error {
	return &Error{Code: code, Op: op, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes an Error with a cause, whose own text is appended to the message.
func Wrap(err error, code Code, op, format string, args ...any) *Error {
	return &Error{Code: code, Op: op, Message: fmt.Sprintf(format, args...), Err: err}
}

// WithHint returns a copy of e that tells the user's next step.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// Error is "op: message: cause", without the code and the hint. A cause of the same
// operation does not name it again.
func (e *Error) Error() string {
	s := e.Message
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Err != nil {
		cause := e.Err.Error()
		if inner, ok := e.Err.(*Error); ok && e.Op != "" && inner.Op == e.Op {
			cause = strings.TrimPrefix(cause, e.Op+": ")
		}
		s += ": " + cause
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an *Error with the same code and no other
// field, so that errors.Is(err, &fault.Error{Code: fault.Stale}) works.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Op == "" && t.Err == nil && t.Code == e.Code
}

// CodeOf returns the code of err: "" for nil, Internal when it carries none.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// HintOf returns the first hint in err's chain, or "".
func HintOf(err error) string {
	for err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}

package draft

import (
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Pending says whether a draft in this state still waits for an outcome.
func (s State) Pending() bool { return s == Open || s == Applying }

// NotFound is the error for a draft that is not there; every backend uses it.
func NotFound(op, id string) error {
	return fault.New(fault.NotFound, op, "there is no draft %q", id).
		WithHint("list the drafts to see what is there")
}

// Changed is the error for a draft that somebody else changed; every backend uses
// it.
func Changed(op, id string, has, wants int64) error {
	return fault.New(fault.Conflict, op, "the draft %q is at revision %d, not %d", id, has, wants).
		WithHint("read the draft again")
}

// String is one line that says how the draft ended, for people and for a model.
func (r Receipt) String() string {
	line := fmt.Sprintf("Draft %s: %s", r.Draft, r.Outcome)
	if r.Target.Kind != "" {
		line += ", " + r.Target.String()
	}
	switch {
	case r.Outcome == Applied:
		line += fmt.Sprintf(" is at revision %d and was read again", r.Revision)
	case r.Detail != "":
		line += ": " + r.Detail
	}
	return line + "."
}

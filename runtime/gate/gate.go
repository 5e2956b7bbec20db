// Package gate stands between a wish and a deed: it decides on a call, and is the
// only caller of a tool's handler.
//
// It is part of the kernel, above tool and trust. It never blocks: Decide returns
// allowed, denied or asked with a question, and Resume takes the answer. Who asks
// the person, and how, is the skin's business.
package gate

import (
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// A Request is a call that somebody wants to make.
type Request struct {
	tool.Call
	Tool  string // the dotted id or the provider-safe name
	Input []byte // JSON; {} where empty
}

// An Outcome is what Decide found.
type Outcome string

// The outcomes.
const (
	Allowed Outcome = "allowed"
	Asked   Outcome = "asked"
	Refused Outcome = "denied"
)

// A Decision is the answer to a Request. Only a Gate can make one that runs.
type Decision struct {
	Outcome Outcome
	Request Request // normalised: dotted id, canonical input, the inner call of a capability.call
	By      By      // Policy when allowed or denied; Nobody yet when asked
	// Passed says that a call was allowed which the most careful mode would ask about, and
	// Remembered that it was so by a person's yes for the whole session.
	Passed, Remembered bool
	Class              trust.Class // of the tool, when allowed
	Question           *Question   // when asked
	Err                error       // when denied: says why, with a code

	pass *pass
}

// A Question is put to a person. The digest ties it to one exact call.
type Question struct {
	ID      string        `json:"id"`
	Session string        `json:"session"`
	Tool    string        `json:"tool"`
	Title   string        `json:"title"` // "Apply draft d-0001 to character/ada?"
	Class   trust.Class   `json:"class"`
	Digest  string        `json:"digest"` // sha256 of session, tool id and canonical input
	Input   string        `json:"input"`  // canonical JSON, for showing
	Review  *draft.Review `json:"review,omitempty"`
	// Session answers are offered: false for deletes, which are asked each time.
	MayRemember bool      `json:"may_remember"`
	At          time.Time `json:"at"`
}

// A Choice is what was answered.
type Choice string

// The choices. An answer that nobody gave is never recorded as a person's.
const (
	Once        Choice = "once"
	ThisSession Choice = "session" // this tool, until the session ends
	No          Choice = "no"
	TimedOut    Choice = "timeout"
	Absent      Choice = "absent" // nobody was there to be asked
)

// By says who answered.
type By string

// Who can answer.
const (
	Person By = "person"
	Policy By = "policy" // the mode's table, or a remembered session answer
	Client By = "client" // an MCP client that declined by itself
	Nobody By = "nobody"
)

// An Answer closes a Question.
type Answer struct {
	Choice Choice `json:"choice"`
	By     By     `json:"by"`
	Note   string `json:"note,omitempty"` // what the person said, if anything
}

// The codes of this package.
const (
	CodeUnknownTool fault.Code = "UNKNOWN_TOOL"      // no such tool in this registry
	CodeNoRow       fault.Code = "TRUST_NO_ROW"      // registered, but not classified
	CodeDenied      fault.Code = "GATE_DENIED"       // a person or client said no
	CodeNobody      fault.Code = "GATE_NOBODY"       // asked, and nobody was there
	CodeTimeout     fault.Code = "GATE_TIMEOUT"      // asked, and nobody answered in time
	CodeUsed        fault.Code = "GATE_ANSWER_USED"  // the question was answered before
	CodeReadChanged fault.Code = "GATE_READ_CHANGED" // a tool that says it reads, and composed or closed a draft
	CodeMismatch    fault.Code = "GATE_MISMATCH"     // the question is about another call
)

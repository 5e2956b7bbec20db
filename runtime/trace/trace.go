// Package trace is the record of what happened in a session: one append-only
// JSONL file, from which everything else is projected.
//
// It is part of the kernel, above model, draft and ledger. A line is one event, written
// by one write(2); the file is synced at the end of a turn. A torn last line is
// skipped on reading, a newer schema is refused. It does not interpret: receipts,
// transcripts and costs are projections made elsewhere.
package trace

import (
	"time"

	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// Version is the schema that this package writes.
const Version = 1

// An Event is one line. Data is the payload of Type, decoded by Decode.
type Event struct {
	V       int       `json:"v"`
	Seq     int64     `json:"seq"` // 1, 2, 3 … in this file
	At      time.Time `json:"at"`
	Session string    `json:"session"`
	Turn    int       `json:"turn,omitempty"` // 0 before the first
	Type    string    `json:"type"`
	Data    []byte    `json:"-"` // the payload's JSON; "data" on the line
}

// A Payload is what one type of event says.
type Payload interface {
	// EventType is the event's type: "turn.opened".
	EventType() string
}

// The payloads. Fields are only ever added.
type (
	// SessionOpened is the first event of a file.
	SessionOpened struct {
		Skin     string `json:"skin"`
		Mode     string `json:"mode"` // replay, record, live
		Gate     string `json:"gate"` // guarded, autopilot, full
		Model    string `json:"model,omitempty"`
		Cassette string `json:"cassette,omitempty"`
		Parent   string `json:"parent,omitempty"`    // the run that started this one
		ReadOnly bool   `json:"read_only,omitempty"` // a server without the tools that write
		Origin   string `json:"origin"`              // user, system, schedule
	}
	// TurnOpened is written before a model is set up.
	TurnOpened struct {
		Input  string       `json:"input"`
		Facts  []string     `json:"facts,omitempty"`  // ambient, one line each
		Attach []model.Part `json:"attach,omitempty"` // images and documents beside it
		// What this turn was asked to do otherwise than by default.
		Reasoning string `json:"reasoning,omitempty"`
		MaxCalls  int    `json:"max_calls,omitempty"`
		MaxRounds int    `json:"max_rounds,omitempty"`
		// Servers are those of other people, as they stood when the turn began.
		Servers []Server `json:"servers,omitempty"`
	}
	// Server is one of other people in a turn.
	Server struct {
		Name    string `json:"name"`
		Tools   int    `json:"tools"`
		Dropped int    `json:"dropped,omitempty"` // tools that did not join: their names collide, or a bound was met
		Code    string `json:"code,omitempty"`    // why it has none
	}
	// Steered is something that a person said in the middle of a turn, or left for
	// after it.
	Steered struct {
		Text  string `json:"text"`
		After bool   `json:"after"` // follow-up: waits for the end of the turn
	}
	// ModelRequested says what is about to be sent.
	ModelRequested struct {
		Round       int      `json:"round"`
		Ref         string   `json:"ref"`
		Tools       []string `json:"tools"` // dotted ids on the belt
		Messages    int      `json:"messages"`
		MaxOutput   int64    `json:"max_output"`
		Reservation string   `json:"reservation,omitempty"`
		// Row is what was set aside, as it stands in the store: the ledger can be
		// rebuilt from the trace.
		Row *ledger.Row `json:"row,omitempty"`
	}
	// CostSettled is the end of a reservation: the row as it stands in the store from
	// here on. Every ModelRequested with a Row has one, unless the process died.
	CostSettled struct {
		Row ledger.Row `json:"row"`
	}
	// ModelRetried says that a request failed in a way that may pass.
	ModelRetried struct {
		Round   int    `json:"round"`
		Attempt int    `json:"attempt"`
		Code    string `json:"code"`
		Message string `json:"message"`
		WaitMS  int64  `json:"wait_ms"`
	}
	// ModelReplied is one whole or partial reply.
	ModelReplied struct {
		Round int         `json:"round"`
		Reply model.Reply `json:"reply"`
		Code  string      `json:"code,omitempty"` // set when the stream broke
		Error string      `json:"error,omitempty"`
	}
	// ToolCalled is a call that a model or a client declared.
	ToolCalled struct {
		Round int    `json:"round,omitempty"`
		Index int    `json:"index"`
		Call  string `json:"call"`
		Tool  string `json:"tool"` // the dotted id, or what was asked for if unknown
		Input string `json:"input"`
	}
	// GateAsked is a question to a person.
	GateAsked struct {
		Question string        `json:"question"`
		Call     string        `json:"call"`
		Tool     string        `json:"tool"`
		Class    string        `json:"class"`
		Title    string        `json:"title"`
		Review   *draft.Review `json:"review,omitempty"`
	}
	// GateAnswered closes a question.
	GateAnswered struct {
		Question string `json:"question"`
		Choice   string `json:"choice"` // once, session, no, timeout, absent
		By       string `json:"by"`     // person, policy, client, nobody
		Note     string `json:"note,omitempty"`
	}
	// GatePassed is a call that nobody was asked about, and would have been in the most
	// careful mode.
	GatePassed struct {
		Call  string `json:"call"`
		Tool  string `json:"tool"`
		Class string `json:"class"`
		Mode  string `json:"mode"` // the gate's
		By    string `json:"by"`   // policy
		// Remembered says that a person's yes for the whole session is why.
		Remembered bool `json:"remembered,omitempty"`
	}
	// ToolFinished is the result of a call; every ToolCalled has one.
	ToolFinished struct {
		Call   string        `json:"call"`
		Tool   string        `json:"tool"`
		OK     bool          `json:"ok"`
		Code   string        `json:"code,omitempty"`
		Text   string        `json:"text"` // what the model was told
		Images []model.Blob  `json:"images,omitempty"`
		Handle string        `json:"handle,omitempty"`
		Review *draft.Review `json:"review,omitempty"`
		// Reviews are the cards of drafts composed before that of Review.
		Reviews []draft.Review `json:"reviews,omitempty"`
		Show    *tool.Show     `json:"show,omitempty"` // what was put on the person's screen
		Reveal  []string       `json:"reveal,omitempty"`
		NotRun  bool           `json:"not_run,omitempty"` // cancelled or over budget
	}
	// DraftSettled is a receipt.
	DraftSettled struct {
		Receipt draft.Receipt `json:"receipt"`
	}
	// SeamMissed is a request that the cassette does not hold.
	SeamMissed struct {
		Message string `json:"message"`
	}
	// TurnClosed ends a turn.
	TurnClosed struct {
		Label    string `json:"label"`              // verified, stale, discarded, failed, cancelled, stopped, answered
		Stop     string `json:"stop,omitempty"`     // STOP_… when the loop ended it
		Guidance string `json:"guidance,omitempty"` // one line
		Text     string `json:"text"`               // what the person is shown
		Notes    string `json:"notes,omitempty"`    // what the model is told of its drafts, in the next message
		Rounds   int    `json:"rounds"`
		Calls    int    `json:"calls"`
		Cost     int64  `json:"cost"` // pico-dollars, billed or saved
	}
)

// EventType implements Payload, here and below.
func (SessionOpened) EventType() string { return "session.opened" }

// EventType implements Payload.
func (TurnOpened) EventType() string { return "turn.opened" }

// EventType implements Payload.
func (Steered) EventType() string { return "turn.steered" }

// EventType implements Payload.
func (ModelRequested) EventType() string { return "model.requested" }

// EventType implements Payload.
func (CostSettled) EventType() string { return "cost.settled" }

// EventType implements Payload.
func (ModelRetried) EventType() string { return "model.retried" }

// EventType implements Payload.
func (ModelReplied) EventType() string { return "model.replied" }

// EventType implements Payload.
func (ToolCalled) EventType() string { return "tool.called" }

// EventType implements Payload.
func (GateAsked) EventType() string { return "gate.asked" }

// EventType implements Payload.
func (GateAnswered) EventType() string { return "gate.answered" }

// EventType implements Payload.
func (GatePassed) EventType() string { return "gate.passed" }

// EventType implements Payload.
func (ToolFinished) EventType() string { return "tool.finished" }

// EventType implements Payload.
func (DraftSettled) EventType() string { return "draft.settled" }

// EventType implements Payload.
func (SeamMissed) EventType() string { return "seam.missed" }

// EventType implements Payload.
func (TurnClosed) EventType() string { return "turn.closed" }

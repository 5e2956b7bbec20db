// Package draft holds proposed changes until somebody applies or discards them.
//
// It is part of the kernel, above store. Operations compose over one immutable
// baseline into one proposal; only Apply writes to the store, once, and reads the
// piece again before it says so. It does not ask for permission: runtime/gate does.
package draft

import (
	"context"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A State is where a draft stands.
type State string

// The states. Only an open draft can change.
const (
	Open      State = "open"
	Applying  State = "applying" // Apply has begun; after a crash the store says how it ended
	Applied   State = "applied"
	Stale     State = "stale"  // the piece changed, or the id was taken, before apply
	Failed    State = "failed" // saved, but the re-read did not verify, or the save failed
	Discarded State = "discarded"
)

// A Change is one row of a review: a field before and after.
type Change struct {
	Path   string `json:"path"`   // RFC 6901 pointer into the body
	Label  string `json:"label"`  // "Name", in the user's words
	Before string `json:"before"` // "" where there was none
	After  string `json:"after"`
}

// An Impact says what a change means on a platform.
type Impact struct {
	Platform string `json:"platform"`
	Effect   string `json:"effect"` // one sentence
}

// An Op is one operation that was composed into a draft.
type Op struct {
	Capability string   `json:"capability"` // "character.identity.update"
	Input      string   `json:"input"`      // the validated input, canonical JSON
	Changes    []Change `json:"changes"`
	Warnings   []string `json:"warnings,omitempty"`
	Impact     []Impact `json:"impact,omitempty"`
}

// A Draft is one proposal.
type Draft struct {
	ID       string      `json:"id"`
	Rev      int64       `json:"rev"`   // one more with each PutDraft
	Owner    string      `json:"owner"` // the session that may apply it; "" is a person at the command line
	Create   bool        `json:"create"`
	Baseline store.Piece `json:"baseline"` // zero, but for the Ref, when Create
	Proposed store.Piece `json:"proposed"`
	Ops      []Op        `json:"ops"`
	State    State       `json:"state"`
	Reason   string      `json:"reason,omitempty"` // of stale, failed, discarded
	Created  time.Time   `json:"created"`
	Updated  time.Time   `json:"updated"`
}

// A Proposal is what a capability's preview gives: one operation and its result.
type Proposal struct {
	Baseline store.Piece // what Service.Base gave; zero, but for the Ref, to create
	Create   bool
	Proposed store.Piece
	Op       Op
}

// A Review is the card that a person decides on: the target and bounded rows.
type Review struct {
	Draft    string   `json:"draft"`
	Target   string   `json:"target"` // "character/ada"
	Title    string   `json:"title"`
	Create   bool     `json:"create"`
	Rows     []Change `json:"rows"` // over all operations, net; values clipped
	More     int      `json:"more"` // rows left out
	Warnings []string `json:"warnings,omitempty"`
	Impact   []Impact `json:"impact,omitempty"`
}

// A Receipt is the result of Apply.
type Receipt struct {
	Draft    string    `json:"draft"`
	Outcome  State     `json:"outcome"` // applied, stale or failed
	Target   store.Ref `json:"target"`
	Revision int64     `json:"revision"` // the one that was written; 0 if none was
	Detail   string    `json:"detail"`
}

// A Checker parses a proposed piece again, as its kind demands. It is the
// studio's.
type Checker interface {
	CheckPiece(ctx context.Context, p store.Piece) error
}

// Drafts is where drafts are kept so that they survive a restart.
type Drafts interface {
	// PutDraft keeps each draft, if the stored one of its id has the revision before
	// its Rev (0: there is none), else it is fault.Conflict. All are kept, or none is,
	// also where the process dies.
	PutDraft(ctx context.Context, ds ...Draft) error
	// GetDraft returns one, or fault.NotFound.
	GetDraft(ctx context.Context, id string) (Draft, error)
	// ListDrafts returns those that are open or applying, or all of them, newest
	// first, by Created and then by id.
	ListDrafts(ctx context.Context, all bool) ([]Draft, error)
	// CountDrafts is how many there are, closed ones too.
	CountDrafts(ctx context.Context) (int64, error)
}

// A Saver is a store that keeps its drafts in the same transactions as its pieces. A
// store without it is written to in three steps, each of which a later call can take up.
type Saver interface {
	// SaveDraft creates p, or else updates it, and puts the draft that ended gives for the
	// revision that p became: both, or neither. Its errors are those of PutDraft, Create
	// and Update, looked for in this order.
	SaveDraft(ctx context.Context, p store.Piece, s store.Stamp, create bool, ended func(revision int64) Draft) (store.Piece, error)
}

// The codes of this package.
const (
	CodeNotOwner  fault.Code = "DRAFT_NOT_OWNER"  // another session's draft
	CodeClosed    fault.Code = "DRAFT_CLOSED"     // applied, stale, failed or discarded
	CodeMismatch  fault.Code = "DRAFT_MISMATCH"   // an operation on another target or baseline
	CodeEscrow    fault.Code = "DRAFT_ESCROW"     // a preview changed the escrow or identity
	CodeUnchanged fault.Code = "DRAFT_NO_CHANGES" // the proposal equals the baseline
)

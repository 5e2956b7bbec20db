// Package ledger knows what model calls cost and what they may cost.
//
// It is part of the kernel, above model. Every request is reserved before it is
// sent, against every open cap at once, and settled on its usage. Money is in
// pico-dollars, whole numbers, rounded once a row. It does not fetch prices: the
// catalogue or a cassette brings them.
package ledger

import (
	"context"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

// A State is where a row stands.
type State string

// The states.
const (
	Reserved State = "reserved"
	Settled  State = "settled"
	Released State = "released" // nothing was sent, or nothing was billed
)

// A Row is one model request, or one other thing that costs.
type Row struct {
	ID        string      `json:"id"`
	Session   string      `json:"session"`
	Run       string      `json:"run"`
	ParentRun string      `json:"parent_run,omitempty"`
	Turn      int         `json:"turn"`
	Round     int         `json:"round"`
	Attempt   int         `json:"attempt"`
	Role      string      `json:"role"`    // lead, child, one-shot, tool, compute
	Billing   string      `json:"billing"` // metered, plan, local
	Ref       string      `json:"ref"`
	Origin    string      `json:"origin"` // live, scripted, imported: where the answer came from
	Saved     bool        `json:"saved"`  // replayed: counts against caps, was not paid
	State     State       `json:"state"`
	Usage     model.Usage `json:"usage"`
	Reserve   int64       `json:"reserve"` // pico-dollars that were set aside
	Cost      int64       `json:"cost"`    // pico-dollars: what this billing pays
	List      int64       `json:"list"`    // pico-dollars at list price
	Priced    string      `json:"priced"`  // digest of the price list; "" is unknown price
	At        time.Time   `json:"at"`
}

// A Cap is a limit on what may be spent.
type Cap struct {
	Scope string `json:"scope"` // ScopeSession, ScopeRun, ScopeDay or ScopeStudio
	ID    string `json:"id"`    // the session, the run, the day (2026-01-02); "" for the studio
	Limit int64  `json:"limit"` // pico-dollars
}

// The scopes of a Cap.
const (
	ScopeSession = "session"
	ScopeRun     = "run" // with the runs that it started
	ScopeDay     = "day" // in UTC
	ScopeStudio  = "studio"
)

// A Sum is what rows add up to, in pico-dollars.
type Sum struct {
	Rows  int64 `json:"rows"`  // of every state
	Open  int64 `json:"open"`  // reserved and not settled, saved or not
	Cost  int64 `json:"cost"`  // settled and paid: rows that are not saved
	Saved int64 `json:"saved"` // settled and not paid: rows that are
}

// Rows is where the ledger is kept.
type Rows interface {
	// ReserveRow inserts row if, for every cap, what its scope has spent plus
	// row.Reserve is at most its limit; else it is OverCap for the first that is not
	// and writes nothing. Spent is the Cost of settled rows and the Reserve of
	// reserved ones, without saved rows of other sessions. An ID that is there is
	// fault.Conflict. One transaction.
	ReserveRow(ctx context.Context, row Row, caps []Cap) error
	// SettleRow replaces the reserved row of the same ID; a row that is not
	// reserved is fault.Conflict.
	SettleRow(ctx context.Context, row Row) error
	// SumRows adds up the rows of a cap's scope.
	SumRows(ctx context.Context, c Cap) (Sum, error)
	// ListRows returns a session's rows in order of insertion; "" is all.
	ListRows(ctx context.Context, session string) ([]Row, error)
}

// The codes of this package.
const (
	CodeUnpriced fault.Code = "BUDGET_UNPRICED" // no known price, and a cap is open
	CodeOverCap  fault.Code = "BUDGET_OVER_CAP" // the reservation does not fit
)

// Package drawer is the port behind which a studio keeps what is not a piece: a
// person's own groupings, and the blocks that were set aside.
//
// It is part of the kernel, beside store. The backends of the store fill it, so that
// all who work on one studio see the same. It does not know what a document means:
// the studio's tools do.
package drawer

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The drawers.
const (
	Collections = "collections" // a person's groupings of pieces, by name
	Graveyard   = "graveyard"   // blocks set aside from presets, by number
)

// The bounds of a drawer.
const (
	MaxID      = 120     // characters of an id
	MaxDoc     = 1 << 20 // bytes of a document
	MaxEntries = 10_000  // of one drawer
)

// The codes of this package.
const (
	CodeNone  fault.Code = "DRAWER_NO_ENTRY"  // there is no entry of that id
	CodeEntry fault.Code = "DRAWER_BAD_ENTRY" // an id or a document that may not be kept
	CodeFull  fault.Code = "DRAWER_FULL"      // MaxEntries are in it
)

// An Entry is one document in a drawer.
type Entry struct {
	Drawer string          `json:"drawer"`
	ID     string          `json:"id"`
	Rev    int64           `json:"rev"` // one more with each PutEntry
	At     time.Time       `json:"at"`  // of the last PutEntry, to the microsecond
	Doc    json.RawMessage `json:"doc"`
}

// Rows is where entries are kept so that they survive a restart. Each method is one
// transaction.
type Rows interface {
	// PutEntry keeps e if the stored entry of that id has the revision e.Rev-1 (0: there
	// is none), else it is fault.Conflict and keeps nothing. A new entry beyond
	// MaxEntries is CodeFull.
	PutEntry(ctx context.Context, e Entry) error
	// GetEntry returns one, or CodeNone.
	GetEntry(ctx context.Context, drawer, id string) (Entry, error)
	// ListEntries returns all of a drawer, by id.
	ListEntries(ctx context.Context, drawer string) ([]Entry, error)
	// DropEntry removes one if it has the revision, else it is fault.Conflict, or
	// CodeNone where there is none.
	DropEntry(ctx context.Context, drawer, id string, rev int64) error
}

// Check says whether e may be kept; every backend asks.
func Check(e Entry) error {
	const op = "drawer.check"
	switch {
	case e.Drawer == "" || e.ID == "" || !utf8.ValidString(e.ID) || strings.ContainsRune(e.ID, 0):
		return fault.New(CodeEntry, op, "an entry of the drawer %q has the id %q", e.Drawer, e.ID).WithHint("give it a name")
	case utf8.RuneCountInString(e.ID) > MaxID:
		return fault.New(CodeEntry, op, "an id of the drawer %q has %d characters, the most is %d", e.Drawer, utf8.RuneCountInString(e.ID), MaxID).
			WithHint("choose a shorter one")
	case len(e.Doc) > MaxDoc:
		return fault.New(CodeEntry, op, "%q of the drawer %q has %d bytes, the most is %d", e.ID, e.Drawer, len(e.Doc), MaxDoc).
			WithHint("make it smaller or split it")
	case !json.Valid(e.Doc):
		return fault.New(CodeEntry, op, "%q of the drawer %q is not JSON", e.ID, e.Drawer)
	}
	return nil
}

// None is the error for an entry that is not there; every backend uses it.
func None(op, drawer, id string) error {
	return fault.New(CodeNone, op, "there is no %q in the drawer %q", id, drawer).
		WithHint("list the drawer to see what is there")
}

// Changed is the error for an entry that somebody else changed; every backend uses it.
func Changed(op, drawer, id string, has, wants int64) error {
	return fault.New(fault.Conflict, op, "%q of the drawer %q is at revision %d, not %d", id, drawer, has, wants).
		WithHint("read it again and repeat the change")
}

// Full is the error for a drawer that takes no more; every backend uses it.
func Full(op, drawer string) error {
	return fault.New(CodeFull, op, "the drawer %q holds %d entries, which is the most", drawer, MaxEntries).
		WithHint("remove some that are not needed any more")
}

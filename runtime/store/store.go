// Package store is the port behind which pieces live, with their revisions and
// their history.
//
// It is part of the kernel. adapters/sqlite fills the port; runtime/store/storetest
// is the suite that every backend passes. It does not know what a body means: that
// is a studio's business.
//
// What is the same in every backend stands here: the rules of ids, the bounds, the
// text that a search looks in, the words of the errors, and the canonical dump by
// which two stores are compared.
package store

import (
	"context"
	"time"
)

// A Ref names a piece.
type Ref struct {
	Kind string `json:"kind"` // "character"
	ID   string `json:"id"`   // "ada": lower case letters, digits and dashes
}

// String is kind/id.
func (r Ref) String() string { return r.Kind + "/" + r.ID }

// An Escrow is a file as it was imported, kept byte for byte so that an export to
// the same format loses nothing. It is written at import and never after.
type Escrow struct {
	Format string `json:"format"` // "ccv3-json", "ccv2-png"
	Name   string `json:"name"`   // the file's base name, for people
	Raw    []byte `json:"raw"`
}

// A Piece is one stored thing at one revision.
type Piece struct {
	Ref
	Revision int64     `json:"revision"` // 1 on creation, then one more a write
	Title    string    `json:"title"`    // what lists show; derived from the body by the studio
	Body     []byte    `json:"body"`     // a JSON object; kept in canonical form
	Escrow   []Escrow  `json:"escrow,omitempty"`
	Profiles []byte    `json:"profiles,omitempty"` // canonical JSON object by platform, or nil
	Updated  time.Time `json:"updated"`
}

// A Summary is a piece without its bytes.
type Summary struct {
	Ref
	Revision int64     `json:"revision"`
	Title    string    `json:"title"`
	Size     int64     `json:"size"` // bytes of the body
	Updated  time.Time `json:"updated"`
}

// A Query selects pieces. The zero Query is all of them, by kind and id.
type Query struct {
	Kind  string // "" is every kind
	Text  string // case-insensitive literal in the title or a string of the body, or ""
	After Ref    // continue behind this one
	Limit int    // 0 is 1,000, which is also the most
}

// A Stamp says where a write came from. It is kept with the revision.
type Stamp struct {
	At      time.Time `json:"at"`
	Session string    `json:"session"` // "" for a person at the command line
	Seq     int64     `json:"seq"`     // of the session's trace event that caused the write
	Cause   string    `json:"cause"`   // "import", "draft d-0001", "restore 3"
}

// A Revision is one entry of a piece's history.
type Revision struct {
	Revision int64 `json:"revision"`
	Deleted  bool  `json:"deleted"` // this entry is the removal
	Stamp
	Size int64 `json:"size"`
}

// Together is a store that can make several pieces at once.
type Together interface {
	// CreateAll is Create for each of them, in one transaction: all are made, or none is,
	// also where the process dies. Its errors are those of Create.
	CreateAll(ctx context.Context, ps []Piece, s Stamp) ([]Piece, error)
}

// A Store keeps pieces. Every method is one transaction; what it decides, it
// decides inside of it. Nothing that a method reported as done is lost by kill -9.
type Store interface {
	// Get returns the piece at a revision; 0 is the current one. A piece that does
	// not exist, or is deleted when revision is 0, is fault.NotFound.
	Get(ctx context.Context, ref Ref, revision int64) (Piece, error)
	// List returns summaries in order of kind and id, never deleted ones.
	List(ctx context.Context, q Query) ([]Summary, error)
	// Create writes revision 1, or the next one where the id was deleted before. An
	// occupied id is fault.Conflict and writes nothing.
	Create(ctx context.Context, p Piece, s Stamp) (Piece, error)
	// Update writes the next revision if the current one is p.Revision, else it is
	// fault.Stale (fault.NotFound if there is none) and writes nothing. The escrow
	// must be the stored one, byte for byte, else it is CodeEscrow.
	Update(ctx context.Context, p Piece, s Stamp) (Piece, error)
	// Delete removes the piece if its revision is the one given. History stays.
	Delete(ctx context.Context, ref Ref, revision int64, s Stamp) error
	// History is every revision, oldest first, also of a deleted piece.
	History(ctx context.Context, ref Ref) ([]Revision, error)
}

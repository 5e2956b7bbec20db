package store

import "github.com/soundstage-dev/soundstage/harness/fault"

// The errors below are made here so that every backend says the same thing.

// NotFound is the error for a piece that is not there.
func NotFound(op string, ref Ref) error {
	return fault.New(fault.NotFound, op, "there is no %q", ref).
		WithHint("list the pieces to see what is there")
}

// NoRevision is the error for a revision that a piece never had or that is its
// removal.
func NoRevision(op string, ref Ref, revision int64) error {
	return fault.New(fault.NotFound, op, "%q has no revision %d to read", ref, revision).
		WithHint("look at its history")
}

// Taken is the error for an id that is occupied.
func Taken(op string, ref Ref, revision int64) error {
	return fault.New(fault.Conflict, op, "the id of %q is taken, by revision %d", ref, revision).
		WithHint("choose another id, or change the piece that is there")
}

// NotCurrent is the error for a write over a revision that is no longer current.
func NotCurrent(op string, ref Ref, has, wants int64) error {
	return fault.New(fault.Stale, op, "%q is at revision %d, not %d", ref, has, wants).
		WithHint("read it again and repeat the change")
}

// NewEscrow is the error for an update that brings another escrow.
func NewEscrow(op string, ref Ref) error {
	return fault.New(CodeEscrow, op, "the update of %q brings another escrow than the one it was imported with", ref).
		WithHint("keep the escrow of the piece that was read; a new import is a new piece")
}

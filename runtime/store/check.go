package store

import (
	"bytes"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The bounds of a piece.
const (
	MaxID       = 64       // characters of a kind or an id
	MaxTitle    = 512      // characters (runes) of a title
	MaxBody     = 8 << 20  // bytes of a body
	MaxProfiles = 1 << 20  // bytes of the profiles
	MaxEscrow   = 96 << 20 // bytes of all escrows of a piece together
	MaxEscrows  = 64       // escrows of a piece
	MaxCause    = 512      // bytes of a stamp's cause
	MaxList     = 1000     // summaries of one List
	MaxText     = 1000     // characters of a query's text
)

// The codes of this package.
const (
	CodeBadRef   fault.Code = "BAD_REF"          // a kind or an id is not well formed
	CodeTitle    fault.Code = "PIECE_TITLE"      // the title is longer than MaxTitle or not UTF-8
	CodeBody     fault.Code = "PIECE_BODY"       // the body or the profiles are not a JSON object
	CodeTooLarge fault.Code = "PIECE_TOO_LARGE"  // a bound was reached; the message names it
	CodeEscrow   fault.Code = "ESCROW_IMMUTABLE" // an update brought another escrow
	CodeNewer    fault.Code = "STORE_NEWER"      // the store was written by a newer version
	CodeDamaged  fault.Code = "STORE_DAMAGED"    // the file is not a store, or is broken
	CodeMissing  fault.Code = "STORE_MISSING"    // the folder or the database of the store does not exist

	CodeUnreachable fault.Code = "STORE_UNREACHABLE" // the server of the store does not answer
	CodeDenied      fault.Code = "STORE_DENIED"      // the store's server or file does not let this user in, or do that
	CodeFull        fault.Code = "STORE_FULL"        // the disk of the store is full or broken; nothing of what was asked is written
)

// Prepare gives p as it is kept: body and profiles in canonical JSON, the time of
// the stamp as an [Instant]. An error says which rule p breaks. Every backend calls
// it before it writes.
func Prepare(p Piece, s Stamp) (Piece, error) {
	if err := checkSizes(p, s); err != nil {
		return Piece{}, err
	}
	body, err := object(p.Ref, "body", p.Body)
	if err != nil {
		return Piece{}, err
	}
	p.Body = body
	if len(p.Profiles) == 0 {
		p.Profiles = nil
	} else if p.Profiles, err = object(p.Ref, "profiles", p.Profiles); err != nil {
		return Piece{}, err
	}
	if len(p.Escrow) == 0 {
		p.Escrow = nil
	}
	p.Updated = Instant(s.At)
	return p, nil
}

// PrepareAll is Prepare for pieces that are written together. They share no bytes with ps.
func PrepareAll(ps []Piece, s Stamp) ([]Piece, error) {
	all := make([]Piece, len(ps))
	for i, p := range ps {
		var err error
		if all[i], err = Prepare(p, s); err != nil {
			return nil, err
		}
		all[i].Escrow = slices.Clone(all[i].Escrow)
		for k := range all[i].Escrow {
			all[i].Escrow[k].Raw = slices.Clone(all[i].Escrow[k].Raw)
		}
	}
	return all, nil
}

func object(ref Ref, what string, raw []byte) ([]byte, error) {
	b, err := canon.JSON(raw)
	if err != nil {
		return nil, fault.Wrap(err, CodeBody, "store.check", "the %s of %q", what, ref)
	}
	if b[0] != '{' {
		return nil, fault.New(CodeBody, "store.check", "the %s of %q is not a JSON object", what, ref)
	}
	return b, nil
}

func checkSizes(p Piece, s Stamp) error {
	const op = "store.check"
	if err := CheckRef(p.Ref); err != nil {
		return err
	}
	if !utf8.ValidString(p.Title) {
		return fault.New(CodeTitle, op, "the title of %q is not UTF-8: %q", p.Ref, clip(p.Title))
	}
	if n := utf8.RuneCountInString(p.Title); n > MaxTitle {
		return fault.New(CodeTitle, op, "the title of %q has %d characters, the most is %d", p.Ref, n, MaxTitle).
			WithHint("shorten the title")
	}
	if len(p.Body) > MaxBody {
		return tooLarge(p.Ref, "body", len(p.Body), MaxBody)
	}
	if len(p.Profiles) > MaxProfiles {
		return tooLarge(p.Ref, "profiles", len(p.Profiles), MaxProfiles)
	}
	if err := CheckStamp(s); err != nil {
		return err
	}
	return checkEscrow(p)
}

func checkEscrow(p Piece) error {
	if len(p.Escrow) > MaxEscrows {
		return fault.New(CodeTooLarge, "store.check", "%q has %d escrows, the most is %d", p.Ref, len(p.Escrow), MaxEscrows)
	}
	total := 0
	for _, e := range p.Escrow {
		total += len(e.Raw)
	}
	if total > MaxEscrow {
		return tooLarge(p.Ref, "escrow", total, MaxEscrow)
	}
	return nil
}

// CheckStamp says whether s may be kept.
func CheckStamp(s Stamp) error {
	if len(s.Cause) > MaxCause {
		return fault.New(CodeTooLarge, "store.check", "the cause %q has %d bytes, the most is %d", clip(s.Cause), len(s.Cause), MaxCause)
	}
	return nil
}

// CheckQuery says whether q can be answered.
func CheckQuery(q Query) error {
	if q.Limit < 0 || q.Limit > MaxList {
		return fault.New(fault.Invalid, "store.list", "the limit %d is not between 0 and %d", q.Limit, MaxList)
	}
	if n := utf8.RuneCountInString(q.Text); n > MaxText {
		return fault.New(CodeTooLarge, "store.list", "the text to look for has %d characters, the most is %d", n, MaxText)
	}
	return nil
}

func tooLarge(ref Ref, what string, n, most int) error {
	return fault.New(CodeTooLarge, "store.check", "the %s of %q has %d bytes, the most is %d", what, ref, n, most).
		WithHint("make it smaller or split it")
}

// EqualEscrow reports whether a and b are the same files, byte for byte.
func EqualEscrow(a, b []Escrow) bool {
	return slices.EqualFunc(a, b, func(x, y Escrow) bool {
		return x.Format == y.Format && x.Name == y.Name && bytes.Equal(x.Raw, y.Raw)
	})
}

// Instant is t as every backend keeps it: UTC, to the microsecond, without a
// monotonic reading.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

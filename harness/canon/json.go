// Package canon gives JSON one spelling: canonical JSON, with names sorted, no
// spaces and every number exactly as it was written, and an ordered tree that
// keeps what was read.
//
// It is a leaf of harness. Keys of cassettes, digests and golden dumps are
// computed over its output. It gives values no meaning: schemas, rules and
// redaction live elsewhere.
package canon

import (
	"errors"
	"io"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// MaxBytes is the largest text that JSON and Marshal take or give, in bytes.
const MaxBytes = 64 << 20

// MaxDepth is the deepest nesting of objects and arrays. It is the parser's own
// bound, named here so that callers and errors can quote it.
const MaxDepth = 10_000

// The codes of this package.
const (
	CodeJSON   fault.Code = "CANON_BAD_JSON"  // not one JSON value in UTF-8 with unique names
	CodeDepth  fault.Code = "CANON_TOO_DEEP"  // nested deeper than MaxDepth
	CodeSize   fault.Code = "CANON_TOO_LARGE" // longer than MaxBytes
	CodeEncode fault.Code = "CANON_NO_JSON"   // a Go value that has no JSON form
)

// strictOptions is RFC 8785 but for numbers: 1e2, 100.0 and 12345678901234567890
// stay as they are, because a float64 would change what was sent.
var strictOptions = []jsontext.Options{
	jsontext.CanonicalizeRawInts(false),
	jsontext.CanonicalizeRawFloats(false),
	jsontext.ReorderRawObjects(true),
}

// JSON returns the canonical form of raw, which it does not change: names sorted
// (by UTF-16 code unit, as RFC 8785 does), no spaces, strings escaped as little
// as possible, numbers as written. Equal values give equal bytes, and a
// canonical text is its own canonical form.
//
// Invalid UTF-8, a name that occurs twice in one object, an empty text and data
// after the value are errors of code CodeJSON.
func JSON(raw []byte) ([]byte, error) { return Append(make([]byte, 0, len(raw)), raw) }

// Append appends what JSON gives to dst. It does not allocate where dst has room for
// twice the length of raw. After an error dst's room holds nothing of use.
func Append(dst, raw []byte) ([]byte, error) {
	const op = "canon.json"
	if len(raw) > MaxBytes {
		return nil, fault.New(CodeSize, op, "text of %d bytes is longer than %d", len(raw), MaxBytes)
	}
	if v, ok := write(dst, raw); ok {
		return v, nil
	}
	v, err := jsontext.AppendFormat(dst, raw, strictOptions...)
	if err != nil {
		return nil, badJSON(op, err)
	}
	return v, nil
}

// Marshal is the canonical form of the JSON that encoding/json's rules give v
// (tags, omitempty, Marshaler), except that a string that is not UTF-8 is an
// error and not a silent replacement.
func Marshal(v any) ([]byte, error) {
	const op = "canon.marshal"
	raw, err := json.Marshal(v, jsonv1.DefaultOptionsV1(),
		jsontext.AllowInvalidUTF8(false), jsontext.AllowDuplicateNames(false), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false))
	if err != nil {
		return nil, fault.Wrap(err, CodeEncode, op, "value of type %T", v)
	}
	return JSON(raw)
}

// badJSON names the place by JSON pointer and offset, which the parser knows.
func badJSON(op string, err error) error {
	syn, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Wrap(err, CodeJSON, op, "text ends early")
	case ok && strings.Contains(syn.Err.Error(), "depth"):
		return fault.New(CodeDepth, op, "nested deeper than %d at byte %d", MaxDepth, syn.ByteOffset)
	case ok:
		return fault.Wrap(syn.Err, CodeJSON, op, "not canonicalisable JSON at byte %d, pointer %q", syn.ByteOffset, clip(string(syn.JSONPointer), 200))
	}
	return fault.Wrap(err, CodeJSON, op, "not JSON")
}

// clip keeps the first n bytes of s on a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Package result keeps observations that are too long to hand to a model at once,
// behind opaque handles.
//
// It is part of the kernel. A Store lives as long as its session and holds nothing
// on disk. It does not page pieces: studio.read does that from the store.
package result

import "github.com/soundstage-dev/soundstage/harness/fault"

// The bounds. Characters are runes; bytes are UTF-8.
const (
	MaxInline     = 4_096     // characters of any other tool's result
	MaxInlineRead = 64_000    // characters of studio.read
	MaxResults    = 24        // results kept
	MaxBytes      = 1_000_000 // of one result
	MaxTotal      = 4_000_000 // of all
	MaxRead       = 12_000    // characters of one read
	MaxRows       = 50        // rows of one search
)

// The codes of this package.
const (
	CodeUnknown fault.Code = "RESULT_UNKNOWN" // never handed out in this session
	CodeEvicted fault.Code = "RESULT_EVICTED" // dropped for newer ones
	CodeExpired fault.Code = "RESULT_EXPIRED" // of a session that ended, or of an earlier run of the program
)

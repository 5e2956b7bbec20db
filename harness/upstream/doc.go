// Package upstream is a scripted model provider: an http.Handler that speaks the
// providers' real wire formats and says what a person wrote in a script.
//
// It belongs to harness and knows nothing about agents. It stands where a real
// provider would, below package seam, so that a cassette can be recorded without
// a key, a cost or a network; what it says is recorded with origin "scripted".
// It speaks Anthropic Messages, OpenAI Chat Completions and Responses, and
// Gemini, streaming and not, and finds out which by the path, whatever host was
// asked. It opens no socket, tells no time and draws no random number: the same
// script and the same requests give the same bytes.
//
// A script is a list of turns (docs/reference/upstream-scripts.md). Each says
// what it expects of the request, in words that fit every provider, and what is
// answered. A request that does not fit is refused in the provider's own error
// shape and remembered: Err returns it, and Done also reports turns that nobody
// asked for.
package upstream

import "github.com/soundstage-dev/soundstage/harness/fault"

// The codes of this package.
const (
	CodeScript fault.Code = "UPSTREAM_SCRIPT_INVALID" // the script cannot be read
	CodeUnfit  fault.Code = "UPSTREAM_UNFIT"          // a request is not what the turn expects
	CodeSpent  fault.Code = "UPSTREAM_SPENT"          // a request came after the last turn
	CodeUnused fault.Code = "UPSTREAM_UNUSED"         // turns that nobody asked for
	CodeWire   fault.Code = "UPSTREAM_WIRE"           // a request in no wire format that this package speaks
)

// The bounds.
const (
	MaxScript  = 1 << 20  // bytes of a script
	MaxTurns   = 500      // turns of a script
	MaxCalls   = 64       // calls of one turn
	MaxDepth   = 32       // levels of an input
	MaxRequest = 32 << 20 // bytes of a request body
)

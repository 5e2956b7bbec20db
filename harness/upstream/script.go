package upstream

import (
	"os"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Script is what the provider says, in order. Make one with Parse or Load; it is
// read only and may serve many Servers.
type Script struct {
	name  string
	lanes []lane
	turns []turn
}

// Name is what Parse was given, for messages.
func (s *Script) Name() string { return s.name }

// Len is the number of turns.
func (s *Script) Len() int { return len(s.turns) }

// A lane is one of several agents that speak at the same time. A request belongs
// to the first lane whose text is in its system prompt, or else to the main one.
type lane struct {
	name   string
	system string
}

// A turn answers one request. Exactly one of say and fail is set.
type turn struct {
	number int // from 1, over all lanes: part of every id
	line   int
	lane   string
	expect expect
	lets   []let
	say    *say
	fail   *failure
}

// An expect holds what must be true of a request. Absent means: not looked at.
type expect struct {
	user, system []string // each is contained
	model        string
	tools        []string // present
	absent       []string // not present
	results      []wanted // the results since the last reply, one for one
	anyResults   bool     // results was not given
	rounds       *int     // replies since the last user text
	stream       *bool
}

// wanted is one expected tool result.
type wanted struct {
	tool     string
	contains []string
	failed   *bool
}

// A say is a reply.
type say struct {
	text, reasoning, refusal template
	calls                    []call
	stop                     stop
	usage                    usage
	cutAfter                 int // events; 0 is never
}

// A call asks for a tool. Exactly one of input and raw is set.
type call struct {
	tool  string
	input value
	raw   *template // verbatim, also when it is no JSON
}

// A stop is why the reply ended.
type stop string

// The stops.
const (
	stopEnd     stop = "end"
	stopCalls   stop = "calls"
	stopLength  stop = "length"
	stopRefusal stop = "refusal"
)

// Usage counts tokens. The three parts of the prompt do not overlap; reasoning is
// part of output.
type usage struct {
	input, cacheRead, cacheWrite int
	output, reasoning            int
	given                        map[string]bool // what the script says itself
}

// A failure is an HTTP error.
type failure struct {
	status     int
	kind       string // the provider's name of the error; "" is its usual one for the status
	message    string
	retryAfter time.Duration
	final      bool // tell the client not to try again
}

// Load reads a script from a file.
func Load(path string) (*Script, error) {
	const op = "upstream.load"
	st, err := os.Stat(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.NotFound, op, "no script %q", path).
			WithHint("check the name; a relative one begins in the folder that you are in")
	}
	if !st.Mode().IsRegular() { // a named pipe would be waited for
		return nil, fault.New(fault.Invalid, op, "script %q is not a file", path)
	}
	if st.Size() > MaxScript {
		return nil, tooLong(path, st.Size())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "read script %q", path)
	}
	return Parse(path, data)
}

func tooLong(name string, n int64) error {
	return fault.New(fault.TooLarge, "upstream.parse", "script %q has %d bytes, more than %d", name, n, MaxScript).
		WithHint("split the scenario in two")
}

package chaos

import (
	"fmt"
	"strings"
	"time"
)

// A Kind is what goes wrong.
type Kind string

// The kinds. In place of an answer come Status, Timeout, Refused and Exit: the call never
// gets to the seam, and its episode is there for the next attempt. The others spend
// the episode, and change how it arrives.
const (
	Status   Kind = "status"   // an error with a status, in place of the answer
	Timeout  Kind = "timeout"  // no answer came; what the provider did is not known
	Refused  Kind = "refused"  // there was no connection: nothing was sent
	Reset    Kind = "reset"    // the connection breaks after so many chunks
	Truncate Kind = "truncate" // the answer ends after so many bytes, as if that were all of it
	Slow     Kind = "slow"     // time passes before each chunk
	Garbage  Kind = "garbage"  // noise in place of the bytes, from some byte on
	Rechunk  Kind = "rechunk"  // the same bytes, cut elsewhere
	Exit     Kind = "exit"     // a command that ends with a status, in place of its outcome
)

// instead reports whether the kind takes the place of an answer.
func (k Kind) instead() bool { return k == Status || k == Timeout || k == Refused || k == Exit }

// A Fault is one thing that goes wrong with one call, or with all of some.
type Fault struct {
	Where Where
	Kind  Kind

	Code       int           // Status: 400 to 599; Exit: 1 to 255
	RetryAfter time.Duration // Status: when to come back; 0 is not said
	For        time.Duration // Timeout: until it is given up; Slow: before each chunk
	Chunks     int           // Reset: how many arrive
	Bytes      int           // Truncate, Garbage: how many arrive as they are
	Seed       uint64        // Garbage, Rechunk
	Max        int           // Rechunk: the longest chunk, in bytes
}

// A Where says which calls a fault is about. Calls are counted from 1, each attempt
// for itself, and those that a fault answers too.
type Where struct {
	N    int     // the nth of them; 0: each
	Lane *string // only calls of this lane; "" is the main agent's
	URL  string  // only calls whose URL is like this, where * is any text
}

// String is the text that Parse reads.
func (w Where) String() string {
	n := "*"
	if w.N > 0 {
		n = fmt.Sprint(w.N)
	}
	switch {
	case w.URL != "":
		return w.URL + "@" + n
	case w.Lane != nil:
		return *w.Lane + "@" + n
	}
	return n
}

// among reports whether a call is one of those that are counted.
func (w Where) among(lane, url string) bool {
	switch {
	case w.URL != "":
		return like(w.URL, url)
	case w.Lane != nil:
		return *w.Lane == lane
	}
	return true
}

// like reports whether s is like pattern, in which * is any text.
func like(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, p := range parts[1:last] {
		_, after, found := strings.Cut(s, p)
		if !found {
			return false
		}
		s = after
	}
	return strings.HasSuffix(s, parts[last])
}

// String is the text that Parse reads.
func (f Fault) String() string {
	b := new(strings.Builder)
	fmt.Fprintf(b, "%s ", f.Where)
	switch f.Kind {
	case Status:
		fmt.Fprint(b, f.Code)
	case Slow:
		fmt.Fprintf(b, "slow %s", f.For)
	default:
		b.WriteString(string(f.Kind))
	}
	set := func(name string, value any, given bool) {
		if given {
			fmt.Fprintf(b, " %s=%v", name, value)
		}
	}
	set("retry-after", f.RetryAfter, f.Kind == Status && f.RetryAfter > 0)
	set("after", f.For, f.Kind == Timeout)
	set("chunk", f.Chunks, f.Kind == Reset)
	set("bytes", f.Bytes, f.Kind == Truncate || f.Kind == Garbage && f.Bytes > 0)
	set("seed", f.Seed, f.Kind == Garbage || f.Kind == Rechunk)
	set("code", f.Code, f.Kind == Exit)
	set("max", f.Max, f.Kind == Rechunk)
	return b.String()
}

package seam

import "sync"

// A Sent is a request that left the process while recording, or that would in a dry
// run.
type Sent struct {
	Lane   string
	Method string
	URL    string // without credentials
	Model  string // "" when the request names none
	Status int    // of the last answer; 0: there was none, or it is a dry run
	Tries  int    // how often it went out; 0 in a dry run

	// Line is the episode that holds the answer, counted from 0: once the Seam is
	// closed that of the new cassette, in a dry run that of the cassette that there is.
	// -1: none does.
	Line int
	// Replaces is the episode of the old cassette in whose place it stands; -1: none.
	Replaces int
}

// maxSent bounds the log, as it is bounded by what a cassette may hold.
const maxSent = 1 << 20

// A sentLog is in the order in which requests began.
type sentLog struct {
	mu   sync.Mutex
	list []*Sent
}

func (l *sentLog) add(s *Sent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) < maxSent {
		l.list = append(l.list, s)
	}
}

// place turns the number of an appended episode into its line of the new cassette.
func (l *sentLog) place(lines []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.list {
		if s.Line >= 0 {
			s.Line = lines[s.Line]
		}
	}
}

// Empty says of a recording that was closed that it holds nothing: no cassette was
// written then.
func (s *Seam) Empty() bool { return s.empty.Load() }

// Sent are the requests that left the process while recording, or that would in a dry
// run, in order of their start. It is complete once the Seam is closed.
func (s *Seam) Sent() []Sent {
	s.sent.mu.Lock()
	defer s.sent.mu.Unlock()
	out := make([]Sent, len(s.sent.list))
	for i, one := range s.sent.list {
		out[i] = *one
	}
	return out
}

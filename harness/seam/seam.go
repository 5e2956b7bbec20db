// Package seam is the one door out of the process: a transport that plays a
// cassette back, records one, or lets requests through.
//
// It belongs to harness, above cassette, redact and canon, and knows nothing about
// agents. A Seam is a value, one for each session or scenario. In replay it holds no
// transport to the world at all: a request that the cassette does not hold is a
// miss, which is answered as a provider would answer a bad request, remembered, and
// explained. It does not decide what a miss means to a turn, and it does not
// schedule retries.
package seam

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// A Mode says what a Seam does with a request.
type Mode string

// The modes.
const (
	Replay Mode = "replay" // answer from the cassette, never from the world
	Record Mode = "record" // let it through and keep it
	Fill   Mode = "fill"   // answer from the cassette, let through what it does not hold, and add it
	Live   Mode = "live"   // let it through
)

// The codes of this package. A missing cassette is cassette.CodeMissing, a
// secret in a recording cassette.CodeNotSafe.
const (
	CodeMiss       fault.Code = "SEAM_MISS"         // the cassette does not hold the request
	CodeDenied     fault.Code = "SEAM_DENIED"       // something tried to leave the process beside the seam
	CodeNotLive    fault.Code = "SEAM_NOT_LIVE"     // no world while CI is set, unless SOUNDSTAGE_LIVE=1
	CodeAuth       fault.Code = "SEAM_AUTH"         // the provider refused the key: nothing is recorded
	CodeRule       fault.Code = "SEAM_RULE"         // no preset of that name
	CodeKeyVersion fault.Code = "SEAM_KEY_VERSION"  // the cassette's keys are computed in another way
	CodeBody       fault.Code = "SEAM_BODY"         // a request's body could not be read
	CodeReplayed   fault.Code = "SEAM_REPLAYED_ERR" // the recorded answer is a transport's error
	CodeDryRun     fault.Code = "SEAM_DRY_RUN"      // this request would be sent; a dry run ends here
	CodeUnreached  fault.Code = "SEAM_UNREACHED"    // the episode that was to be recorded anew was never asked for
)

// Options makes a Seam. Mode is required; Cassette too, but for Live.
type Options struct {
	Mode     Mode
	Cassette string // the file
	Name     string // what messages call it: content/rename; the file when empty

	// Transport is what lies below in record and live. In replay it is not looked
	// at: a Seam that replays has no place to keep it.
	Transport http.RoundTripper

	Redactor *redact.Redactor // nil: provider keys and credential names only
	Clock    clock.Clock      // nil: the machine's

	// For record and fill. Rules and Replace are for record alone: fill keeps the
	// cassette's own.
	Origin     cassette.Origin // of the answers; Live when empty
	Rules      []string        // presets that matching is to ignore by, copied into the header
	Prices     []byte          // the header's x-prices
	KeepErrors bool            // store 401, 403, 407, 408, 409, 425, 429, 5xx and broken connections too
	Waits      clock.Clock     // that waits before a busy provider is asked again; nil: Clock
	Retries    int             // how often such an answer is asked for again; 0: 4 times, less: never
	Replace    bool            // an existing cassette is replaced on Close
	Continue   bool            // answer from the journal that a crash left, as far as it goes
	KeepEmpty  bool            // record: write a cassette also where nothing was recorded
	KeepOnly   bool            // with Continue: go on behind the journal, and answer nothing from it
	DryRun     bool            // send nothing and write nothing; Sent says what would be sent

	// Answered is told of each request by HTTP that the cassette answers while recording
	// into it, so that a scripted provider goes on to its next turn. May be nil.
	Answered func(*http.Request)

	// For fill.
	Episode string // the number or the key's beginning of the episode that is recorded anew
	Prune   bool   // with Episode: leave out the episodes behind it that nobody asked for

	Auth []AuthRule // what else fetches credentials; looked at before AuthRules

	CI            bool    // the environment says CI
	AllowLive     bool    // … and that the world is meant all the same
	RecordCommand string  // shown in a miss: what would record it
	Pace          float64 // replay streams: 0 at once, 1 as recorded, 2 twice as fast

	// Overlay goes over the door for HTTP, in every mode: package chaos has one.
	Overlay func(door http.RoundTripper) http.RoundTripper
}

// A Seam is one session's door. It is safe for concurrent use.
type Seam struct {
	o         Options
	transport http.RoundTripper
	header    cassette.Header
	play      *player   // replay, and record that continues
	rec       *recorder // record and fill
	plan      *planner  // a dry run

	calls  callLog
	sent   sentLog
	prices priceList
	empty  atomic.Bool // nothing was recorded, and nothing written

	mu     sync.Mutex // guards what follows; not taken on a hit
	err    error
	misses []*Miss
	closed bool
}

// Open opens a Seam: in replay it indexes the cassette, in record it begins one.
func Open(o Options) (*Seam, error) {
	const op = "seam.open"
	if o.Name == "" {
		o.Name = o.Cassette
	}
	if o.Redactor == nil {
		o.Redactor = redact.New(redact.Options{})
	}
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	if o.Waits == nil {
		o.Waits = o.Clock
	}
	if o.Cassette == "" && o.Mode != Live {
		return nil, fault.New(fault.Invalid, op, "mode %q needs a cassette", o.Mode)
	}
	s := &Seam{o: o}
	var err error
	switch o.Mode {
	case Replay:
		s.o.Transport = nil
		err = s.openReplay()
	case Record, Fill:
		err = s.openRecording()
	case Live:
		err = o.checkWorld()
		s.transport = &passer{s: s, below: o.Transport}
	default:
		err = fault.New(fault.Invalid, op, "mode is %q", o.Mode).WithHint("use %q, %q, %q or %q", Replay, Record, Fill, Live)
	}
	if err != nil {
		return nil, err
	}
	if o.Overlay != nil {
		s.transport = o.Overlay(s.transport)
	}
	s.transport = s.newAuthDoor(s.transport)
	return s, nil
}

// checkWorld refuses the world where CI is set. The scripted provider in this
// process is not the world, and is known by its type: a flag could be set on
// anything.
func (o *Options) checkWorld() error {
	if err := o.Allowed(); err != nil {
		return err
	}
	if o.Transport == nil {
		return fault.New(fault.Invalid, "seam.open", "mode %q needs a transport", o.Mode)
	}
	return nil
}

// Allowed says whether the mode may meet the world. Open asks it; a caller may ask first,
// before it looks for keys.
func (o *Options) Allowed() error {
	const op = "seam.open"
	if o.Mode == Replay || o.DryRun {
		return nil
	}
	if _, scripted := o.Transport.(*upstream.Transport); o.CI && !o.AllowLive && !scripted {
		return fault.New(CodeNotLive, op, "mode %q would reach the world, and CI is set", o.Mode).
			WithHint("replay a cassette, or set SOUNDSTAGE_LIVE=1 if requests are meant to be sent and paid for")
	}
	return nil
}

func (s *Seam) openReplay() error {
	c, err := cassette.Open(s.o.Cassette)
	if fault.CodeOf(err) == cassette.CodeMissing {
		e := fault.New(cassette.CodeMissing, "seam.open", "there is no cassette %q (file %q)", s.o.Name, s.o.Cassette)
		return e.WithHint("record it: %s", s.o.recordCommand())
	}
	if err != nil {
		return err
	}
	s.header = c.Header()
	if err := s.prices.decode(s.header.Prices); err != nil {
		return fault.Wrap(err, cassette.CodeDamaged, "seam.open", "x-prices of cassette %q", s.o.Name)
	}
	if s.header.KeyVersion != cassette.KeyVersion {
		return fault.New(CodeKeyVersion, "seam.open", "cassette %q has keys of version %d; this version computes version %d",
			s.o.Name, s.header.KeyVersion, cassette.KeyVersion).WithHint("rekey it, or record it again: %s", s.o.recordCommand())
	}
	k, err := newKeyer(s.header.Rules, s.o.Redactor)
	if err != nil {
		return err
	}
	s.play = newPlayer(c, k)
	s.transport = &replayer{s: s, keyer: k, play: s.play}
	return nil
}

func (s *Seam) openRecord() error {
	k, err := newKeyer(s.o.Rules, s.o.Redactor)
	if err != nil {
		return err
	}
	s.header = cassette.Header{Format: cassette.Format, KeyVersion: cassette.KeyVersion, Origin: s.o.Origin, Rules: s.o.Rules, Prices: s.o.Prices}
	if err := s.prices.decode(s.o.Prices); err != nil {
		return fault.Wrap(err, fault.Invalid, "seam.open", "prices for cassette %q", s.o.Name)
	}
	s.rec, err = newRecorder(s, k, nil)
	if err != nil {
		return err
	}
	s.transport = s.rec
	return nil
}

func (o *Options) recordCommand() string {
	if o.RecordCommand != "" {
		return o.RecordCommand
	}
	return "soundstage record " + o.Name
}

// Transport is the door for HTTP.
func (s *Seam) Transport() http.RoundTripper { return s.transport }

// Mode is what the Seam does.
func (s *Seam) Mode() Mode { return s.o.Mode }

// Name is what messages call the cassette.
func (s *Seam) Name() string { return s.o.Name }

// Header is the cassette's: the recorded one in replay, the one being written in
// record, empty in live.
func (s *Seam) Header() cassette.Header { return s.header }

// Err is the first thing that went wrong and that no caller can swallow: a miss, a
// refused recording. It stays until the end.
func (s *Seam) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Misses are all requests that the cassette did not hold, in order.
func (s *Seam) Misses() []*Miss {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Miss(nil), s.misses...)
}

// Sends reports whether requests can leave the process.
func (s *Seam) Sends() bool { return s.o.Mode != Replay && s.plan == nil }

// Scripted reports whether what lies below is the scripted provider in this process:
// its answers cost nothing and need no key.
func (s *Seam) Scripted() bool {
	_, scripted := s.o.Transport.(*upstream.Transport)
	return scripted
}

// Unused are the episodes, by index, that no request asked for.
func (s *Seam) Unused() []int {
	if s.play == nil {
		return nil
	}
	return s.play.unused()
}

// Calls are the requests that were made, in order of their start.
func (s *Seam) Calls() []CallSummary { return s.calls.all() }

// Close ends the session. In record it commits the cassette, unless something was
// refused: then the episodes so far stay in the journal and the old cassette stays
// as it is. It returns Err, or what went wrong in closing.
func (s *Seam) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if first && s.rec != nil {
		if err := s.rec.close(); err != nil {
			s.fail(err)
		}
	}
	return s.Err()
}

// fail remembers the first error.
func (s *Seam) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

func (s *Seam) miss(m *Miss) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.misses = append(s.misses, m)
	if s.err == nil {
		s.err = m.fault()
	}
}

// A CallSummary is one request in short.
type CallSummary struct {
	Lane   string
	Method string
	URL    string // without credentials
	Model  string // "" when the request names none
	Bytes  int    // of the request's body
	Line   int    // replay: the episode that answered, counted from 0; -1: none did
}

// maxCalls bounds the log of a session that never ends.
const maxCalls = 1 << 20

// A callLog is a list that is only ever pushed to, without a lock: hits of
// different goroutines do not wait for one another.
type callLog struct {
	last atomic.Pointer[callNode]
}

type callNode struct {
	call CallSummary
	n    int
	prev *callNode
}

func (l *callLog) add(c CallSummary) {
	node := &callNode{call: c}
	for {
		node.prev = l.last.Load()
		if node.n = 1; node.prev != nil {
			node.n = node.prev.n + 1
		}
		if node.n > maxCalls || l.last.CompareAndSwap(node.prev, node) {
			return
		}
	}
}

func (l *callLog) all() []CallSummary {
	node := l.last.Load()
	if node == nil {
		return nil
	}
	out := make([]CallSummary, node.n)
	for ; node != nil; node = node.prev {
		out[node.n-1] = node.call
	}
	return out
}

// A passer lets requests through.
type passer struct {
	s     *Seam
	below http.RoundTripper
}

func (p *passer) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.s.isClosed() {
		return nil, errors.Join(errClosed, closeBody(req))
	}
	if isInside(req.Context()) {
		return p.below.RoundTrip(req)
	}
	c := CallSummary{Lane: LaneOf(req.Context()), Method: method(req), URL: p.s.o.Redactor.URL(req.URL.String()), Line: -1, Bytes: int(max(0, req.ContentLength))}
	if req.GetBody != nil {
		if copied, err := req.GetBody(); err == nil {
			body, _ := readAll(copied, req.ContentLength, nil) // only for the log
			c.Model, c.Bytes = modelOf(c.URL, body), len(body)
		}
	}
	p.s.calls.add(c)
	return p.below.RoundTrip(req)
}

var errClosed = fault.New(fault.Invalid, "seam.roundtrip", "the seam is closed")

func (s *Seam) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

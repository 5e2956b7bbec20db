package seam

import (
	"errors"
	"net/http"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A filler decides what of a recording into a cassette that is there is answered from
// it. New episodes stand behind the last one that was used when their request began, so
// that the cassette goes on reading as the journey went, and identical requests go on
// being answered in order.
//
// With a target, the episode that is recorded anew, nothing goes out before it: a
// journey that strays from the recording earlier is a miss. The target is reached by
// its own request, or by an unknown one when all before it were used: a request that
// was changed is recorded in the place of the old one.
type filler struct {
	play   *player
	target int // -1: none

	mu      sync.Mutex
	last    int  // the last episode that was used; -1: none yet
	reached bool // the target
}

// openRecording opens a Seam that records, or says what it would record.
func (s *Seam) openRecording() error {
	if s.o.Origin == "" {
		s.o.Origin = cassette.Live
	}
	if s.o.Retries == 0 {
		s.o.Retries = 4
	}
	if s.o.DryRun {
		return s.openDryRun()
	}
	if err := s.o.checkWorld(); err != nil {
		return err
	}
	if s.o.Mode == Record {
		return s.openRecord()
	}
	if err := s.openReplay(); err != nil {
		return err
	}
	f, err := s.newFiller()
	if err != nil {
		return err
	}
	s.rec, err = newRecorder(s, s.play.keyer, f)
	s.transport = s.rec
	return err
}

func (s *Seam) newFiller() (*filler, error) {
	f := &filler{play: s.play, target: -1, last: -1}
	if s.o.Episode == "" {
		return f, nil
	}
	var err error
	f.target, err = s.play.cassette.Find(s.o.Episode)
	return f, err
}

// find gives the episode that answers a question, or -1 and the place of a new one, or
// the miss of a request that strays from the recording before the target.
func (f *filler) find(q *question) (int, cassette.Place, *Miss) {
	f.mu.Lock()
	defer f.mu.Unlock()
	queue, i := f.play.find(q)
	if i >= 0 && i == f.target && f.reached { // its place is taken
		queue, i = f.play.find(q)
	}
	switch {
	case i >= 0 && i != f.target:
		f.last = max(f.last, i)
		return i, cassette.Place{}, nil
	case i < 0 && f.target >= 0 && !f.reached && f.play.firstUnused() != f.target:
		return -1, cassette.Place{}, f.play.explain(q, queue)
	case f.target >= 0 && !f.reached:
		f.reached = true
		f.play.use(f.target)
		f.last = max(f.last, f.target)
		return -1, cassette.Place{After: f.target, Instead: true}, nil
	}
	return -1, cassette.Place{After: f.last}, nil
}

// end is the place of what answers no question: behind the last episode that was used.
func (r *recorder) end() cassette.Place {
	if r.fill == nil {
		return cassette.Place{}
	}
	r.fill.mu.Lock()
	defer r.fill.mu.Unlock()
	return cassette.Place{After: r.fill.last}
}

// passed notes an episode that was used without a question.
func (r *recorder) passed(i int) {
	if r == nil || r.fill == nil {
		return
	}
	r.fill.mu.Lock()
	defer r.fill.mu.Unlock()
	r.fill.last = max(r.fill.last, i)
}

// firstUnused is the first episode that no request asked for, or -1.
func (p *player) firstUnused() int {
	for i := range p.queues {
		if !p.wasUsed(i) {
			return i
		}
	}
	return -1
}

// use takes an episode that no request of its own asked for. It is the first unused
// one, and so the next of its key.
func (p *player) use(i int) {
	if !p.wasUsed(i) {
		p.queues[i].take()
	}
}

// stray answers a request that came before the episode that is to be recorded anew and
// is not recorded. The recording is over.
func (r *recorder) stray(req *http.Request, q *question, err error) (*http.Response, error) {
	r.s.calls.add(CallSummary{Lane: q.lane, Method: q.method, URL: q.url, Model: modelOf(q.url, q.body), Bytes: len(q.body), Line: -1})
	if m := r.strayed(err); m != nil {
		return m.response(req), nil
	}
	return nil, err
}

// strayed remembers why a question could not be looked up. It is the miss, if it is one.
func (r *recorder) strayed(err error) *Miss {
	m, ok := errors.AsType[*Miss](err)
	if ok {
		r.s.missed(m)
		err = m.fault()
	}
	r.halt(err)
	return m
}

// missed completes a miss and remembers it.
func (s *Seam) missed(m *Miss) {
	m.Cassette, m.Command = s.o.Name, s.o.recordCommand()
	s.miss(m)
}

// finishFill says what of the cassette goes, and refuses to end before the target.
func (r *recorder) finishFill() {
	f := r.fill
	if f.target < 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.reached {
		r.halt(fault.New(CodeUnreached, "seam.record", "episode %d of cassette %q was never asked for: nothing was recorded", f.target+1, r.s.o.Name).
			WithHint("see which episodes there are: soundstage cassette show %s", r.s.o.Name))
		return
	}
	if !r.s.o.Prune {
		return
	}
	for _, i := range f.play.unused() {
		if i > f.target {
			r.writer.Drop(i)
		}
	}
}

package seam

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/soundstage-dev/soundstage/harness/cassette"
)

// Clients ask a turn again that failed, and change a little of it: Claude Code posts up
// to three times, without a beta header, then without the display of thinking, or asks
// for no stream. That is one turn, and one miss.
//
// Two requests of a lane are the same turn when they are the same question but for
// foldHeader and foldFields. While recording, unless errors are kept, a turn that is
// asked again right after it failed takes the place of the failed asking: the cassette
// holds one episode, with the first request, the last answer and how often it was
// asked. Where the second asks for a stream and the first did not, or the other way
// round, both are kept: neither answer fits the other request.

// foldHeader and foldFields may differ between two askings of one turn.
const foldHeader = "Anthropic-Beta"

var foldFields = []string{"/stream", "/stream_options", "/thinking/display"}

// A turn is what stays the same when a client asks again.
type turn struct {
	hash   string
	stream string // the body's own member
}

// turn of a question. It is computed while recording and on a miss, never on a hit.
func (k *keyer) turn(q *question) turn {
	k.canonical(q)
	form, t := q.form, turn{}
	if q.isJSON {
		eachMember(form, 0, func(name []byte, from, to int) bool {
			if string(name) == `"stream"` {
				t.stream = string(form[from:to])
			}
			return t.stream == ""
		})
		form = k.fold.apply(nil, form)
	}
	header := q.header.Clone()
	header.Del(foldHeader)
	bare := question{lane: q.lane, kind: q.kind, method: q.method, url: q.url, header: header}
	h := sha256.New()
	h.Write(bare.head(nil, "turn"))
	h.Write(form)
	t.hash = hex.EncodeToString(h.Sum(nil))
	return t
}

// A failure is the last request of a lane, while it is open whether its answer was the
// turn's last.
type failure struct {
	tape     *tape
	keep     bool // as an answer to a turn that nobody asked again
	finished bool // the answer is whole
	settled  bool // keep says what becomes of it
}

// mark notes that a tape's answer is a failure, which may be asked for again.
func (t *tape) mark(keep bool) {
	r := t.rec
	if r.s.o.KeepErrors {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.failure = &failure{tape: t, keep: keep}
	r.failed[t.episode.Lane] = t.failure
}

// handIn hands in a tape whose answer is whole. One that failed waits without holding
// up those behind it.
func (t *tape) handIn() {
	r := t.rec
	t.unsafe = r.check(t.episode)
	r.mu.Lock()
	defer r.mu.Unlock()
	f := t.failure
	if f == nil {
		r.handIn(t, true)
		return
	}
	f.finished = true
	r.handIn(t, f.settled && f.keep)
}

// again settles the lane's failure when another request begins there: t is the same
// turn, or the failed answer was the last. The lock is held.
func (r *recorder) again(t *tape) {
	f := r.failed[t.episode.Lane]
	if f == nil {
		return
	}
	delete(r.failed, t.episode.Lane)
	old := f.tape
	switch {
	case old.turn.hash != t.turn.hash || max(1, old.episode.Asked) == cassette.MaxAsked:
		r.keep(f, f.keep)
	case old.turn.stream != t.turn.stream:
		r.keep(f, true) // a replay must fail here too, or its client asks otherwise
	default:
		r.keep(f, false)
		t.episode.Key, t.episode.Raw, t.episode.Request = old.episode.Key, old.episode.Raw, old.episode.Request
		t.episode.Asked = max(1, old.episode.Asked) + 1
		t.place, t.sent.Replaces = old.place, old.sent.Replaces
	}
}

// keep says what becomes of a failed answer. The lock is held.
func (r *recorder) keep(f *failure, keep bool) {
	f.keep, f.settled = keep, true
	if !f.finished || !keep {
		return
	}
	f.tape.ticket = r.issued // its own is spent
	r.issued++
	r.handIn(f.tape, true)
}

// settle ends the wait for another asking of the lane's failed turn.
func (r *recorder) settle(lane string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.failed[lane]; f != nil {
		delete(r.failed, lane)
		r.keep(f, f.keep)
	}
}

func (r *recorder) settleAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for lane, f := range r.failed {
		delete(r.failed, lane)
		r.keep(f, f.keep)
	}
}

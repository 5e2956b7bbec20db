package seam

import (
	"net/http"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/cassette"
)

// askings remembers what a replay could not answer, so that a client that asks the same
// turn again (fold.go) makes one miss and not three, and is given a recorded failure as
// often as it asked for it when it was recorded. Nothing here is touched by a hit.
type askings struct {
	mu     sync.Mutex
	lanes  map[string]*lastMiss
	repeat map[int]int // episode to how often it was given once more
}

// A lastMiss is a lane's last miss.
type lastMiss struct {
	turn turn
	miss *Miss
}

// missed answers a question that no episode answers.
func (r *replayer) missed(req *http.Request, q *question, queue *queue) (*http.Response, error) {
	t := r.keyer.turn(q)
	call := CallSummary{Lane: q.lane, Method: q.method, URL: q.url, Model: modelOf(q.url, q.body), Bytes: len(q.body), Line: -1}
	r.again.mu.Lock()
	defer r.again.mu.Unlock()
	before, asked := r.s.calls.latest(q.lane)
	if asked && before.Line >= 0 && r.failedAgain(before.Line, t) {
		call.Line = before.Line
		r.s.calls.add(call)
		return r.s.answer(req, r.play.cassette, call.Line)
	}
	r.s.calls.add(call)
	if last := r.again.lanes[q.lane]; last != nil && asked && before.Line < 0 && last.turn.hash == t.hash {
		r.s.mu.Lock()
		last.miss.Again++
		r.s.mu.Unlock()
		return last.miss.response(req), nil
	}
	m := r.play.explain(q, queue)
	r.s.missed(m)
	if r.again.lanes == nil {
		r.again.lanes = map[string]*lastMiss{}
	}
	r.again.lanes[q.lane] = &lastMiss{t, m}
	return m.response(req), nil
}

// failedAgain reports whether an episode is a failure that the turn t was given more than
// once when it was recorded, and has not been given as often yet. The lock is held.
func (r *replayer) failedAgain(line int, t turn) bool {
	e, err := r.play.cassette.Episode(line)
	if err != nil || e.Response.Status < http.StatusBadRequest || r.again.repeat[line]+1 >= e.Asked || r.keyer.turnOf(&e).hash != t.hash {
		return false
	}
	if r.again.repeat == nil {
		r.again.repeat = map[int]int{}
	}
	r.again.repeat[line]++
	return true
}

// turnOf is the turn of a recorded request.
func (k *keyer) turnOf(e *cassette.Episode) turn {
	return k.turn(&question{
		memory: &memory{}, lane: e.Lane, kind: e.Kind, method: e.Request.Method, url: k.redactor.URL(e.Request.URL),
		header: e.Request.Header, known: e.Request.Body,
	})
}

// latest is the latest call of a lane.
func (l *callLog) latest(lane string) (CallSummary, bool) {
	for node := l.last.Load(); node != nil; node = node.prev {
		if node.call.Lane == lane {
			return node.call, true
		}
	}
	return CallSummary{}, false
}

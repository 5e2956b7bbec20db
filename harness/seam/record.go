package seam

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
)

// A recorder is the transport of a recording. It hands each request on, gives the
// answer to the caller as it arrives, and keeps a redacted copy.
//
// Episodes are appended in the order in which their requests began, also when their
// streams end in another one: an episode waits in memory for those before it.
type recorder struct {
	s       *Seam
	keyer   *keyer
	below   http.RoundTripper
	writer  *cassette.Writer
	resumed map[string]*resumed

	fill   *filler // of a recording into a cassette that is there
	failed map[string]*failure

	mu     sync.Mutex
	issued int           // tickets given out: one a request
	next   int           // the ticket whose episode is appended next
	ready  map[int]*tape // nil: that ticket's episode is not kept
	open   map[*tape]bool
	halted error // why nothing is recorded any more
}

// resumed is what a journal holds under one key.
type resumed struct {
	mu       sync.Mutex
	episodes []cassette.Episode
}

func newRecorder(s *Seam, k *keyer, fill *filler) (*recorder, error) {
	r := &recorder{
		s: s, keyer: k, below: s.o.Transport, fill: fill, failed: map[string]*failure{},
		ready: map[int]*tape{}, open: map[*tape]bool{}, resumed: map[string]*resumed{},
	}
	if s.o.Continue && !s.o.KeepOnly {
		episodes, err := cassette.Resume(s.o.Cassette)
		if err != nil {
			return nil, err
		}
		for _, e := range episodes {
			if r.resumed[e.Key] == nil {
				r.resumed[e.Key] = &resumed{}
			}
			r.resumed[e.Key].episodes = append(r.resumed[e.Key].episodes, e)
		}
	}
	var err error
	if fill != nil {
		r.writer, err = cassette.Amend(fill.play.cassette, cassette.AmendOptions{Continue: s.o.Continue})
		return r, err
	}
	r.writer, err = cassette.CreateWith(s.o.Cassette, s.header, cassette.CreateOptions{Replace: s.o.Replace, Continue: s.o.Continue})
	return r, err
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if isInside(req.Context()) {
		return r.below.RoundTrip(req)
	}
	q, err := r.keyer.ask(req)
	if err != nil {
		return nil, err
	}
	res, line, at, err := r.recall(q)
	if err != nil {
		return r.stray(req, q, err)
	}
	if res != nil {
		if line >= 0 && r.s.o.Answered != nil {
			r.s.o.Answered(forLive(req, q.body))
		}
		r.s.calls.add(CallSummary{Lane: q.lane, Method: q.method, URL: q.url, Model: modelOf(q.url, q.body), Bytes: len(q.body), Line: line})
		return replayed(req, *res, r.s.o)
	}
	t, err := r.begin(q, at)
	if err != nil {
		return nil, err
	}
	r.s.calls.add(CallSummary{Lane: q.lane, Method: q.method, URL: q.url, Model: t.episode.Model, Bytes: len(q.body), Line: -1})
	live, err := r.send(req, q, t)
	if err != nil {
		if fault.CodeOf(err) != fault.Internal {
			t.sent.Tries = 0 // it never left
		}
		t.failed(req.Context(), err)
		return nil, err
	}
	return t.take(req, live), nil
}

// recall finds what answers a question without the world: an episode of the cassette
// that is recorded into, or of the journal that a crash left (line is -1 then). Else it
// gives the place of a new one; an error is a *Miss, or a damaged cassette.
func (r *recorder) recall(q *question) (res *cassette.Response, line int, at cassette.Place, err error) {
	if r.fill != nil {
		var stray *Miss
		if line, at, stray = r.fill.find(q); stray != nil {
			return nil, -1, at, stray
		}
		if line >= 0 {
			got, err := r.fill.play.cassette.Response(line)
			r.settle(q.lane)
			return &got, line, at, err
		}
	}
	e := r.fromJournal(q)
	if e == nil {
		return nil, -1, at, nil
	}
	r.settle(q.lane)
	return &e.Response, -1, at, nil
}

// fromJournal answers what was recorded before a crash, once for each time.
func (r *recorder) fromJournal(q *question) *cassette.Episode {
	if len(r.resumed) == 0 {
		return nil
	}
	left := r.resumed[r.keyer.key(q)]
	if left == nil {
		return nil
	}
	left.mu.Lock()
	defer left.mu.Unlock()
	if len(left.episodes) == 0 {
		return nil
	}
	e := left.episodes[0]
	left.episodes = left.episodes[1:]
	return &e
}

// forLive is a copy of the request that asks for a plain body. The caller's own
// request is never changed.
func forLive(req *http.Request, body []byte) *http.Request {
	live := req.Clone(req.Context())
	live.Header.Del("Accept-Encoding")
	if req.Body == nil {
		return live
	}
	live.Body = io.NopCloser(bytes.NewReader(body))
	live.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	live.ContentLength = int64(len(body))
	return live
}

// begin opens a tape for a request, unless the recording has ended.
func (r *recorder) begin(q *question, at cassette.Place) (*tape, error) {
	e := &cassette.Episode{
		Lane: q.lane, Kind: q.kind, Origin: r.s.o.Origin, Model: r.keyer.redactor.MaskString(modelOf(q.url, q.body)),
		Request: cassette.Request{Method: q.method, URL: q.url, Header: q.header, Body: r.keyer.redactor.MaskRest(q.known)},
		Key:     r.keyer.key(q), Raw: r.keyer.raw(q),
	}
	now := r.s.o.Clock.Now()
	e.At = now.Format(time.DateOnly)
	t := &tape{rec: r, episode: e, place: at, turn: r.keyer.turn(q), began: now}
	t.sent = &Sent{Lane: q.lane, Method: q.method, URL: q.url, Model: e.Model, Tries: 1, Line: -1, Replaces: -1}
	if at.Instead {
		t.sent.Replaces = at.After
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.halted != nil {
		return nil, r.halted
	}
	r.again(t)
	t.ticket = r.issued
	r.issued++
	r.open[t] = true
	r.s.sent.add(t.sent)
	return t, nil
}

// done hands a tape in, and appends all whose turn has come.
func (r *recorder) done(t *tape, keep bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handIn(t, keep)
}

// handIn is done with the lock held.
func (r *recorder) handIn(t *tape, keep bool) {
	delete(r.open, t)
	r.ready[t.ticket] = nil
	if keep {
		r.ready[t.ticket] = t
	}
	for {
		t, ok := r.ready[r.next]
		if !ok {
			return
		}
		delete(r.ready, r.next)
		r.next++
		if t == nil || r.halted != nil {
			continue
		}
		err := t.unsafe
		if err == nil {
			err = r.writer.AppendAt(*t.episode, t.place)
		}
		if err != nil {
			r.halted = err
			r.s.fail(err)
			continue
		}
		t.sent.Line = r.writer.Len() - 1
	}
}

func (r *recorder) halt(err error) {
	r.mu.Lock()
	if r.halted == nil {
		r.halted = err
	}
	r.mu.Unlock()
	r.s.fail(err)
}

// check looks once more for secrets in what is about to be written.
func (r *recorder) check(e *cassette.Episode) error {
	f := secretIn(r.keyer.redactor, e)
	if f == nil {
		return nil
	}
	return f.refuse("seam.record", e).
		WithHint("keep the secret out of the request, then record again; nothing of this request was written")
}

// A leak is a place in an episode with what looks like a secret. It holds the rule, and
// never the value.
type leak struct {
	part    string
	finding redact.Finding
}

func (l *leak) refuse(op string, e *cassette.Episode) *fault.Error {
	return fault.New(cassette.CodeNotSafe, op, "%s of %s %q holds what looks like a secret: %s at %q",
		l.part, e.Request.Method, e.Request.URL, l.finding.Rule, l.finding.Pointer)
}

// secretIn is the first leak in an episode; nil where there is none.
func secretIn(r *redact.Redactor, e *cassette.Episode) *leak {
	type part struct {
		name string
		text []byte
	}
	parts := []part{
		{"request.url", []byte(e.Request.URL)},
		{"request.body", e.Request.Body},
		{"response.body", e.Response.Body},
		{"response.error", []byte(e.Response.Error)},
		{"lane", []byte(e.Lane)},
		{"model", []byte(e.Model)},
	}
	for where, h := range map[string]http.Header{"request.header ": e.Request.Header, "response.header ": e.Response.Header} {
		for name, values := range h {
			for _, v := range values {
				parts = append(parts, part{where + name, []byte(v)})
			}
		}
	}
	for _, p := range parts {
		for _, f := range r.Find(p.text) {
			return &leak{p.name, f}
		}
	}
	return nil
}

// close ends what is open and commits.
func (r *recorder) close() error {
	r.mu.Lock()
	var open []*tape
	for t := range r.open {
		open = append(open, t)
	}
	r.mu.Unlock()
	for _, t := range open {
		t.abandon()
	}
	r.settleAll()
	if r.fill != nil {
		r.finishFill()
	}
	r.mu.Lock()
	halted := r.halted
	if halted == nil {
		r.halted = errClosed
	}
	r.mu.Unlock()
	if halted != nil {
		return errors.Join(halted, r.writer.Abandon())
	}
	if r.fill == nil && r.writer.Len() == 0 && !r.s.o.KeepEmpty { // a cassette without an episode answers nothing, and is in the way
		r.s.empty.Store(true)
		return r.writer.Abandon()
	}
	if err := r.writer.CommitPriced(r.s.prices.encode()); err != nil {
		return errors.Join(err, r.writer.Abandon())
	}
	r.s.sent.place(r.writer.Lines())
	return nil
}

// keeps reports whether an answer of this status is stored, and whether it ends the
// recording. An error that passes tomorrow is no answer to the question.
func (o *Options) keeps(status int) (keep, fatal bool) {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return o.KeepErrors, !o.KeepErrors
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return o.KeepErrors, false
	}
	return status < 500 || o.KeepErrors, false
}

// failed ends a tape whose request got no answer.
func (t *tape) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		t.drop()
		return
	}
	t.mark(t.rec.s.o.KeepErrors)
	t.once.Do(func() {
		t.episode.Response = cassette.Response{End: "error", Error: t.rec.keyer.redactor.MaskString(err.Error()), Duration: t.since(t.began)}
		t.handIn()
	})
}

func (t *tape) drop() {
	t.once.Do(func() { t.rec.done(t, false) })
}

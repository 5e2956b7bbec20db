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

	mu     sync.Mutex
	issued int // tickets given out: one a request
	next   int // the ticket whose episode is appended next
	ready  map[int]*cassette.Episode
	open   map[*tape]bool
	halted error // why nothing is recorded any more
}

// resumed is what a journal holds under one key.
type resumed struct {
	mu       sync.Mutex
	episodes []cassette.Episode
}

func newRecorder(s *Seam, k *keyer) (*recorder, error) {
	r := &recorder{s: s, keyer: k, below: s.o.Transport, ready: map[int]*cassette.Episode{}, open: map[*tape]bool{}, resumed: map[string]*resumed{}}
	if s.o.Continue {
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
	if e := r.fromJournal(q); e != nil {
		r.s.calls.add(CallSummary{Lane: q.lane, Method: q.method, URL: q.url, Model: e.Model, Bytes: len(q.body), Line: -1})
		return replayed(req, e.Response, r.s.o)
	}
	t, err := r.begin(q)
	if err != nil {
		return nil, err
	}
	r.s.calls.add(CallSummary{Lane: q.lane, Method: q.method, URL: q.url, Model: t.episode.Model, Bytes: len(q.body), Line: -1})
	res, err := r.below.RoundTrip(forLive(req, q.body))
	if err != nil {
		t.failed(req.Context(), err)
		return nil, err
	}
	return t.take(req, res), nil
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
func (r *recorder) begin(q *question) (*tape, error) {
	e := &cassette.Episode{
		Lane: q.lane, Kind: q.kind, Origin: r.s.o.Origin, Model: r.keyer.redactor.MaskString(modelOf(q.url, q.body)),
		Request: cassette.Request{Method: q.method, URL: q.url, Header: q.header, Body: r.keyer.redactor.MaskRest(q.known)},
		Key:     r.keyer.key(q), Raw: r.keyer.raw(q),
	}
	now := r.s.o.Clock.Now()
	e.At = now.Format(time.DateOnly)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.halted != nil {
		return nil, r.halted
	}
	t := &tape{rec: r, ticket: r.issued, episode: e, began: now}
	r.issued++
	r.open[t] = true
	return t, nil
}

// done hands in the episode of a ticket, nil for one that is not kept, and
// appends all whose turn has come.
func (r *recorder) done(t *tape, e *cassette.Episode) {
	if e != nil {
		if err := r.check(e); err != nil {
			r.halt(err)
			e = nil
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, t)
	r.ready[t.ticket] = e
	for {
		e, ok := r.ready[r.next]
		if !ok {
			return
		}
		delete(r.ready, r.next)
		r.next++
		if e == nil || r.halted != nil {
			continue
		}
		if err := r.writer.Append(*e); err != nil {
			r.halted = err
			r.s.fail(err)
		}
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

// check looks once more for secrets in what is about to be written. It names the
// place and the rule, and never the value.
func (r *recorder) check(e *cassette.Episode) error {
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
		for _, f := range r.keyer.redactor.Find(p.text) {
			return fault.New(cassette.CodeNotSafe, "seam.record", "%s of %s %q holds what looks like a secret: %s at %q",
				p.name, e.Request.Method, e.Request.URL, f.Rule, f.Pointer).
				WithHint("keep the secret out of the request, then record again; nothing of this request was written")
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
	r.mu.Lock()
	halted := r.halted
	if halted == nil {
		r.halted = errClosed
	}
	r.mu.Unlock()
	if halted != nil {
		return errors.Join(halted, r.writer.Abandon())
	}
	return r.writer.CommitPriced(r.s.prices.encode())
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
	if !t.rec.s.o.KeepErrors || ctx.Err() != nil {
		t.drop()
		return
	}
	t.once.Do(func() {
		t.episode.Response = cassette.Response{End: "error", Error: t.rec.keyer.redactor.MaskString(err.Error()), Duration: t.since(t.began)}
		t.rec.done(t, t.episode)
	})
}

func (t *tape) drop() {
	t.once.Do(func() { t.rec.done(t, nil) })
}

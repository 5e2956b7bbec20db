package seam

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The waits before a request is sent again.
const (
	firstWait = time.Second
	maxWait   = 30 * time.Second // where the provider names none
	maxAsked  = 5 * time.Minute  // a provider that wants longer is not waited for
	maxDrain  = 64 << 10         // of an answer that is thrown away, so that its connection lives on
)

// send sends a request, and while recording sends it again where it failed in passing:
// the cassette is to hold the answer, not the way to it.
func (r *recorder) send(req *http.Request, q *question, t *tape) (*http.Response, error) {
	for {
		res, err := r.below.RoundTrip(forLive(req, q.body))
		wait, again := r.retry(req, q, t.sent.Tries, res, err)
		if !again {
			return res, err
		}
		if res != nil && res.Body != nil {
			_, _ = io.CopyN(io.Discard, res.Body, maxDrain) // it is thrown away
			_ = res.Body.Close()
		}
		if err := r.s.o.Waits.Sleep(req.Context(), wait); err != nil {
			return nil, err
		}
		t.sent.Tries++
		t.began = r.s.o.Clock.Now()
	}
}

// retry says whether, and after how long, a request is sent again.
func (r *recorder) retry(req *http.Request, q *question, tries int, res *http.Response, err error) (time.Duration, bool) {
	o := &r.s.o
	if o.KeepErrors || tries > o.Retries || req.Context().Err() != nil {
		return 0, false
	}
	if err != nil { // one with a code is ours, and the same the next time
		return backoff(tries), fault.CodeOf(err) == fault.Internal && repeatable(q, 0)
	}
	keep, fatal := o.keeps(res.StatusCode)
	if keep || fatal || !repeatable(q, res.StatusCode) || res.Header.Get("X-Should-Retry") == "false" {
		return 0, false
	}
	wait := retryAfter(res.Header, o.Clock.Now())
	if wait < 0 {
		wait = backoff(tries)
	}
	return wait, wait <= maxAsked
}

// repeatable reports whether a request may be sent once more. One that names a model
// changes nothing out there; of others only those that may be repeated by their method,
// or were refused before anything was done.
func repeatable(q *question, status int) bool {
	switch q.method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions:
		return true
	}
	return status == http.StatusTooManyRequests || status == http.StatusTooEarly || modelOf(q.url, q.body) != ""
}

func backoff(tries int) time.Duration {
	return min(maxWait, firstWait<<(min(tries, 10)-1))
}

// retryAfter is how long the provider wants to be left alone; -1: it says nothing.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return time.Duration(min(ms, float64(24*time.Hour/time.Millisecond)) * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 {
		return time.Duration(min(s, (24*time.Hour).Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return -1
}

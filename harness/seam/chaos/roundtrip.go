package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// New lays faults over a transport: for a seam, and for anything else that answers. A
// caller that wants to know whether each fault fired makes a Plan and uses Over.
func New(faults []Fault, below http.RoundTripper, c clock.Clock) (http.RoundTripper, error) {
	p, err := NewPlan(faults...)
	if err != nil {
		return nil, err
	}
	return p.Over(below, c), nil
}

// Over lays the plan over a transport. Time that a fault takes passes on c.
func (p *Plan) Over(below http.RoundTripper, c clock.Clock) http.RoundTripper {
	return &overlay{plan: p, below: below, clock: c}
}

type overlay struct {
	plan  *Plan
	below http.RoundTripper
	clock clock.Clock
}

// RoundTrip implements http.RoundTripper.
func (o *overlay) RoundTrip(req *http.Request) (*http.Response, error) {
	hit, err := o.plan.take(seam.LaneOf(req.Context()), req.URL.String(), Status, Timeout, Refused, Reset, Truncate, Slow, Garbage, Rechunk)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	if f := instead(hit); f != nil {
		closeBody(req)
		if err := req.Context().Err(); err != nil {
			return nil, err
		}
		o.plan.fire(f)
		return o.answer(req, f.Fault)
	}
	resp, err := o.below.RoundTrip(req)
	if err != nil || len(hit) == 0 {
		return resp, err
	}
	return o.spoil(req.Context(), resp, hit), nil
}

// answer is what comes in place of the provider's answer.
func (o *overlay) answer(req *http.Request, f Fault) (*http.Response, error) {
	switch f.Kind {
	case Timeout:
		if err := clock.Pass(req.Context(), o.clock, f.For); err != nil {
			return nil, err
		}
		return nil, &timeoutError{f.For}
	case Refused:
		return nil, refusedError()
	}
	body := errorBody(f.Code)
	h := http.Header{"Content-Type": {"application/json"}}
	if f.RetryAfter > 0 {
		// Whole seconds for everybody, and the milliseconds for those who read them.
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
		h.Set("Retry-After-Ms", strconv.FormatInt(f.RetryAfter.Milliseconds(), 10))
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", f.Code, http.StatusText(f.Code)), StatusCode: f.Code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}

// errorBody is an error that each provider's client can read. It says that it is none
// of the provider's.
func errorBody(status int) []byte {
	type detail struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	kind, ok := map[int]string{
		http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error", http.StatusNotFound: "not_found_error",
		http.StatusTooManyRequests: "rate_limit_error", 529: "overloaded_error",
	}[status]
	switch {
	case ok:
	case status < 500:
		kind = "invalid_request_error"
	default:
		kind = "api_error"
	}
	text := fmt.Sprintf("a fault of the scenario: HTTP %d", status)
	b, _ := json.Marshal(struct { // texts only: it cannot fail
		Type    string `json:"type"`
		Error   detail `json:"error"`
		Message string `json:"message"`
	}{"error", detail{kind, text}, text})
	return b
}

// A timeoutError is a transport's: no answer came in time.
type timeoutError struct{ after time.Duration }

var _ net.Error = (*timeoutError)(nil)

func (e *timeoutError) Error() string   { return fmt.Sprintf("no answer came within %s", e.after) }
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Temporary() bool { return true }

func refusedError() error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

func resetError() error {
	return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // the caller's own; nothing was read from it
	}
}

// spoil changes how an answer arrives.
func (o *overlay) spoil(ctx context.Context, resp *http.Response, hit []*planned) *http.Response {
	out := *resp
	out.Header = resp.Header.Clone()
	// The length that was announced may no longer be true, and a stream has none.
	out.ContentLength = -1
	out.Header.Del("Content-Length")
	out.Body = newBody(ctx, o, resp.Body, hit)
	return &out
}

package model

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"math"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// Bounds of the words and waits that are passed on.
const (
	maxWords      = 500
	maxMissWords  = 16 << 10
	maxRetryAfter = 24 * time.Hour
)

// fault turns what went wrong into one of the port's codes. The wire decides: the
// SDKs word the same answer differently.
func (p *provider) fault(ctx context.Context, err error, w *wire) error {
	ref := p.info.Ref
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fault.Wrap(context.DeadlineExceeded, fault.Timeout, "model.stream", "the request to %q took too long", ref)
	case errors.Is(err, context.Canceled) || ctx.Err() != nil:
		return fault.Wrap(context.Canceled, fault.Cancelled, "model.stream", "the request to %q was cancelled", ref)
	case w.status >= http.StatusMultipleChoices:
		return p.refused(w)
	case w.scan.fault != "":
		return p.midStream(w)
	case w.status != 0:
		return p.broken(err, w)
	}
	if f, ok := errors.AsType[*fault.Error](cmp.Or(w.err, err)); ok {
		return f
	}
	if !w.sent {
		return fault.Wrap(err, fault.Invalid, "model.stream", "the request to %q cannot be built", ref)
	}
	cause := cmp.Or(w.err, err)
	if unsent(cause) { // so that it costs nothing
		cause = &port.HTTPError{Message: clip(cause.Error(), maxWords), Partial: port.Usage{State: port.None}}
	}
	return fault.Wrap(cause, port.CodeBusy, "model.stream", "%q cannot be reached", ref).
		WithHint("check the connection and the base URL")
}

// unsent reports whether err says that not a byte of the request left: there was no
// connection, or nobody whom it could be told to. A connection that broke says nothing.
func unsent(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	_, name := errors.AsType[*net.DNSError](err)
	_, cert := errors.AsType[*tls.CertificateVerificationError](err)
	return name || cert
}

// broken is a reply without its end.
func (p *provider) broken(err error, w *wire) error {
	words := err.Error()
	if w.err != nil {
		words = w.err.Error()
	}
	return fault.Wrap(&port.HTTPError{Status: w.status, Message: clip(words, maxWords), Partial: w.scan.usage.state(false)},
		port.CodeStreamCut, "model.stream", "the reply of %q ended before its end", p.info.Ref).
		WithHint("say it again: nothing of the broken reply was kept or run")
}

// refused is an answer with a status that is not 2xx.
func (p *provider) refused(w *wire) error {
	words := words(w.body)
	e := &port.HTTPError{
		Status: w.status, Message: clip(words, maxWords), RetryAfter: retryAfter(w.header, w.body, p.clock.Now()),
		Partial: port.Usage{State: port.None},
	}
	// A miss of the seam is not a provider's answer: its whole text is passed on.
	if strings.Contains(string(w.body), string(seam.CodeMiss)) {
		e.Message = clip(words, maxMissWords)
		return fault.Wrap(e, seam.CodeMiss, "model.stream", "no recording answers the request to %q", p.info.Ref)
	}
	return p.coded(e, string(w.body))
}

// midStream is an error that came as an event of a reply that had begun.
func (p *provider) midStream(w *wire) error {
	raw := w.scan.fault
	kind := cmp.Or(gjson.Get(raw, "error.type").String(), gjson.Get(raw, "error.code").String(),
		gjson.Get(raw, "code").String(), gjson.Get(raw, "error.status").String())
	status, ok := streamStatus[kind]
	if n := gjson.Get(raw, "error.code"); !ok && n.Type == gjson.Number && n.Int() >= 400 && n.Int() < 600 {
		status, ok = int(n.Int()), true
	}
	if !ok {
		status = http.StatusInternalServerError
	}
	return p.coded(&port.HTTPError{
		Status: status, Message: clip(words([]byte(raw)), maxWords), Partial: w.scan.usage.state(false),
	}, raw)
}

// streamStatus is the status that an error event would have had as an answer.
var streamStatus = map[string]int{
	"overloaded_error": 529, "rate_limit_error": http.StatusTooManyRequests, "rate_limit_exceeded": http.StatusTooManyRequests,
	"api_error": 500, "server_error": 500, "internal_error": 500, "timeout_error": 504,
	"invalid_request_error": 400, "context_length_exceeded": 400, "invalid_prompt": 400,
	"authentication_error": 401, "permission_error": 403, "not_found_error": 404, "insufficient_quota": 429,
}

// coded picks the code of an answer.
func (p *provider) coded(e *port.HTTPError, body string) error {
	ref := p.info.Ref
	switch {
	case contextFull(body) || e.Status == http.StatusRequestEntityTooLarge:
		return fault.Wrap(e, port.CodeContextFull, "model.stream", "the prompt is too long for %q", ref).
			WithHint("shorten the conversation or choose a model with a larger context")
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || strings.Contains(body, "API_KEY_INVALID"):
		return fault.Wrap(e, port.CodeAuth, "model.stream", "the provider of %q does not accept the key", ref).
			WithHint("check the key of provider %q", refProvider(ref))
	case e.Status == 408, e.Status == 409, e.Status == 425, e.Status == 429, e.Status >= 500:
		return fault.Wrap(e, port.CodeBusy, "model.stream", "the provider of %q is busy", ref).
			WithHint("try again later, or choose another model")
	}
	return fault.Wrap(e, port.CodeRefused, "model.stream", "the provider of %q refused the request", ref)
}

// refProvider is the part of a ref before the slash.
func refProvider(ref string) string {
	name, _, _ := strings.Cut(ref, "/")
	return name
}

// fullPattern is how providers say that a prompt does not fit.
var fullPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)prompt is too long|context_length_exceeded|maximum context length|input token count.*exceeds|input too long|range of input length should be|context window`)
})

func contextFull(body string) bool { return fullPattern().MatchString(body) }

// words finds what the provider said in an error body.
func words(body []byte) string {
	e := gjson.ParseBytes(body)
	if !gjson.ValidBytes(body) {
		return strings.TrimSpace(string(body))
	}
	if e.IsArray() {
		e = e.Get("0")
	}
	for _, path := range []string{"error.message", "message", "error", "detail", "Message"} {
		if v := e.Get(path); v.Type == gjson.String && v.String() != "" {
			return v.String()
		}
	}
	return strings.TrimSpace(string(body))
}

// clip shortens s to at most n runes.
func clip(s string, n int) string {
	r := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}

// retryAfter reads when the provider wants to be asked again: milliseconds,
// seconds, a date, or Google's detail in the body. 0 is not said.
func retryAfter(h http.Header, body []byte, now time.Time) time.Duration {
	d := time.Duration(0)
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil {
		d = seconds(ms / 1000)
	} else if v := h.Get("retry-after"); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil {
			d = seconds(s)
		} else if at, err := http.ParseTime(v); err == nil {
			d = at.Sub(now)
		}
	} else {
		e := gjson.ParseBytes(body)
		if e.IsArray() {
			e = e.Get("0")
		}
		if v, err := time.ParseDuration(e.Get("error.details.#.retryDelay|0").String()); err == nil {
			d = v
		}
	}
	return min(max(d, 0), maxRetryAfter)
}

// seconds is f as a duration, with anything absurd as the longest wait.
func seconds(f float64) time.Duration {
	if math.IsNaN(f) || f < 0 {
		return 0
	}
	return time.Duration(min(f, maxRetryAfter.Seconds()) * float64(time.Second))
}

package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// chunkSize is as much as the seam keeps as one chunk.
const chunkSize = 32 << 10

// buffers are what answers are copied through.
var buffers = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// copyAnswer sends a response on. Where it has no length it is a stream: what came in
// one read goes out at once, as one chunk.
func copyAnswer(ctx context.Context, w http.ResponseWriter, res *http.Response) {
	h := w.Header()
	for name, values := range endToEnd(res.Header) {
		h[name] = values
	}
	for _, name := range []string{"X-Soundstage-Code"} {
		if v := res.Header.Values(name); len(v) > 0 {
			h[name] = v
		}
	}
	if len(h["Content-Type"]) == 0 {
		h["Content-Type"] = nil // not guessed from the body
	}
	h.Del("Content-Length")
	if res.ContentLength >= 0 && res.Request.Method != http.MethodHead {
		h.Set("Content-Length", strconv.FormatInt(res.ContentLength, 10))
	}
	w.WriteHeader(res.StatusCode)
	if err := copyBody(ctx, w, res); err != nil {
		panic(http.ErrAbortHandler) // the client sees a broken stream, as whoever recorded it did
	}
}

// buffered bodies tell how much of them is at hand.
type buffered interface{ Buffered() int }

// copyBody gives an error when the answer broke off, and none when the client left. As
// long as more is at hand, chunks that are flushed wait for it.
func copyBody(ctx context.Context, w http.ResponseWriter, res *http.Response) error {
	buf := buffers.Get().(*[chunkSize]byte)
	defer buffers.Put(buf)
	cork, release := boundary.Cork(ctx)
	defer release()
	more := func() bool { return false }
	if b, ok := res.Body.(buffered); ok {
		more = func() bool { return b.Buffered() > 0 }
	}
	flush := func() {}
	if res.ContentLength < 0 {
		flusher := http.NewResponseController(w)
		flush = func() { _ = flusher.Flush() } // a recorder in a test may not
	}
	if more() {
		cork()
	}
	flush() // the header is not held back until the first chunk
	for {
		n, err := res.Body.Read(buf[:])
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return nil
			}
			flush()
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !more():
			release()
		}
	}
}

// failed answers a request that got no response.
func (p *Proxy) failed(w http.ResponseWriter, r *http.Request, to *url.URL, err error) {
	switch {
	case r.Context().Err() != nil, fault.CodeOf(err) == seam.CodeReplayed:
		panic(http.ErrAbortHandler) // the client left, or its connection broke when this was recorded
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = boundary.TooLarge(tooLarge.Limit)
	}
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		e = fault.Wrap(err, CodeUpstream, "proxy.serve", "%s %q got no answer", r.Method, to.Redacted()).
			WithHint("check that the upstream runs")
	}
	refuse(w, to.Path, e)
}

// refuse answers 400, in the shape of the provider whose path was asked: clients show
// that and do not ask again. A 5xx would have them wait for minutes.
func refuse(w http.ResponseWriter, path string, err *fault.Error) {
	text := string(err.Code) + ": " + err.Error()
	if err.Hint != "" {
		text += "\n" + err.Hint
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Should-Retry", "false")
	h.Set("X-Soundstage-Code", string(err.Code))
	body := seam.ErrorBody("https://proxy"+path, err.Code, text)
	status := http.StatusBadRequest
	if err.Code == CodePath {
		status = http.StatusNotFound
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client left
}

// Refuse is for the boundary in front of a Proxy: its refusals in the provider's shape.
func Refuse(w http.ResponseWriter, r *http.Request, status int, err *fault.Error) {
	if !strings.HasPrefix(r.URL.Path, "/") || status == http.StatusForbidden {
		boundary.WriteError(w, r, status, err)
		return
	}
	refuse(w, r.URL.Path, err)
}

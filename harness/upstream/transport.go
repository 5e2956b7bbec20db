package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeBody is a request body that could not be read whole.
const CodeBody fault.Code = "UPSTREAM_BODY"

const (
	maxRequestBytes = 64 << 20 // of one request's body
	maxChunkBytes   = 64 << 10 // written without a Flush before a chunk ends by itself
	maxQueuedChunks = 64       // flushed and not yet read before Flush waits
)

// A Transport serves requests by a handler in this process: no socket, no
// goroutine that outlives the response. It is the one transport below a seam that
// is not the world, and the seam knows it by this type.
//
// The response is returned as soon as its header is written. Each Flush of the
// handler ends a chunk, and one Read of the body gives at most one chunk. A
// handler that panics with http.ErrAbortHandler cuts the stream.
type Transport struct {
	handler http.Handler
}

var _ http.RoundTripper = (*Transport)(nil)

// NewTransport returns a Transport in front of h.
func NewTransport(h http.Handler) *Transport {
	if h == nil {
		panic("upstream: NewTransport needs a handler")
	}
	return &Transport{handler: h}
}

// RoundTrip implements http.RoundTripper. The handler sees a request as a server
// would: path and query in the URL, the host in Host.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	w := &writer{
		ctx: ctx, cancel: cancel, discard: req.Method == http.MethodHead,
		header: http.Header{}, started: make(chan struct{}), chunks: make(chan []byte, maxQueuedChunks), ended: make(chan struct{}),
	}
	go w.serve(t.handler, serverRequest(ctx, req, body))
	select {
	case <-w.started:
		return w.response(req), nil
	case <-ctx.Done():
		cancel(nil)
		return nil, req.Context().Err()
	case <-w.ended:
	}
	select {
	case <-w.started: // both were ready
		return w.response(req), nil
	default:
		cancel(nil)
		return nil, w.err
	}
}

// Pass plays the turn of a request that somebody else has answered, a cassette: the
// script goes on, and finds out if the request is no longer as it expects.
func (t *Transport) Pass(req *http.Request) {
	res, err := t.RoundTrip(req)
	if err != nil {
		return // the turn breaks off, as it is written
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
}

// readBody takes the whole body before the handler runs, so that the caller may
// reuse it when RoundTrip returns.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxRequestBytes+1))
	if cerr := req.Body.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fault.Wrap(err, CodeBody, "upstream.roundtrip", "read the body of %s %q", req.Method, req.URL)
	}
	if len(body) > maxRequestBytes {
		return nil, fault.New(fault.TooLarge, "upstream.roundtrip", "body of %s %q is longer than %d bytes", req.Method, req.URL, maxRequestBytes)
	}
	return body, nil
}

func serverRequest(ctx context.Context, req *http.Request, body []byte) *http.Request {
	r := req.Clone(ctx)
	if r.Host == "" {
		r.Host = req.URL.Host
	}
	r.RequestURI = req.URL.RequestURI()
	r.URL.Scheme, r.URL.Host, r.URL.User = "", "", nil
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.RemoteAddr = "in-process"
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.GetBody = nil
	if r.Header == nil {
		r.Header = http.Header{}
	}
	return r
}

// A writer is the handler's end of one response. All but ctx, chunks, started
// and ended belong to the handler's goroutine until the channel that announces
// them is closed.
type writer struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	discard bool // HEAD, 204, 304: no body

	header  http.Header
	status  int
	sent    http.Header   // as of WriteHeader; readable once started is closed
	started chan struct{} // the header is written
	buf     []byte
	chunks  chan []byte
	ended   chan struct{} // the handler has returned
	err     error         // readable once ended is closed: nil, or why the stream is cut
}

var (
	_ http.ResponseWriter = (*writer)(nil)
	_ http.Flusher        = (*writer)(nil)
)

func (w *writer) serve(h http.Handler, r *http.Request) {
	defer close(w.ended)
	defer func() {
		if p := recover(); p != nil {
			w.err = io.ErrUnexpectedEOF
			if e, ok := p.(error); !ok || !errors.Is(e, http.ErrAbortHandler) {
				w.err = fmt.Errorf("upstream: handler panicked: %v", p)
			}
			return
		}
		w.WriteHeader(http.StatusOK)
	}()
	// What was written before a panic was written: it goes out first.
	defer w.push()
	h.ServeHTTP(w, r)
}

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. The second call does nothing.
func (w *writer) WriteHeader(status int) {
	if w.status != 0 || status < 200 {
		return
	}
	w.status, w.sent = status, w.header.Clone()
	w.discard = w.discard || status == http.StatusNoContent || status == http.StatusNotModified
	close(w.started)
}

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	if w.discard {
		return len(p), nil
	}
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), maxChunkBytes-len(w.buf))
		w.buf = append(w.buf, p[:k]...)
		if p = p[k:]; len(w.buf) == maxChunkBytes {
			w.push()
		}
	}
	return n, nil
}

// Flush ends a chunk. It waits when the reader is far behind.
func (w *writer) Flush() {
	w.WriteHeader(http.StatusOK)
	w.push()
}

func (w *writer) push() {
	if len(w.buf) == 0 {
		return
	}
	chunk := w.buf
	w.buf = nil
	select {
	case w.chunks <- chunk:
	case <-w.ctx.Done():
	}
}

func (w *writer) response(req *http.Request) *http.Response {
	length := int64(-1)
	if n, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil {
		length = n
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: &reader{w: w}, ContentLength: length, Request: req,
	}
}

// A reader is the caller's end.
type reader struct {
	w    *writer
	mu   sync.Mutex // Read; Close may come from another goroutine at any time
	rest []byte
	err  error
}

var errClosed = errors.New("upstream: response body is closed")

// Read gives at most one chunk.
func (r *reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if r.err == nil && len(r.rest) == 0 {
		r.rest, r.err = r.next()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	if n == 0 {
		return 0, r.err
	}
	return n, nil
}

func (r *reader) next() ([]byte, error) {
	if err := context.Cause(r.w.ctx); err != nil {
		return nil, err
	}
	select {
	case c := <-r.w.chunks:
		return c, nil
	case <-r.w.ctx.Done():
		return nil, context.Cause(r.w.ctx)
	case <-r.w.ended:
	}
	select {
	case c := <-r.w.chunks: // flushed before the end
		return c, nil
	default:
	}
	r.w.cancel(nil) // the context is no longer needed
	if r.w.err != nil {
		return nil, r.w.err
	}
	return nil, io.EOF
}

// Close ends the handler's context and waits for nothing.
func (r *reader) Close() error {
	r.w.cancel(errClosed)
	return nil
}

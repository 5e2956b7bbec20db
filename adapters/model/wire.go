package model

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A wire is what really went over the connection in one request. The library
// hides some of it (usage of a broken stream, the words of an error, whether the
// end event came), so the transport looks for itself.
type wire struct {
	dialect dialect
	patch   patch // changes that the library cannot be asked for

	sent   bool
	status int
	header http.Header
	body   []byte // of an error, clipped
	err    error  // of the transport or of reading the body
	scan   scanner
}

// Bounds of what is kept of a reply.
const (
	maxErrorBody   = 64 << 10
	maxRequestBody = 256 << 20
	maxEvent       = 32 << 20
)

type wireKey struct{}

func withWire(ctx context.Context, w *wire) context.Context {
	return context.WithValue(ctx, wireKey{}, w)
}

// client returns a client around base's transport. It follows no redirect: the
// key would go with it.
func client(base *http.Client, f family, a Access) *http.Client {
	return &http.Client{
		Transport:     &transport{base: base.Transport, headers: headers(f, a)},
		Timeout:       base.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// headers are all that a request of the family carries besides its content type.
func headers(f family, a Access) http.Header {
	h := http.Header{"User-Agent": {"soundstage"}}
	for k, v := range a.Headers {
		h.Set(k, v)
	}
	set := func(name, value string) {
		if value != "" {
			h.Set(name, value)
		}
	}
	switch f {
	case familyAnthropic:
		set("X-Api-Key", a.Key)
		set("Anthropic-Version", "2023-06-01")
	case familyGoogle:
		set("X-Goog-Api-Key", a.Key)
	case familyAzure:
		set("Api-Key", a.Key)
	default:
		if a.Key != "" {
			set("Authorization", "Bearer "+a.Key)
		}
	}
	if f == familyOpenAI {
		set("Openai-Organization", a.Org)
		set("Openai-Project", a.Project)
	}
	return h
}

// A transport sends what we mean: the SDKs add headers from the environment and
// of the machine, and none of them leaves.
type transport struct {
	base    http.RoundTripper
	headers http.Header
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	w, _ := req.Context().Value(wireKey{}).(*wire)
	if w == nil {
		return nil, fault.New(fault.Internal, "model.send", "a request to %q did not come from a stream of ours", req.URL.Host)
	}
	out := req.Clone(req.Context())
	out.Header = t.headers.Clone()
	for _, name := range []string{"Content-Type", "Accept"} {
		if v := req.Header.Get(name); v != "" {
			out.Header.Set(name, v)
		}
	}
	if err := w.rewrite(out); err != nil {
		w.err = err
		return nil, err
	}
	w.sent = true
	resp, err := t.base.RoundTrip(out)
	if err != nil {
		w.err = err
		return nil, err
	}
	w.receive(resp)
	return resp, nil
}

// rewrite applies the patch to the body.
func (w *wire) rewrite(req *http.Request) error {
	if req.Body == nil {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxRequestBody+1))
	_ = req.Body.Close() // it is memory
	if err != nil {
		return fault.Wrap(err, fault.Internal, "model.send", "the request body cannot be read")
	}
	if len(body) > maxRequestBody {
		return fault.New(fault.TooLarge, "model.send", "a request of more than %d bytes", maxRequestBody)
	}
	if body, err = w.patch.apply(body, w.dialect); err != nil {
		return err
	}
	req.ContentLength = int64(len(body))
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	if req.Header.Get("Content-Length") != "" {
		req.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	return nil
}

// receive notes the head of a response and puts a listener on its body.
func (w *wire) receive(resp *http.Response) {
	w.status, w.header = resp.StatusCode, resp.Header.Clone()
	w.scan = newScanner(w.dialect, resp.Header.Get("Content-Type"))
	resp.Body = &listener{ReadCloser: resp.Body, wire: w}
}

// A listener passes a body on and shows it to the wire.
type listener struct {
	io.ReadCloser
	wire *wire
}

// Read implements [io.Reader].
func (l *listener) Read(b []byte) (int, error) {
	n, err := l.ReadCloser.Read(b)
	w := l.wire
	if w.status >= http.StatusMultipleChoices {
		w.body = append(w.body, b[:min(n, maxErrorBody-len(w.body))]...)
	} else {
		w.scan.write(b[:n])
	}
	switch {
	case err == io.EOF:
		w.scan.close()
	case err != nil && w.err == nil:
		w.err = err
	}
	return n, err
}

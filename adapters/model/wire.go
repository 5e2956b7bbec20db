package model

import (
	"context"
	"io"
	"net/http"

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
	maxErrorBody = 64 << 10
	maxEvent     = 32 << 20
)

type wireKey struct{}

func withWire(ctx context.Context, w *wire) context.Context {
	return context.WithValue(ctx, wireKey{}, w)
}

// client returns a client around base's transport. It follows no redirect: the
// key would go with it.
func client(base *http.Client, d dress) *http.Client {
	return &http.Client{
		Transport:     &transport{base: base.Transport, dress: d},
		Timeout:       base.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A transport sends what we mean: the SDKs add headers from the environment and
// of the machine, and none of them leaves.
type transport struct {
	base  http.RoundTripper
	dress dress
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	w, _ := req.Context().Value(wireKey{}).(*wire)
	if w == nil {
		return nil, fault.New(fault.Internal, "model.send", "a request to %q did not come from a stream of ours", req.URL.Host)
	}
	out := req.Clone(req.Context())
	body, err := readBody(out)
	if err == nil {
		body, err = w.patch.apply(body, w.dialect)
	}
	if err == nil {
		err = t.dress.put(out, body)
	}
	if err != nil {
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

package seam

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// maxResponse bounds what is kept of one response's body. The caller gets all of
// it; the recording ends with an error.
const maxResponse = 32 << 20

// readSize is how much of a response is read at once: what arrives in one read is
// one chunk, however little of it the caller asks for at a time.
const readSize = 32 << 10

// A tape is the body of a response that is being recorded.
type tape struct {
	rec     *recorder
	ticket  int
	episode *cassette.Episode
	place   cassette.Place
	turn    turn
	sent    *Sent
	failure *failure  // nil: the answer is kept
	unsafe  error     // why the episode must not be written
	began   time.Time // the request was sent
	header  time.Time // the response's header came

	ctx    context.Context
	body   io.ReadCloser
	length int64 // of the body, -1: unknown

	mu   sync.Mutex // a Read may be under way when Close comes
	buf  []byte
	rest []byte // read, and not yet given to the caller
	err  error  // after rest
	kept cassette.Response
	data []byte

	once sync.Once // the episode is handed in
}

// take makes the caller's response. What is not kept is passed on as it is.
func (t *tape) take(req *http.Request, res *http.Response) *http.Response {
	r := t.rec
	keep, fatal := r.s.o.keeps(res.StatusCode)
	if fatal {
		r.halt(fault.New(CodeAuth, "seam.record", "%s %q was answered %d: the recording of %q has ended",
			t.episode.Request.Method, t.episode.Request.URL, res.StatusCode, r.s.o.Name).WithHint("check the provider's key, then record again"))
	}
	t.sent.Status = res.StatusCode
	if fatal {
		t.drop()
		return res
	}
	if res.StatusCode >= http.StatusBadRequest {
		t.mark(keep)
	}
	out := *res
	out.Header, out.Request = res.Header.Clone(), req
	t.ctx, t.body, t.length, t.header = req.Context(), res.Body, res.ContentLength, r.s.o.Clock.Now()
	if req.Method == http.MethodHead {
		t.length = 0
	}
	t.decode(&out)
	t.kept = cassette.Response{Status: res.StatusCode, Header: r.keyer.redactor.ResponseHeader(out.Header)}
	out.Body = t
	if t.body == nil || t.body == http.NoBody {
		t.body = http.NoBody
		t.mu.Lock()
		t.finish("", nil)
		t.mu.Unlock()
	}
	return &out
}

// decode takes gzip off a body that was sent so although nobody asked for it: what
// is stored must be readable, and searched for secrets.
func (t *tape) decode(res *http.Response) {
	switch enc := strings.ToLower(res.Header.Get("Content-Encoding")); enc {
	case "", "identity":
		return
	case "gzip", "x-gzip":
		t.body = &gunzip{body: res.Body}
		res.Header.Del("Content-Encoding")
		res.Header.Del("Content-Length")
		res.ContentLength, res.Uncompressed, t.length = -1, true, -1
	default:
		t.rec.halt(fault.New(fault.Invalid, "seam.record", "%s %q was answered in the encoding %q, which cannot be searched for secrets",
			t.episode.Request.Method, t.episode.Request.URL, enc).WithHint("make the upstream answer plainly or in gzip"))
	}
}

// A gunzip reads its header when it is first read from, not when it is made: the
// caller gets the response before the first byte of the body.
type gunzip struct {
	body io.ReadCloser
	z    *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.z == nil {
		z, err := gzip.NewReader(g.body)
		if err != nil {
			return 0, err
		}
		g.z = z
	}
	return g.z.Read(p)
}

func (g *gunzip) Close() error { return g.body.Close() }

// Read implements io.Reader.
func (t *tape) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if len(t.rest) == 0 && t.err == nil {
		t.fill()
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	if n == 0 {
		return 0, t.err
	}
	return n, nil
}

// fill reads the next chunk and notes it.
func (t *tape) fill() {
	if t.buf == nil {
		t.buf = make([]byte, readSize)
	}
	n := 0
	for n == 0 && t.err == nil {
		n, t.err = t.body.Read(t.buf)
	}
	t.rest = t.buf[:n]
	if n > 0 && len(t.data)+n <= maxResponse {
		t.data = append(t.data, t.rest...)
		t.kept.Chunks = append(t.kept.Chunks, cassette.Chunk{AtMS: t.since(t.header).Milliseconds(), Len: n})
	} else if n > 0 {
		t.rec.halt(fault.New(fault.TooLarge, "seam.record", "response of %s %q is longer than %d bytes", t.episode.Request.Method, t.episode.Request.URL, maxResponse))
	}
	switch {
	case t.err == nil:
	case errors.Is(t.err, io.EOF):
		t.finish("", nil)
	case t.ctx.Err() != nil:
		t.finish("cancelled", nil)
	default:
		t.finish("cut", t.err)
	}
}

// Close implements io.Closer.
func (t *tape) Close() error {
	err := t.body.Close() // first: it wakes a Read that waits
	t.mu.Lock()
	defer t.mu.Unlock()
	t.finish(t.endOnClose(), nil)
	return err
}

// endOnClose tells a caller that has all it wants from one that has left. Clients
// stop at the last event of a stream and do not read the end of the body.
func (t *tape) endOnClose() string {
	if t.ctx.Err() == nil && (t.length >= 0 && int64(len(t.data)) >= t.length || lastEventSeen(t.data)) {
		return ""
	}
	return "cancelled"
}

// lastEvents are what the last event of a provider's stream holds.
var lastEvents = []string{"data: [DONE]", "event: message_stop", `"type":"message_stop"`, "event: response.completed", "event: response.failed", "event: response.incomplete"}

func lastEventSeen(data []byte) bool {
	data = bytes.TrimRight(data, "\r\n")
	events := bytes.Split(bytes.ReplaceAll(data[max(0, len(data)-readSize):], []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	last := events[len(events)-1]
	for _, e := range lastEvents {
		if bytes.Contains(last, []byte(e)) {
			return true
		}
	}
	return false
}

// abandon ends a tape that the caller never closed.
func (t *tape) abandon() {
	if t.body == nil {
		t.drop()
		return
	}
	_ = t.Close() // the caller lost interest long ago
}

// finish redacts what was recorded and hands it in. The lock is held.
func (t *tape) finish(end string, cause error) {
	t.once.Do(func() {
		body, edits := t.rec.keyer.redactor.MaskEdits(t.data)
		res := t.kept
		res.Body, res.End, res.Duration = body, end, t.since(t.began)
		res.Chunks = remapChunks(t.kept.Chunks, edits, len(body))
		if len(res.Chunks) == 1 && res.Chunks[0].AtMS == 0 {
			res.Chunks = nil // one chunk at once is how a body without chunks is replayed
		}
		if cause != nil {
			res.Error = t.rec.keyer.redactor.MaskString(cause.Error())
		}
		t.episode.Response = res
		t.handIn()
	})
}

func (t *tape) since(then time.Time) time.Duration {
	return max(0, t.rec.s.o.Clock.Now().Sub(then)).Truncate(time.Millisecond)
}

package seam

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
)

// A player finds the episodes of a cassette. It is built once; a hit takes no lock.
type player struct {
	cassette *cassette.Cassette
	keyer    *keyer
	queues   []*queue // by episode: those of one key share a queue
	near     nearIndex
}

// A queue is the episodes of one key, used in recorded order.
type queue struct {
	episodes []int
	used     atomic.Int64 // may count beyond the last: each miss counts too
}

func newPlayer(c *cassette.Cassette, k *keyer) *player {
	p := &player{cassette: c, keyer: k, queues: make([]*queue, c.Len())}
	byKey := make(map[string]*queue, c.Len())
	for i, key := range c.Keys() {
		q := byKey[key]
		if q == nil {
			q = &queue{}
			byKey[key] = q
		}
		q.episodes = append(q.episodes, i)
		p.queues[i] = q
	}
	return p
}

// find looks a question up by its bytes, then by its meaning, and takes the next
// episode of what it found. The queue is nil when there is none, the episode -1 when
// all of it was used.
func (p *player) find(q *question) (*queue, int) {
	if at := p.cassette.ByRaw(p.keyer.raw(q)); len(at) > 0 {
		return p.queues[at[0]].take()
	}
	if at := p.cassette.ByKey(p.keyer.key(q)); len(at) > 0 {
		return p.queues[at[0]].take()
	}
	return nil, -1
}

func (q *queue) take() (*queue, int) {
	if n := q.used.Add(1); n <= int64(len(q.episodes)) {
		return q, q.episodes[n-1]
	}
	return q, -1
}

func (p *player) unused() []int {
	var out []int
	for i, q := range p.queues {
		if n := int(q.used.Load()); n < len(q.episodes) && slices.Contains(q.episodes[n:], i) {
			out = append(out, i)
		}
	}
	return out
}

// A replayer is the transport of a replay. It has no transport below it.
type replayer struct {
	s     *Seam
	keyer *keyer
	play  *player
	again askings
}

// RoundTrip implements http.RoundTripper. A miss is a response, not an error: a
// client would retry an error, and some would hide it.
func (r *replayer) RoundTrip(req *http.Request) (*http.Response, error) {
	q, err := r.keyer.ask(req)
	if err != nil {
		return nil, err
	}
	defer r.keyer.release(q)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	queue, i := r.play.find(q)
	if i < 0 {
		return r.missed(req, q, queue)
	}
	r.s.calls.add(CallSummary{Lane: q.lane, Method: q.method, URL: q.url, Model: modelOf(q.url, q.body), Bytes: len(q.body), Line: i})
	return r.s.answer(req, r.play.cassette, i)
}

// answer makes the response of an episode.
func (s *Seam) answer(req *http.Request, c *cassette.Cassette, i int) (*http.Response, error) {
	res, err := c.Response(i)
	if err != nil {
		s.fail(err)
		return nil, err
	}
	return replayed(req, res, s.o)
}

func replayed(req *http.Request, res cassette.Response, o Options) (*http.Response, error) {
	if res.End == "error" {
		return nil, fault.New(CodeReplayed, "seam.replay", "%s", res.Error)
	}
	body, edits := o.Redactor.Expand(res.Body)
	if req.Method == http.MethodHead {
		body, edits, res.Chunks = nil, nil, nil
	}
	length := int64(len(body))
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") || len(res.Chunks) > 1 || res.End != "" {
		length = -1
	}
	return &http.Response{
		Status: strconv.Itoa(res.Status) + " " + http.StatusText(res.Status), StatusCode: res.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: res.Header, ContentLength: length, Request: req,
		Body: &playback{
			ctx: req.Context(), clock: o.Clock, pace: o.Pace, data: body, end: res.End, text: res.Error,
			chunks: remapChunks(res.Chunks, edits, len(body)), closed: make(chan struct{}),
		},
	}, nil
}

// remapChunks carries chunk ends over edits of the body.
func remapChunks(chunks []cassette.Chunk, edits []redact.Edit, size int) []cassette.Chunk {
	if len(edits) == 0 {
		return chunks
	}
	out := make([]cassette.Chunk, 0, len(chunks))
	old, last := 0, 0
	for i, c := range chunks {
		old += c.Len
		end := redact.Remap(old, edits)
		if i == len(chunks)-1 {
			end = size
		}
		if n := end - last; n > 0 {
			out = append(out, cassette.Chunk{AtMS: c.AtMS, Len: n})
			last = end
		}
	}
	return out
}

// A playback is the body of a replayed response: at most one recorded chunk a Read.
type playback struct {
	ctx    context.Context
	clock  clock.Clock
	pace   float64
	data   []byte
	chunks []cassette.Chunk
	left   int   // of the chunk begun
	at     int64 // when it was recorded, ms
	end    string
	text   string

	once   sync.Once
	closed chan struct{}
}

// Read implements io.Reader.
func (p *playback) Read(b []byte) (int, error) {
	select {
	case <-p.closed:
		return 0, http.ErrBodyReadAfterClose
	default:
	}
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	if len(b) == 0 {
		return 0, nil
	}
	if p.left == 0 {
		if err := p.begin(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.data[:p.left])
	p.data, p.left = p.data[n:], p.left-n
	return n, nil
}

// Buffered is how many bytes can be read without waiting.
func (p *playback) Buffered() int {
	if p.pace > 0 {
		return p.left
	}
	return len(p.data)
}

// begin goes to the next chunk, waiting as long as was recorded if asked to.
func (p *playback) begin() error {
	if len(p.data) == 0 {
		return p.finish()
	}
	if len(p.chunks) == 0 {
		p.left = len(p.data)
		return nil
	}
	c := p.chunks[0]
	p.chunks = p.chunks[1:]
	p.left = min(c.Len, len(p.data))
	if len(p.chunks) == 0 {
		p.left = len(p.data)
	}
	if p.pace > 0 && c.AtMS > p.at {
		wait := time.Duration(float64(c.AtMS-p.at) / p.pace * float64(time.Millisecond))
		p.at = c.AtMS
		return p.clock.Sleep(p.ctx, wait)
	}
	return nil
}

// finish ends as the recording did. Where the caller had left, nothing more came
// until it did: so it is here, for a caller that can leave.
func (p *playback) finish() error {
	switch p.end {
	case "":
		return io.EOF
	case "cancelled":
		if done := p.ctx.Done(); done != nil {
			select {
			case <-done:
				return p.ctx.Err()
			case <-p.closed:
				return http.ErrBodyReadAfterClose
			}
		}
	}
	return io.ErrUnexpectedEOF
}

// Close implements io.Closer.
func (p *playback) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// response is the miss as an answer: 400, which real clients show and do not repeat.
func (m *Miss) response(req *http.Request) *http.Response {
	body := m.body()
	return &http.Response{
		Status: "400 Bad Request", StatusCode: http.StatusBadRequest,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Content-Type": {"application/json"}, "X-Should-Retry": {"false"}, "X-Soundstage-Code": {string(m.code())},
		},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}
}

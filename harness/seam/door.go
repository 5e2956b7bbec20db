package seam

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The kinds of episodes: one a door. All doors of a Seam write into one cassette, in
// the order in which their requests began.
const (
	kindHTTP = "http"
	kindMCP  = "mcp"
	kindExec = "exec"
	kindCall = "call"
)

// The codes of the doors beside HTTP.
const (
	CodeMessage  fault.Code = "SEAM_MESSAGE"   // bytes on an MCP connection are not one JSON-RPC message
	CodeEffect   fault.Code = "SEAM_EFFECT"    // a command's file is outside of its folder, a link, or beyond a bound
	CodeNotJSON  fault.Code = "SEAM_NOT_JSON"  // a call's question or answer does not survive JSON
	CodeNoScript fault.Code = "SEAM_NO_SCRIPT" // no scripted command fits
	CodeNoAnswer fault.Code = "SEAM_NO_ANSWER" // a recorded MCP call was given up before it was answered
	CodeLost     fault.Code = "SEAM_LOST"      // … or its server ended
)

// question is what leaves through a door that is not HTTP. The body is canonical
// JSON, url is like mcp://SERVER/METHOD.
func (s *Seam) question(ctx context.Context, kind, method, url string, body []byte) *question {
	r := s.o.Redactor
	return &question{
		memory: &memory{}, lane: LaneOf(ctx), kind: kind, method: method, url: r.URL(url),
		body: body, known: r.Known(body, nil),
	}
}

// recall finds the answer to a question in what was recorded: the cassette in replay
// and fill, the journal of a recording that goes on. Line is the episode of the
// cassette, and -1 otherwise.
func (s *Seam) recall(q *question) (res cassette.Response, line int, used *queue, err error) {
	if s.play != nil {
		queue, i := s.play.find(q)
		if i >= 0 {
			s.rec.passed(i)
			res, err = s.play.cassette.Response(i)
			return res, i, queue, err
		}
		used = queue
	}
	if s.rec != nil {
		if e := s.rec.fromJournal(q); e != nil {
			return e.Response, -1, nil, nil
		}
	}
	return res, -1, used, errNotRecorded
}

// errNotRecorded says that recall found nothing. It never leaves the package.
var errNotRecorded = fault.New(CodeMiss, "seam.recall", "not recorded")

// ask puts a question. It gives the recorded answer, or else, in record, a tape for the
// live one; in live neither. A miss is remembered and returned.
func (s *Seam) ask(q *question) (res *cassette.Response, t *tape, err error) {
	if s.isClosed() {
		return nil, nil, errClosed
	}
	if s.rec != nil {
		return s.rec.ask(q)
	}
	if s.plan != nil {
		return s.plan.ask(q)
	}
	got, line, used, err := s.recall(q)
	s.calls.add(CallSummary{Lane: q.lane, Method: q.method, URL: q.url, Model: modelOf(q.url, q.body), Bytes: len(q.body), Line: line})
	switch {
	case err == nil:
		return &got, nil, nil
	case err != error(errNotRecorded):
		s.fail(err)
		return nil, nil, err
	case s.play != nil:
		m := s.play.explain(q, used)
		m.Cassette, m.Command = s.o.Name, s.o.recordCommand()
		s.miss(m)
		return nil, nil, m.fault()
	}
	return nil, nil, nil
}

// ask puts a question that leaves by a door other than HTTP while recording.
func (r *recorder) ask(q *question) (*cassette.Response, *tape, error) {
	res, line, at, err := r.recall(q)
	r.s.calls.add(CallSummary{Lane: q.lane, Method: q.method, URL: q.url, Model: modelOf(q.url, q.body), Bytes: len(q.body), Line: line})
	if err != nil {
		if m := r.strayed(err); m != nil {
			err = m.fault()
		}
		return nil, nil, err
	}
	if res != nil {
		return res, nil, nil
	}
	t, err := r.begin(q, at)
	return nil, t, err
}

// keep hands in an answer that came through a door other than HTTP.
func (t *tape) keep(res cassette.Response) {
	t.once.Do(func() {
		if len(res.Body) > maxResponse {
			t.rec.halt(fault.New(fault.TooLarge, "seam.record", "the answer to %s %q is longer than %d bytes", t.episode.Request.Method, t.episode.Request.URL, maxResponse))
			t.rec.done(t, false)
			return
		}
		body, edits := t.rec.keyer.redactor.MaskEdits(res.Body)
		res.Chunks = remapChunks(res.Chunks, edits, len(body))
		res.Body, res.Duration = body, t.since(t.began)
		res.Error = t.rec.keyer.redactor.MaskString(res.Error)
		t.episode.Response = res
		t.handIn()
	})
}

// checkDoor refuses the world where CI is set, as checkWorld does for HTTP.
func (s *Seam) checkDoor(what string) error {
	if s.o.CI && !s.o.AllowLive {
		return fault.New(CodeNotLive, "seam.door", "%s would reach the world, and CI is set", what).
			WithHint("replay a cassette, or set SOUNDSTAGE_LIVE=1 if that is meant")
	}
	return nil
}

// kept is the error of a live answer as an episode holds it.
type kept struct {
	Code    fault.Code `json:"code"`
	Hint    string     `json:"hint,omitempty"`
	Message string     `json:"message"`
}

// keepError hands in an error of what is behind a door, if errors are kept, and drops
// it otherwise. A caller that left is no error of the other side.
func (t *tape) keepError(ctx context.Context, cause error) {
	if !t.rec.s.o.KeepErrors || ctx.Err() != nil {
		t.drop()
		return
	}
	body, err := canon.Marshal(kept{fault.CodeOf(cause), fault.HintOf(cause), strings.ToValidUTF8(cause.Error(), "\uFFFD")})
	if err != nil {
		t.rec.halt(err)
		t.drop()
		return
	}
	t.keep(cassette.Response{Status: http.StatusInternalServerError, Header: jsonHeader(), Body: body})
}

// keptError is the error that an answer is, or nil.
func keptError(res *cassette.Response) error {
	if res.Status != http.StatusInternalServerError {
		return nil
	}
	var k kept
	if err := json.Unmarshal(res.Body, &k); err != nil || k.Code == "" {
		return fault.Wrap(err, cassette.CodeDamaged, "seam.replay", "a recorded error is not one")
	}
	return fault.New(k.Code, "seam.replay", "%s", k.Message).WithHint("%s", k.Hint)
}

// jsonHeader is the header of an answer that is one JSON value.
func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }

// chunk is a piece of an answer that came so long after its request began.
func (t *tape) chunk(size int) cassette.Chunk {
	return cassette.Chunk{AtMS: t.since(t.began).Milliseconds(), Len: size}
}

type insideKey struct{}

// inside marks what a door sends by HTTP on its own account. It is recorded by that
// door, and passes the HTTP door unseen.
func inside(ctx context.Context) context.Context { return context.WithValue(ctx, insideKey{}, true) }

func isInside(ctx context.Context) bool { return ctx.Value(insideKey{}) != nil }

// pause is the wait before a recorded piece, at the seam's pace.
func (s *Seam) pause(ms int64) time.Duration {
	if s.o.Pace <= 0 || ms <= 0 {
		return 0
	}
	return time.Duration(float64(ms) / s.o.Pace * float64(time.Millisecond))
}

// isName reports whether a name can stand in the place of a URL's host.
func isName(s string) bool {
	ok := s != "" && len(s) <= 100
	for _, c := range []byte(s) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-')
	}
	return ok
}

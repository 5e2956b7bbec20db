package seam

import (
	"context"
	"io"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
)

// Rewind makes every episode unused again, so that a benchmark can go round, and
// forgets calls and misses.
func (s *Seam) Rewind() {
	for _, q := range s.play.queues {
		q.used.Store(0)
	}
	s.calls.last.Store(nil)
	s.misses, s.err = nil, nil
}

// Forget drops the index of the nearest episodes: the next miss builds it.
func (s *Seam) Forget() { s.play.near = nearIndex{once: sync.Once{}} }

// Canonical is the form of a body that a key is computed from.
func (s *Seam) Canonical(body []byte) ([]byte, bool) {
	q := &question{memory: &memory{}, known: body}
	s.play.keyer.canonical(q)
	return q.form, q.isJSON
}

// Apply is rules on a canonical text.
func Apply(names []string, b []byte) ([]byte, error) {
	r, err := compile(names)
	if err != nil {
		return nil, err
	}
	return r.apply(nil, b), nil
}

// Walk runs the finders over a text that need not be JSON.
func Walk(b []byte) (members, values int) {
	for at := range b {
		if end := skipValue(b, at); end >= 0 && (end <= at || end > len(b)) {
			panic("skipValue left the text")
		}
		eachMember(b, at, func(_ []byte, from, to int) bool { _ = b[from:to]; members++; return true })
		values += len(elements(b, at))
	}
	return members, values
}

// ReadMessage parses a message and gives it back, and what a pointer into its params
// finds.
func ReadMessage(b []byte, pointer string) (again, found []byte, err error) {
	m, err := parseMessage(b)
	if err != nil {
		return nil, nil, err
	}
	if m.Method != nil {
		if _, err := m.params(); err != nil && fault.CodeOf(err) != canon.CodeDepth {
			return nil, nil, fault.Wrap(err, CodeMessage, "test", "params")
		}
	}
	again, err = m.encode()
	return again, m.get(pointer), err
}

// PlayTranscript plays a body as the answer to a call, and gives what the client reads.
// The client answers whatever it is asked.
func PlayTranscript(ctx context.Context, body []byte) [][]byte {
	s := &Seam{o: Options{Mode: Replay, Redactor: redact.New(redact.Options{})}}
	c := &mcpConn{
		door: s.MCP("a"), ctx: ctx, queue: newMessageQueue(),
		asked: map[string]*mcpAsk{}, scripts: map[string]*mcpScript{},
	}
	one := &message{Version: "2.0", ID: textID("me"), Method: new(string)}
	_ = c.play(one, nil, &cassette.Response{Body: body})
	for range 100 {
		for id, a := range c.asked {
			delete(c.asked, id)
			_ = a.script.answered(c, a.alias)
		}
	}
	c.queue.close(io.EOF)
	var out [][]byte
	for {
		item, err := c.queue.pop(ctx)
		if err != nil {
			return out
		}
		out = append(out, item.text)
	}
}

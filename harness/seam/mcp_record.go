package seam

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// An mcpRecording is a call of the client that the server has not answered yet.
type mcpRecording struct {
	id    string
	token string // for progress, "" without one
	tape  *tape  // nil in live

	mu     sync.Mutex
	lines  []byte
	chunks []cassette.Chunk
	asks   int
}

// record remembers a call before it is sent, so that its answer finds it.
func (c *mcpConn) record(m *message, t *tape) *mcpRecording {
	r := &mcpRecording{id: string(m.ID), token: string(m.get("/_meta/progressToken")), tape: t}
	if m.method() == subscribeMethod {
		if t != nil {
			t.keep(cassette.Response{Status: http.StatusOK, Header: transcriptHeader()})
		}
		return r
	}
	c.mu.Lock()
	c.open = append(c.open, r)
	c.mu.Unlock()
	return r
}

// forget drops a call that could not be sent.
func (c *mcpConn) forget(r *mcpRecording) {
	c.mu.Lock()
	c.open = slices.DeleteFunc(c.open, func(o *mcpRecording) bool { return o == r })
	c.mu.Unlock()
	if r.tape != nil {
		r.tape.drop()
	}
}

// unsent ends a call that could not be sent to a server that is there: over HTTP that is
// a request that got no answer.
func (c *mcpConn) unsent(ctx context.Context, r *mcpRecording) {
	if !c.door.givesUp || !c.connected() {
		c.forget(r)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.open, r)
	if i < 0 {
		return // it was handed in meanwhile
	}
	c.open = slices.Delete(c.open, i, i+1)
	if ctx.Err() != nil {
		r.finish("cancelled") // under the lock: whoever closes the connection waits for it
		return
	}
	r.finish("cut")
}

// add appends a line to the transcript.
func (r *mcpRecording) add(m *message) {
	if r.tape == nil {
		return
	}
	b, err := m.encode()
	if err != nil {
		r.tape.rec.halt(err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines)+len(b) > maxResponse {
		r.tape.rec.halt(fault.New(fault.TooLarge, "seam.record", "what %q made the MCP server send is longer than %d bytes", r.tape.episode.Request.URL, maxResponse))
		return
	}
	r.lines = append(append(r.lines, b...), '\n')
	r.chunks = append(r.chunks, r.tape.chunk(len(b)+1))
}

// await notes that the client's answer has come.
func (r *mcpRecording) await(alias string) { r.add(&message{Await: alias}) }

// finish hands the episode in.
func (r *mcpRecording) finish(end string) {
	if r.tape == nil {
		return
	}
	r.mu.Lock()
	res := cassette.Response{Status: http.StatusOK, Header: transcriptHeader(), Body: r.lines, Chunks: r.chunks, End: end}
	r.mu.Unlock()
	if len(res.Chunks) == 1 && res.Chunks[0].AtMS == 0 {
		res.Chunks = nil
	}
	r.tape.keep(res)
}

// keepEmpty hands in a message that is not answered, or drops one that was not sent.
func (t *tape) keepEmpty(err error) {
	if err != nil {
		t.drop()
		return
	}
	t.keep(cassette.Response{Status: http.StatusAccepted})
}

// received takes a message of the server: it keeps it, and gives it to the client.
func (c *mcpConn) received(b []byte) error {
	m, err := parseMessage(b)
	if err != nil {
		return err
	}
	if m.Method == nil && c.swallowed(string(m.ID)) {
		return nil
	}
	c.keep(m)
	c.queue.pushText(b)
	return nil
}

// keep puts a message into the transcript where it belongs.
func (c *mcpConn) keep(m *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := *m // its own ids stay as they are for the client
	switch {
	case m.Method == nil:
		c.keepAnswer(&line)
	case m.isCall() && m.method() == "ping":
		c.pings[string(m.ID)] = true
	case m.isCall():
		a := &mcpAsk{method: m.method(), rec: c.cause(), live: true, alias: alias(askPrefix, 1)}
		if a.rec != nil {
			a.rec.asks++
			a.alias = alias(askPrefix, a.rec.asks)
		}
		c.asked[string(m.ID)] = a
		line.ID = textID(a.alias)
		c.keepIn(a.rec, &line)
	case m.method() == progressMethod:
		rec := c.cause()
		for _, r := range c.open {
			if r.token != "" && r.token == string(m.get("/progressToken")) {
				rec = r
				_ = line.set("/progressToken", jsontext.Value(aliasToken)) // it was found there
			}
		}
		c.keepIn(rec, &line)
	case m.method() == cancelledMethod:
		rec := c.cause()
		if a := c.asked[string(m.get("/requestId"))]; a != nil {
			rec = a.rec
			_ = line.set("/requestId", textID(a.alias))
		}
		c.keepIn(rec, &line)
	default:
		if i := slices.Index(c.listens, string(m.get(subscriptionPointer))); i >= 0 {
			_ = line.set(subscriptionPointer, textID(alias(subPrefix, i+1)))
		}
		c.keepIn(c.cause(), &line)
	}
}

func (c *mcpConn) keepAnswer(line *message) {
	for i, r := range c.open {
		if r.id != string(line.ID) {
			continue
		}
		c.open = append(c.open[:i:i], c.open[i+1:]...)
		line.ID = jsontext.Value(aliasCall)
		r.add(line)
		r.finish("")
		return
	}
}

// cause is the call that a message without a name of one is ascribed to: the last one
// that is open.
func (c *mcpConn) cause() *mcpRecording {
	if n := len(c.open); n > 0 {
		return c.open[n-1]
	}
	return nil
}

// keepIn adds a line to a call's transcript, or makes an episode of it where no call is
// open: the server spoke on its own.
func (c *mcpConn) keepIn(r *mcpRecording, line *message) {
	if r != nil {
		r.add(line)
		return
	}
	d := c.door
	if d.s.rec == nil || c.closed {
		return
	}
	t, err := d.s.rec.begin(d.s.question(WithLane(c.ctx, c.lane), kindMCP, mcpListen, d.url(""), listenBody(c.sent)), d.s.rec.end())
	if err != nil {
		return // the recording has ended, and the seam says why
	}
	b, err := line.encode()
	if err != nil {
		d.s.rec.halt(err)
		t.drop()
		return
	}
	t.keep(cassette.Response{Status: http.StatusOK, Header: transcriptHeader(), Body: append(b, '\n')})
}

// connected reports whether there is a server below.
func (c *mcpConn) connected() bool {
	c.live.Lock()
	defer c.live.Unlock()
	return c.below != nil
}

// send gives a message to the server, which is dialled for the first.
func (c *mcpConn) send(ctx context.Context, b []byte) error {
	below, err := c.connect(ctx)
	if err != nil {
		return err
	}
	err = below.Write(inside(ctx), b)
	if r := c.door.s.rec; r != nil && fault.CodeOf(err) == CodeAuth && !c.door.s.o.KeepErrors {
		r.halt(fault.Wrap(err, CodeAuth, "seam.record", "MCP server %q: the recording of %q has ended", c.door.server, c.door.s.o.Name))
	}
	return err
}

func (c *mcpConn) connect(ctx context.Context) (MCPConn, error) {
	c.live.Lock()
	defer c.live.Unlock()
	if c.below != nil {
		return c.below, nil
	}
	if c.dial == nil {
		return nil, errClosed
	}
	below, err := c.dial(c.ctx)
	if err != nil {
		return nil, err
	}
	c.below = below
	go c.pump(below)
	return below, c.greet(ctx, below)
}

// pump reads the server until it ends.
func (c *mcpConn) pump(below MCPConn) {
	for {
		b, err := below.Read(c.ctx)
		if err == nil {
			err = c.received(b)
		}
		if err != nil {
			if errors.Is(err, context.Canceled) {
				err = io.EOF
			}
			c.mu.Lock()
			ours := c.closed
			c.mu.Unlock()
			if !ours {
				c.abandon("cut")
			}
			c.queue.close(err)
			return
		}
	}
}

// greet sends the handshake that the client had answered from a recording, so that the
// server knows the session. What it did for the calls in between it has not done.
func (c *mcpConn) greet(ctx context.Context, below MCPConn) error {
	c.mu.Lock()
	handshake := c.handshake
	c.handshake = nil
	c.mu.Unlock()
	for _, b := range handshake {
		m, err := parseMessage(b)
		if err != nil {
			return err
		}
		done := make(chan struct{})
		if m.isCall() {
			c.mu.Lock()
			c.swallow[string(m.ID)] = done
			c.mu.Unlock()
		}
		if err := below.Write(inside(ctx), b); err != nil {
			return err
		}
		if !m.isCall() {
			continue
		}
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.queue.ended():
			return fault.New(CodeMessage, "seam.mcp", "MCP server %q ended before it answered %q", c.door.server, m.method())
		}
	}
	return nil
}

// swallowed reports whether a message answers the handshake of greet.
func (c *mcpConn) swallowed(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	done, ok := c.swallow[id]
	if ok {
		delete(c.swallow, id)
		close(done)
	}
	return ok
}

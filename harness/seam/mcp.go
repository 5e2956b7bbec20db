package seam

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// An MCPConn is a connection over which whole JSON-RPC messages pass. Read is ended by
// Close with io.EOF. Write may be called by many goroutines.
type MCPConn interface {
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, message []byte) error
	Close() error
}

// Dial opens the connection to the true server.
type Dial func(ctx context.Context) (MCPConn, error)

// An MCPDoor is the way to one MCP server. Each message of the client is an episode,
// with what the server sent because of it; see docs/reference/cassette.md.
type MCPDoor struct {
	s       *Seam
	server  string
	givesUp bool

	mu   sync.Mutex
	sent map[string]int // messages that a lane sent; pings and cancellations aside
}

// MCP is the door to the MCP server of that name, which is how the cassette calls it.
// Ask once for each server: what it counts belongs to the server.
func (s *Seam) MCP(server string) *MCPDoor {
	return &MCPDoor{s: s, server: server, sent: map[string]int{}}
}

// GivesUp makes a replay answer a call that got no answer while it was recorded, with
// CodeNoAnswer or, where the server ended or could not be sent it, CodeLost. It is for a
// client that waits by the clock, since no time passes in a replay; without it there is
// silence, as there was, and what could not be sent was not asked.
func (d *MCPDoor) GivesUp() *MCPDoor {
	d.givesUp = true
	return d
}

// Live reports whether the door may lead to the world: Connect calls dial, when it must.
func (d *MCPDoor) Live() bool { return d.s.o.Mode != Replay && !d.s.o.DryRun }

// Connect gives the client's end. In replay dial is not looked at and may be nil. Else
// it is called when the first message must go to the server: a recording that goes on
// where a crash left it, and needs nothing new, starts no server. ctx counts for the
// call of Connect and gives values, not a deadline, to the connection.
func (d *MCPDoor) Connect(ctx context.Context, dial Dial) (MCPConn, error) {
	if d.s.isClosed() {
		return nil, errClosed
	}
	if !isName(d.server) {
		return nil, fault.New(fault.Invalid, "seam.mcp", "the name %.40q of an MCP server is not made of a to z, 0 to 9, '.', '_' and '-'", d.server)
	}
	if !d.Live() {
		dial = nil
	} else if err := d.s.checkDoor("MCP server " + d.server); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(inside(context.WithoutCancel(ctx)))
	return &mcpConn{
		door: d, ctx: ctx, cancel: cancel, dial: dial, queue: newMessageQueue(),
		asked: map[string]*mcpAsk{}, scripts: map[string]*mcpScript{}, pings: map[string]bool{}, swallow: map[string]chan struct{}{},
	}, nil
}

// url is where a method of the server is found.
func (d *MCPDoor) url(method string) string {
	return kindMCP + "://" + d.server + (&url.URL{Path: "/" + method}).EscapedPath()
}

// The request methods of MCP episodes.
const (
	mcpCall   = "POST"   // a request of the client; the answer is what the server sent until it was done
	mcpNotify = "NOTIFY" // a notification of the client
	mcpAnswer = "ANSWER" // the client's answer to a request of the server
	mcpListen = "LISTEN" // what the server sent while no request was open
)

// count counts a message of a lane, and gives how many there were with it.
func (d *MCPDoor) count(lane string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent[lane]++
	return d.sent[lane]
}

// An mcpConn is the client's end of a connection. What is recorded comes from scripts,
// everything else from the server below.
type mcpConn struct {
	door   *MCPDoor
	ctx    context.Context
	cancel context.CancelFunc
	queue  *messageQueue

	live  sync.Mutex // guards dial and below
	dial  Dial
	below MCPConn

	mu        sync.Mutex // guards what follows
	asked     map[string]*mcpAsk
	scripts   map[string]*mcpScript    // by the id of the client's call
	pings     map[string]bool          // ids of the server's pings
	open      []*mcpRecording          // calls that the server has not answered, oldest first
	listens   []string                 // ids of calls that are never answered, oldest first
	handshake [][]byte                 // of what was recorded, for a server that is dialled later
	swallow   map[string]chan struct{} // ids of the handshake's calls
	lane      string                   // of the last message
	sent      int                      // … and how many that lane had sent
	asks      int                      // requests of the server that were replayed
	closed    bool
}

// An mcpAsk is a request of the server that the client has not answered.
type mcpAsk struct {
	alias  string
	method string
	rec    *mcpRecording // whose transcript it stands in; nil: none
	script *mcpScript    // … or that it was played from
	live   bool          // the server below waits for the answer
}

// Read implements MCPConn.
func (c *mcpConn) Read(ctx context.Context) ([]byte, error) {
	item, err := c.queue.pop(ctx)
	if err != nil {
		return nil, err
	}
	if item.wait > 0 {
		if err := c.door.s.o.Clock.Sleep(ctx, item.wait); err != nil {
			return nil, err
		}
	}
	return item.text, nil
}

// Write implements MCPConn.
func (c *mcpConn) Write(ctx context.Context, b []byte) error {
	m, err := parseMessage(b)
	if err != nil {
		return err
	}
	if c.door.s.isClosed() {
		return errClosed
	}
	switch {
	case m.isCall():
		return c.call(ctx, m, b)
	case m.isNotification():
		return c.notify(ctx, m, b)
	}
	return c.answer(ctx, m, b)
}

// Close implements MCPConn.
func (c *mcpConn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.abandon("cancelled")
	c.queue.close(io.EOF)
	c.live.Lock()
	defer c.live.Unlock()
	c.dial = nil
	var err error
	if c.below != nil {
		err = c.below.Close()
	}
	c.cancel()
	return err
}

// abandon hands in the calls that nobody will answer.
func (c *mcpConn) abandon(end string) {
	c.mu.Lock()
	open := c.open
	c.open = nil
	c.mu.Unlock()
	for _, r := range open {
		r.finish(end)
	}
}

// call puts a request of the client.
func (c *mcpConn) call(ctx context.Context, m *message, b []byte) error {
	if m.method() == "ping" { // is not recorded: a client pings when it likes
		if !c.door.Live() {
			return c.queue.push(&message{Version: "2.0", ID: m.ID, Result: jsontext.Value("{}")}, 0)
		}
		return c.send(ctx, b)
	}
	params, err := m.params()
	if err != nil {
		return err
	}
	q := c.door.s.question(ctx, kindMCP, mcpCall, c.door.url(m.method()), params)
	res, t, err := c.door.s.ask(q)
	if err != nil {
		c.queue.pushText(errorReply(m.ID, err))
		return nil
	}
	n := c.begin(q.lane)
	if m.method() == subscribeMethod {
		c.mu.Lock()
		c.listens = append(c.listens, string(m.ID))
		c.mu.Unlock()
	}
	if res != nil {
		if err := c.play(m, b, res); err != nil {
			return err
		}
		return c.listen(q.lane, n)
	}
	r := c.record(m, t)
	if err := c.send(ctx, b); err != nil {
		c.unsent(ctx, r)
		return err
	}
	return nil
}

// subscribeMethod opens a subscription: its answer comes when it ends, if ever.
const subscribeMethod = "subscriptions/listen"

// notify puts a notification of the client.
func (c *mcpConn) notify(ctx context.Context, m *message, b []byte) error {
	if m.method() == cancelledMethod { // when it comes is a matter of chance: the call remembers it
		c.cancelled(m)
		if c.connected() {
			return c.send(ctx, b)
		}
		return nil
	}
	params, err := m.params()
	if err != nil {
		return err
	}
	q := c.door.s.question(ctx, kindMCP, mcpNotify, c.door.url(m.method()), params)
	res, t, err := c.door.s.ask(q)
	if err != nil {
		return nil // nobody waits for an answer; the seam remembers the miss
	}
	n := c.begin(q.lane)
	if res != nil {
		if m.method() == initializedMethod {
			c.shake(b)
		}
		if c.door.givesUp && !c.door.Live() && res.End == "cut" {
			return errNoAnswer(c.door.server, m.method(), res.End)
		}
		return c.listen(q.lane, n)
	}
	err = c.send(ctx, b)
	switch {
	case t == nil:
	case err != nil && c.door.givesUp && c.connected():
		t.keep(cassette.Response{Status: http.StatusAccepted, End: "cut"})
	default:
		t.keepEmpty(err)
	}
	return err
}

// answer puts the client's answer to a request of the server.
func (c *mcpConn) answer(ctx context.Context, m *message, b []byte) error {
	id := string(m.ID)
	c.mu.Lock()
	ask, ping := c.asked[id], c.pings[id]
	delete(c.asked, id)
	delete(c.pings, id)
	c.mu.Unlock()
	if ask == nil {
		if ping || c.connected() {
			return c.send(ctx, b)
		}
		return nil // to what was taken back
	}
	body, err := m.answer()
	if err != nil {
		return err
	}
	q := c.door.s.question(ctx, kindMCP, mcpAnswer, c.door.url(ask.method), body)
	res, t, err := c.door.s.ask(q)
	if err != nil {
		if ask.live {
			return err // the recording has ended
		}
		ask.script.fail(c, err)
		return nil
	}
	n := c.begin(q.lane)
	if ask.rec != nil {
		ask.rec.await(ask.alias)
	}
	if ask.live {
		err = c.send(ctx, b)
	}
	if t != nil {
		t.keepEmpty(err)
	}
	if err != nil {
		return err
	}
	if ask.script != nil {
		if err := ask.script.answered(c, ask.alias); err != nil {
			return err
		}
	}
	if res != nil {
		return c.listen(q.lane, n)
	}
	return nil
}

// begin counts a message and remembers that it was the last.
func (c *mcpConn) begin(lane string) int {
	n := c.door.count(lane)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lane, c.sent = lane, n
	return n
}

const (
	initializedMethod = "notifications/initialized"
	cancelledMethod   = "notifications/cancelled"
	progressMethod    = "notifications/progress"
)

// cancelled ends a call that the client takes back.
func (c *mcpConn) cancelled(m *message) {
	id := string(m.get("/requestId"))
	c.mu.Lock()
	var r *mcpRecording
	for i, o := range c.open {
		if o.id == id {
			r = o
			c.open = append(c.open[:i:i], c.open[i+1:]...)
			break
		}
	}
	delete(c.scripts, id)
	if r != nil {
		r.finish("cancelled") // under the lock: whoever closes the connection waits for it
	}
	c.mu.Unlock()
}

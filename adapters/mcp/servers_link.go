package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp/login"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/server"
)

// A peer is the connection to one server.
type peer struct {
	entry   server.Entry
	recipe  string
	door    *seam.MCPDoor
	clock   clock.Clock // nil in replay
	stderr  tail
	stale   atomic.Bool // it said that its tools changed
	dialed  atomic.Bool // something could be said to it
	ended   atomic.Bool // nothing comes from it any more
	greeted atomic.Bool

	mu      sync.Mutex
	timeout time.Duration
	conn    seam.MCPConn // the client's end of the door
	session *sdk.ClientSession
	lost    error // it ended: nothing is sent any more
	// unstarted is why its program did not start.
	unstarted error
	closed    bool
	raw       map[string]rawTool // what the last listing said, as it came
	tools     []*sdk.Tool
}

// A rawTool is what must reach a model as it came.
type rawTool struct {
	Name        string          `json:"name"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func (s *Servers) newPeer(e server.Entry) *peer {
	l := &peer{entry: e, recipe: recipe(e), door: s.o.Door(e.Name).GivesUp(), timeout: e.Timeout, raw: map[string]rawTool{}}
	if l.door.Live() {
		l.clock = s.o.Clock
	}
	return l
}

// connect starts the server and greets it.
func (l *peer) connect(ctx context.Context, o ServersOptions) error {
	client := sdk.NewClient(&sdk.Implementation{Name: o.Name, Version: o.Version}, l.clientOptions())
	client.AddReceivingMiddleware(declines)
	session, err := client.Connect(ctx, &doorway{l, o}, nil)
	l.greeted.Store(err == nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = session
	return err
}

// A doorway is the transport of a peer: through the seam, with an ear on what passes.
type doorway struct {
	l *peer
	o ServersOptions
}

// Connect implements sdk.Transport.
func (d *doorway) Connect(ctx context.Context) (sdk.Connection, error) {
	dial, err := d.dialler()
	if err != nil {
		return nil, err
	}
	conn, err := d.l.door.Connect(ctx, dial)
	if err != nil {
		return nil, err
	}
	d.l.mu.Lock()
	defer d.l.mu.Unlock()
	if d.l.closed { // it was given up meanwhile
		return nil, errors.Join(errShut, conn.Close())
	}
	d.l.conn = conn
	return eavesdropper{clientEnd{conn}, d.l}, nil
}

// dialler is how the true server is reached; nil in replay.
func (d *doorway) dialler() (seam.Dial, error) {
	dial, err := d.way()
	if dial == nil {
		return nil, err
	}
	return func(ctx context.Context) (seam.MCPConn, error) {
		conn, err := dial(ctx)
		if err == nil { // from here on there are episodes of it
			d.l.dialed.Store(true)
		}
		return conn, err
	}, err
}

func (d *doorway) way() (seam.Dial, error) {
	e := d.l.entry
	switch {
	case !d.l.door.Live():
		return nil, nil
	case e.URL != "":
		who := login.Stranger
		if d.o.Login != nil {
			who = d.o.Login
		}
		below := &sdk.StreamableClientTransport{
			Endpoint: e.URL, HTTPClient: &http.Client{Transport: dressing{d.o.HTTP(e), e.Headers}}, OAuthHandler: who(e),
		}
		return Outward{Door: d.l.door, Below: below, Clock: d.o.Clock}.dialler()
	case e.Command != "":
		return func(ctx context.Context) (seam.MCPConn, error) {
			p, err := d.o.Start(ctx, e, &d.l.stderr)
			if err != nil {
				d.l.mu.Lock()
				defer d.l.mu.Unlock()
				d.l.unstarted = err
				return nil, err
			}
			return &piped{rwc: p, in: bufio.NewReaderSize(p, 64<<10)}, nil
		}, nil
	}
	return nil, fault.New(CodeServerStart, "mcp.servers", "server %q is recorded and not configured here", e.Name)
}

// A dressing puts an entry's headers on.
type dressing struct {
	base    http.RoundTripper
	headers map[string]string
}

// RoundTrip implements http.RoundTripper.
func (d dressing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, v := range d.headers {
		r.Header.Set(name, v)
	}
	return d.base.RoundTrip(r)
}

// piped speaks JSON-RPC in lines with a program.
type piped struct {
	rwc io.ReadWriteCloser
	in  *bufio.Reader
	mu  sync.Mutex
}

// Read implements seam.MCPConn. Lines that are no message are what some programs print
// beside it, and are passed over.
func (p *piped) Read(context.Context) ([]byte, error) {
	for {
		line, err := readLine(p.in, seam.MaxMessage)
		if len(line) > seam.MaxMessage {
			return nil, fault.New(fault.TooLarge, "mcp.servers", "a message of the server has more than %d bytes", seam.MaxMessage)
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] == '{' {
			return line, nil
		}
		if err != nil {
			return nil, io.EOF
		}
	}
}

// Write implements seam.MCPConn.
func (p *piped) Write(_ context.Context, b []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.rwc.Write(append(bytes.TrimSpace(b), '\n'))
	return err
}

// Close implements seam.MCPConn.
func (p *piped) Close() error { return p.rwc.Close() }

// An eavesdropper keeps the schemas of the tools as they come: the SDK would decode
// them, and a model is to get the server's own bytes.
type eavesdropper struct {
	clientEnd
	l *peer
}

// unsent is why a message could not be sent.
type unsent struct{ error }

func (u unsent) Unwrap() error { return u.error }

// Write implements sdk.Connection.
func (e eavesdropper) Write(ctx context.Context, m jsonrpc.Message) error {
	if req, ok := m.(*jsonrpc.Request); ok && req.IsCall() && ctx.Err() != nil {
		return ctx.Err() // nobody waits for it: it would be recorded by chance
	}
	if err := e.clientEnd.Write(ctx, m); err != nil {
		return unsent{err}
	}
	return nil
}

// Read implements sdk.Connection.
func (e eavesdropper) Read(ctx context.Context) (jsonrpc.Message, error) {
	b, err := e.conn.Read(ctx)
	if err != nil {
		e.l.ended.Store(true)
		return nil, err
	}
	if bytes.Contains(b, []byte(`"inputSchema"`)) {
		var m struct {
			Result struct {
				Tools []rawTool `json:"tools"`
			} `json:"result"`
		}
		if json.Unmarshal(b, &m) == nil {
			e.l.mu.Lock()
			for _, t := range m.Result.Tools {
				e.l.raw[t.Name] = t
			}
			e.l.mu.Unlock()
		}
	}
	m, err := jsonrpc.DecodeMessage(b)
	if err == nil && e.l.unheard(m) {
		e.l.ended.Store(true)
		return nil, errLate
	}
	return m, err
}

// errLate ends a greeting in a replay.
var errLate = errors.New("the greeting was not answered, in the recording")

// unheard says that a replay has come to where the greeting was given up: what the SDK
// would try next was never sent.
func (l *peer) unheard(m jsonrpc.Message) bool {
	res, ok := m.(*jsonrpc.Response)
	wire := new(jsonrpc.Error)
	if !ok || l.door.Live() || l.greeted.Load() || !errors.As(res.Error, &wire) || wire.Code != seam.ReplyCode {
		return false
	}
	var data struct {
		Code fault.Code `json:"code"`
	}
	return json.Unmarshal(wire.Data, &data) == nil && data.Code == seam.CodeNoAnswer
}

// The bounds of a list.
const (
	maxServerTools = 128
	maxListPages   = 32
	maxSchema      = 64 << 10 // bytes
)

// list asks for the tools.
func (l *peer) list(ctx context.Context) error {
	var all []*sdk.Tool
	cursor := ""
	for range maxListPages {
		res, err := l.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if f := new(fault.Error); errors.As(err, &f) && f.Code == login.CodeLogin {
			return f
		}
		if err != nil {
			return l.failed(ctx, err, "tools/list")
		}
		all = append(all, res.Tools...)
		if len(all) > maxServerTools {
			return fault.New(fault.TooLarge, "mcp.servers", "it has more than %d tools", maxServerTools)
		}
		if cursor = res.NextCursor; cursor == "" {
			l.mu.Lock()
			l.tools = all
			l.mu.Unlock()
			return nil
		}
	}
	return fault.New(fault.TooLarge, "mcp.servers", "its list has more than %d pages", maxListPages)
}

// gone is why nothing is sent to the server any more.
func (l *peer) gone() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

func (l *peer) setTimeout(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timeout = d
}

// close ends the server first, so that nothing can wait for it.
func (l *peer) close() error {
	l.mu.Lock()
	conn, session := l.conn, l.session
	l.closed, l.lost = true, errShut
	l.mu.Unlock()
	var err error
	if conn != nil {
		err = conn.Close()
	}
	if session != nil {
		err = errors.Join(err, session.Close())
	}
	return err
}

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// OverMCP lays the plan over a connection to an MCP server, whose calls have URLs like
// mcp://server/tools/call. Status is an error as the answer, Timeout no answer at all: the
// server hangs. Refused fails the sending. Reset ends the connection after the message
// was sent. The other kinds are not for messages. Notifications are not counted.
//
// ctx gives values to the connection, and not a deadline.
func (p *Plan) OverMCP(ctx context.Context, server string, below seam.MCPConn, c clock.Clock) seam.MCPConn {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m := &messages{
		plan: p, below: below, clock: c, server: server, cancel: cancel,
		in: make(chan message), own: make(chan message, 1), broken: make(chan struct{}), lost: map[string]bool{},
	}
	go m.pump(ctx)
	return m
}

type message struct {
	text []byte
	err  error
}

// messages passes messages on, and puts its own between those of the server.
type messages struct {
	plan   *Plan
	below  seam.MCPConn
	clock  clock.Clock
	server string
	cancel context.CancelFunc

	in     chan message  // from the server; closed with the connection
	own    chan message  // ours
	broken chan struct{} // closed by a reset
	reset  sync.Once

	mu   sync.Mutex
	lost map[string]bool // ids of calls that the server never saw
}

// pump reads from the server until the connection ends.
func (m *messages) pump(ctx context.Context) {
	defer close(m.in)
	for {
		text, err := m.below.Read(ctx)
		select {
		case m.in <- message{text, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// Read implements seam.MCPConn. After a reset nothing comes, whatever was under way.
func (m *messages) Read(ctx context.Context) ([]byte, error) {
	select {
	case <-m.broken:
		return nil, resetError()
	default:
	}
	select {
	case <-m.broken:
		return nil, resetError()
	case got := <-m.own:
		return got.text, got.err
	case got, ok := <-m.in:
		if !ok {
			return nil, io.EOF
		}
		return got.text, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements seam.MCPConn.
func (m *messages) Write(ctx context.Context, text []byte) error {
	var head struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Request json.RawMessage `json:"requestId"`
		} `json:"params"`
	}
	// What cannot be read is for the door below to refuse.
	if json.Unmarshal(text, &head) != nil {
		return m.below.Write(ctx, text)
	}
	if head.Method == "notifications/cancelled" && m.forget(string(head.Params.Request)) {
		return nil
	}
	if head.Method == "" || len(head.ID) == 0 {
		return m.below.Write(ctx, text)
	}
	hit, err := m.plan.take(seam.LaneOf(ctx), "mcp://"+m.server+"/"+head.Method, Status, Timeout, Refused, Reset)
	if err != nil {
		return err
	}
	if f := instead(hit); f != nil {
		m.plan.fire(f)
		return m.answer(ctx, f.Fault, head.ID)
	}
	if err := m.below.Write(ctx, text); err != nil || len(hit) == 0 {
		return err
	}
	m.plan.fire(hit[0])
	m.reset.Do(func() { close(m.broken) })
	return nil
}

// forget reports whether the server never saw the call.
func (m *messages) forget(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.lost[id]
	delete(m.lost, id)
	return was
}

// answer is what happens in place of the server's answer.
func (m *messages) answer(ctx context.Context, f Fault, id json.RawMessage) error {
	switch f.Kind {
	case Refused:
		return refusedError()
	case Timeout:
		m.mu.Lock()
		m.lost[string(id)] = true
		m.mu.Unlock()
		return clock.Pass(ctx, m.clock, f.For)
	}
	own := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"a fault of the scenario: %d"}}`, id, f.Code)
	select {
	case m.own <- message{text: own}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements seam.MCPConn.
func (m *messages) Close() error {
	m.cancel()
	return m.below.Close()
}

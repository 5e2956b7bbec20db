package mcp

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp/params"
)

// A drain is a transport that tells of the end of its input only when every request
// has its answer. The SDK drops what is still running at the end of input, so that
// a client which sends its lines and closes would hear nothing.
type drain struct {
	inner sdk.Transport
	leave func() // called at the end of input: nobody answers questions now
}

// Connect implements sdk.Transport.
func (d *drain) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := d.inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainConn{Connection: c, leave: d.leave, running: map[jsonrpc.ID]bool{}, closed: make(chan struct{}), idle: make(chan struct{}, 1)}, nil
}

type drainConn struct {
	sdk.Connection
	leave  func()
	closed chan struct{}
	idle   chan struct{} // a value whenever nothing is running

	mu      sync.Mutex
	running map[jsonrpc.ID]bool
	once    sync.Once
}

// Read implements sdk.Connection.
func (c *drainConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := c.Connection.Read(ctx)
		if err != nil {
			c.wait(ctx)
			return nil, err
		}
		req, ok := msg.(*jsonrpc.Request)
		if !ok {
			return msg, nil
		}
		wrong := params.Check(req.Method, req.Params)
		if wrong == nil || !req.IsCall() {
			c.note(req)
			return msg, nil
		}
		// That the client does not hear it is met by who writes next.
		_ = c.Connection.Write(ctx, &jsonrpc.Response{ID: req.ID, Error: refusal(wrong, "")})
	}
}

// note keeps the ids of requests that will have an answer. A subscription has none
// until it is cancelled, and a cancelled request may have none at all.
func (c *drainConn) note(req *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case req.Method == "notifications/cancelled":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		var id any
		if json.Unmarshal(req.Params, &p) == nil && json.Unmarshal(p.ID, &id) == nil {
			if made, err := jsonrpc.MakeID(id); err == nil {
				c.forget(made)
			}
		}
	case req.IsCall() && req.Method != "subscriptions/listen":
		c.running[req.ID] = true
	}
}

// Write implements sdk.Connection.
func (c *drainConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		c.forget(res.ID)
		c.mu.Unlock()
	}
	return err
}

// forget is called with the lock held.
func (c *drainConn) forget(id jsonrpc.ID) {
	delete(c.running, id)
	if len(c.running) == 0 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
}

// Close implements sdk.Connection.
func (c *drainConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// wait returns when nothing is running.
func (c *drainConn) wait(ctx context.Context) {
	c.leave()
	for {
		c.mu.Lock()
		n := len(c.running)
		c.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-c.idle:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

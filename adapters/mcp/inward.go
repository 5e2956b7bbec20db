package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/seam"
)

// inward puts a door of the seam between a client and this server, so that the session
// is recorded as that of any other MCP server is: a replay of it needs no studio.
type inward struct {
	client sdk.Transport
	door   *seam.MCPDoor
}

// Connect implements sdk.Transport.
func (t *inward) Connect(ctx context.Context) (sdk.Connection, error) {
	client, err := t.client.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &inwardConn{
		client: client, asked: make(chan []byte), said: make(chan []byte),
		left: make(chan struct{}), closed: make(chan struct{}), flushed: make(chan struct{}),
	}
	c.door, err = t.door.Connect(ctx, func(context.Context) (seam.MCPConn, error) {
		c.dialled.Store(true)
		return belowDoor{c}, nil
	})
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	go c.listen(ctx)
	go c.answer(ctx)
	return c, nil
}

// An inwardConn is the server's end. What the client sends comes by listen, the door and
// asked; what the server sends goes by said, the door and answer.
type inwardConn struct {
	client  sdk.Connection
	door    seam.MCPConn
	asked   chan []byte   // the door has recorded it, and the server is to read it
	said    chan []byte   // the server has said it, and the door is to record it
	left    chan struct{} // closed when the client sends no more
	closed  chan struct{} // closed when the server says no more
	flushed chan struct{} // closed when all that it said is with the client
	once    sync.Once
	dialled atomic.Bool // the door reads said
}

// listen gives the door what the client sends.
func (c *inwardConn) listen(ctx context.Context) {
	defer close(c.left)
	for {
		msg, err := c.client.Read(ctx)
		if err != nil {
			return
		}
		b, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return
		}
		if c.door.Write(ctx, b) != nil { // no message that it knows: the server says what is wrong
			if (belowDoor{c}).Write(ctx, b) != nil {
				return
			}
		}
	}
}

// answer gives the client what comes out of the door.
func (c *inwardConn) answer(ctx context.Context) {
	defer close(c.flushed)
	for {
		b, err := c.door.Read(context.WithoutCancel(ctx)) // Close ends it, when all is said
		if err != nil {
			return
		}
		msg, err := jsonrpc.DecodeMessage(b)
		if err != nil || c.client.Write(ctx, msg) != nil {
			return
		}
	}
}

// Read implements sdk.Connection.
func (c *inwardConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case b := <-c.asked:
		return jsonrpc.DecodeMessage(b)
	case <-c.left:
		return nil, io.EOF
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements sdk.Connection.
func (c *inwardConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	select {
	case c.said <- b:
		return nil
	case <-c.closed:
		return io.ErrClosedPipe
	case <-c.flushed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements sdk.Connection. What was said is with the client when it returns.
func (c *inwardConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	var err error
	if !c.dialled.Load() {
		err = c.door.Close()
	}
	<-c.flushed // the door ends when it has read that the server says no more
	return errors.Join(err, c.door.Close(), c.client.Close())
}

// SessionID implements sdk.Connection.
func (c *inwardConn) SessionID() string { return c.client.SessionID() }

// belowDoor is the server as the door sees it.
type belowDoor struct{ c *inwardConn }

func (s belowDoor) Read(ctx context.Context) ([]byte, error) {
	select {
	case b := <-s.c.said:
		return b, nil
	case <-s.c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s belowDoor) Write(ctx context.Context, b []byte) error {
	select {
	case s.c.asked <- b:
		return nil
	case <-s.c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close does nothing: the server ends the session.
func (belowDoor) Close() error { return nil }

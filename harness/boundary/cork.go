package boundary

import (
	"context"
	"net"
	"sync"
)

// A stream that is replayed at once has many small chunks, and a system call for each
// costs more than all else. A corked connection gathers what is flushed: the chunks of
// HTTP stay as they are, and go out together.

// maxCorked is how many bytes a corked connection holds back.
const maxCorked = 16 << 10

type corkKey struct{}

// Cork holds back what is written to the connection of a request that Serve serves,
// until release is called, or much has come together. It is for writers that know that
// more is at hand. Release may be called often, and must be before waiting for anything.
func Cork(ctx context.Context) (cork, release func()) {
	c, ok := ctx.Value(corkKey{}).(*corkConn)
	if !ok {
		return func() {}, func() {}
	}
	return c.cork, c.release
}

// Its Close is the connection's own: it takes no lock, because a Write may be stuck with
// a client that does not read.
type corkConn struct {
	net.Conn
	mu     sync.Mutex
	corked bool
	held   []byte
	err    error
}

// Write implements net.Conn.
func (c *corkConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	if !c.corked {
		return c.Conn.Write(p)
	}
	if c.held = append(c.held, p...); len(c.held) >= maxCorked {
		c.flush()
	}
	return len(p), c.err
}

func (c *corkConn) cork() {
	c.mu.Lock()
	c.corked = true
	c.mu.Unlock()
}

func (c *corkConn) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = false
	c.flush()
}

// flush writes what is held. An error comes with the next Write. The lock is held.
func (c *corkConn) flush() {
	if len(c.held) > 0 && c.err == nil {
		_, c.err = c.Conn.Write(c.held)
	}
	c.held = c.held[:0]
}

// A corkListener makes its connections corkable.
type corkListener struct{ net.Listener }

// Accept implements net.Listener.
func (l corkListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &corkConn{Conn: c}, nil
}

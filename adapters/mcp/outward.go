package mcp

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// Outward is how an SDK client reaches somebody else's MCP server: by a door of the
// seam, so that what passes is recorded and replayed with everything else.
type Outward struct {
	Door *seam.MCPDoor
	// Below leads to the true server: a CommandTransport, a StreamableClientTransport
	// with an HTTPClient, or any other. In replay it is not looked at.
	Below sdk.Transport
	Clock clock.Clock // what a stream that broke is opened again by; only for HTTP
}

var _ sdk.Transport = Outward{}

// Connect implements sdk.Transport.
func (o Outward) Connect(ctx context.Context) (sdk.Connection, error) {
	if o.Door == nil {
		return nil, fault.New(fault.Invalid, "mcp.outward", "a door is needed")
	}
	dial := seam.Dial(nil)
	if o.Door.Live() {
		var err error
		if dial, err = o.dialler(); err != nil {
			return nil, err
		}
	}
	conn, err := o.Door.Connect(ctx, dial)
	if err != nil {
		return nil, err
	}
	return clientEnd{conn}, nil
}

func (o Outward) dialler() (seam.Dial, error) {
	if o.Below == nil {
		return nil, fault.New(fault.Invalid, "mcp.outward", "a transport to the server is needed, but in replay")
	}
	http, ok := o.Below.(*sdk.StreamableClientTransport)
	if !ok {
		return func(ctx context.Context) (seam.MCPConn, error) {
			conn, err := o.Below.Connect(ctx)
			if err != nil {
				return nil, err
			}
			return serverEnd{conn}, nil
		}, nil
	}
	if http.HTTPClient == nil || http.HTTPClient.Transport == nil || o.Clock == nil {
		return nil, fault.New(fault.Invalid, "mcp.outward", "MCP server %q needs an HTTP client with a transport, and a clock", http.Endpoint).
			WithHint("give it the client that was built on the seam: what an MCP door sends is recorded once")
	}
	return func(ctx context.Context) (seam.MCPConn, error) { return dialStream(ctx, *http, o.Clock) }, nil
}

// A clientEnd is a connection of the door as the SDK wants it.
type clientEnd struct{ conn seam.MCPConn }

func (c clientEnd) Read(ctx context.Context) (jsonrpc.Message, error) {
	b, err := c.conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	return jsonrpc.DecodeMessage(b)
}

func (c clientEnd) Write(ctx context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return c.conn.Write(ctx, b)
}

func (c clientEnd) Close() error { return c.conn.Close() }

// SessionID is "": the session with the true server is not the client's matter.
func (clientEnd) SessionID() string { return "" }

// A serverEnd is a connection of the SDK as the door wants it.
type serverEnd struct{ conn sdk.Connection }

func (s serverEnd) Read(ctx context.Context) ([]byte, error) {
	m, err := s.conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	return jsonrpc.EncodeMessage(m)
}

func (s serverEnd) Write(ctx context.Context, b []byte) error {
	m, err := jsonrpc.DecodeMessage(b)
	if err != nil {
		return err
	}
	return s.conn.Write(ctx, m)
}

func (s serverEnd) Close() error { return s.conn.Close() }

// revisionHeader names the revision that was agreed on. The SDK sets it on its own
// connections only, and this one is wrapped.
const revisionHeader = "Mcp-Protocol-Version"

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

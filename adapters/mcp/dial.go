package mcp

import (
	"context"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// Dial leads to somebody else's MCP server by streamable HTTP, for a door that the
// caller has: the proxy's.
func Dial(endpoint string, c *http.Client, k clock.Clock) seam.Dial {
	return func(ctx context.Context) (seam.MCPConn, error) {
		return dialStream(ctx, sdk.StreamableClientTransport{Endpoint: endpoint, HTTPClient: c}, k)
	}
}

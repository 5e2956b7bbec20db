package cli

import (
	"net/http"
	"strings"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/proxy"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// mcpDial leads to the MCP servers that were named as upstreams, each request with what
// authorised the client's.
func (a *app) mcpDial(ups proxy.Upstreams) func(string, http.Header) seam.Dial {
	return func(server string, h http.Header) seam.Dial {
		endpoint := ups.MCP(server)
		if endpoint == "" {
			return nil
		}
		return mcp.Dial(endpoint, &http.Client{Transport: authorised{credentials(h), network(a.doors.Env)}}, a.doors.Clock)
	}
}

// credentials are the headers that an MCP server may know its client by.
func credentials(h http.Header) http.Header {
	out := http.Header{}
	for name, values := range h {
		if name == "Authorization" || strings.HasPrefix(name, "X-") && name != proxy.LaneHeader {
			out[name] = values
		}
	}
	return out
}

type authorised struct {
	with  http.Header
	below http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (a authorised) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range a.with {
		r.Header[name] = values
	}
	return a.below.RoundTrip(r)
}

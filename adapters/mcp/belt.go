package mcp

import (
	"context"
	"encoding/json"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// anyObject is the schema that the SDK gets with each tool. It would read and write a
// schema three times before it lists it; ours are linted where a tool is made.
var anyObject = json.RawMessage(`{"type":"object"}`)

// list puts a tool on this client's list. Clients that are there are told so.
func (s *Server) list(t tool.Tool) {
	s.sdk.AddTool(&sdk.Tool{Name: t.ID, InputSchema: anyObject}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return s.answer(ctx, t, req), nil
	})
}

// reveal makes ids the deferred tools that this client can call by their names; those
// that were revealed before are so no more.
func (s *Server) reveal(ids []string) {
	if s.session.FullBelt {
		return // they are listed already
	}
	s.revealing.Lock()
	defer s.revealing.Unlock()
	var drop, now []string
	for _, id := range s.revealed {
		if !slices.Contains(ids, id) {
			drop = append(drop, id)
		}
	}
	s.sdk.RemoveTools(drop...)
	for _, id := range ids {
		t, ok := s.factory.mcp.Get(id)
		if !ok || t.Exposure != tool.Deferred || !t.Here() || slices.Contains(now, id) {
			continue
		}
		now = append(now, id)
		if !slices.Contains(s.revealed, id) {
			s.list(t)
		}
	}
	s.revealed = now
}

// describing puts the tools as clients see them into the SDK's list.
func (f *Factory) describing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		if list, ok := res.(*sdk.ListToolsResult); ok && list != nil {
			for i, t := range list.Tools {
				if _, ours := f.mcp.Get(t.Name); ours {
					list.Tools[i] = f.describe(t.Name)
				}
			}
		}
		return res, err
	}
}

// describe is a tool as clients see it. It is made once for all of them.
func (f *Factory) describe(id string) *sdk.Tool {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.described[id]
	if !ok {
		t, _ := f.mcp.Get(id)
		d = describe(t, f.o.Table)
		f.described[id] = d
	}
	return d
}

// unlisted answers the call of a deferred tool by its own name that was not revealed.
// The SDK knows only what is listed, and would say that there is no such tool, and not
// how to call it.
func (s *Server) unlisted(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		r, ok := req.(*sdk.CallToolRequest)
		if !ok || s.session.FullBelt {
			return next(ctx, method, req)
		}
		t, has := s.factory.mcp.Get(r.Params.Name)
		if has && t.Exposure == tool.Deferred && t.Here() && !s.isRevealed(t.ID) {
			return failure(fault.New(gate.CodeUnknownTool, "mcp.call", "%q is not listed, so it cannot be called by its name", r.Params.Name).
				WithHint("Call %s with id %q and the same input.", carrier, t.ID)), nil
		}
		return next(ctx, method, req)
	}
}

func (s *Server) isRevealed(id string) bool {
	s.revealing.Lock()
	defer s.revealing.Unlock()
	return slices.Contains(s.revealed, id)
}

// private keeps what one client was shown out of caches that others read.
func private(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" }

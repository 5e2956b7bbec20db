package mcp

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The levels of the protocol that a client may set.
func isLevel(l sdk.LoggingLevel) bool {
	return slices.Contains([]sdk.LoggingLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}, l)
}

// levels refuses a level that there is not: the SDK would take it for the lowest.
func (s *Server) levels(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if r, ok := req.(*sdk.ServerRequest[*sdk.SetLoggingLevelParams]); ok && !isLevel(r.Params.Level) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no log level \"" + clip(string(r.Params.Level), 40) + "\""}
		}
		return next(ctx, method, req)
	}
}

// A note is what a log message says: ids and codes, and nothing that stood in an input
// or a result.
type note struct {
	Event string `json:"event"`
	Call  string `json:"call,omitempty"` // in the trace
	Tool  string `json:"tool,omitempty"`
	Code  string `json:"code,omitempty"`
}

// log tells a client that set a level, or gave one with its request.
func (s *Server) log(ctx context.Context, to *sdk.ServerSession, level sdk.LoggingLevel, n note) {
	if to != nil {
		// An error is a client that has gone.
		_ = to.Log(context.WithoutCancel(ctx), &sdk.LoggingMessageParams{Logger: s.o.Name, Level: level, Data: n})
	}
}

// logCall tells how a call ended.
func (s *Server) logCall(ctx context.Context, c call, err error) {
	n, level := note{Event: "call finished", Call: c.id, Tool: c.runs}, sdk.LoggingLevel("info")
	if err != nil {
		n.Event, n.Code, level = "call failed", string(fault.CodeOf(err)), "warning"
	}
	s.log(ctx, c.to, level, n)
}

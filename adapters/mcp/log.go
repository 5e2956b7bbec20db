package mcp

//lint:file-ignore SA1019 the newest revision deprecates logging, and older clients use it

import (
	"context"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// logging is what a client is told of it.
func logging() *sdk.LoggingCapabilities { return &sdk.LoggingCapabilities{} }

// The levels of the protocol that a client may set.
func isLevel(l sdk.LoggingLevel) bool {
	return slices.Contains([]sdk.LoggingLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}, l)
}

// checked looks at what the SDK takes as it comes: a level that there is not it would
// take for the lowest, and a revision that nobody can agree on by initialize for the one
// that was agreed on.
func checked(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch r := req.(type) {
		case *sdk.ServerRequest[*sdk.SetLoggingLevelParams]:
			if !isLevel(r.Params.Level) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("no log level %q", clip(string(r.Params.Level), 40))}
			}
		case *sdk.ServerRequest[*sdk.InitializeParams]:
			if r.Params != nil && r.Params.ProtocolVersion >= inBand {
				r.Params.ProtocolVersion = lastHandshake
			}
		}
		return next(ctx, method, req)
	}
}

// lastHandshake is the last revision that begins with initialize.
const lastHandshake = "2025-11-25"

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

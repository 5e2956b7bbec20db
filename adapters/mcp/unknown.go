package mcp

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/resource"
)

// unknown gives what the SDK refuses by itself a code and the next step, as all that is
// refused here has, and does not send a long name back.
func unknown(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		var e *jsonrpc.Error
		if err == nil || !errors.As(err, &e) || e.Code != jsonrpc.CodeInvalidParams || len(e.Data) > 0 {
			return res, err
		}
		switch {
		case strings.HasPrefix(e.Message, "unknown tool"):
			return nil, refusal(fault.New(gate.CodeUnknownTool, "mcp.call", "%s", e.Message).
				WithHint("use a name of tools/list"), "")
		case strings.HasPrefix(e.Message, "unknown prompt"):
			return nil, refusal(fault.New(fault.Invalid, "mcp.prompt", "%s", e.Message).WithHint("use a name of prompts/list"), "")
		case strings.HasSuffix(method, "/list"):
			return nil, refusal(fault.New(resource.CodeCursor, "mcp.list", "%s cannot go on where the cursor says", method).
				WithHint("give the cursor that came with the list before, or none"), "")
		}
		return nil, &jsonrpc.Error{Code: e.Code, Message: clip(e.Message, maxError)}
	}
}

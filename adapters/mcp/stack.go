package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// callStack is how much stack a call needs, in bytes, more than most: the store's database
// is deep. It decides speed and nothing else.
const callStack = 24 << 10

// roomy makes a call's stack large before it is deep. Each call has a goroutine of its own,
// that begins with a small stack: it would grow in four steps, and each of them copies
// what stands on it. That took a tenth of a call.
func roomy(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "tools/call" {
			grow(method)
		}
		return next(ctx, method, req)
	}
}

// grow has a large frame, for which the stack is made large enough when it is called. It
// uses none of it, so that nothing is cleared.
//
//go:noinline
func grow(method string) byte {
	if method != "" {
		return 0
	}
	var room [callStack]byte
	copy(room[:], method)
	return room[len(method)]
}

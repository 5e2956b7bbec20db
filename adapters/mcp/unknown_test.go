package mcp_test

import (
	"bytes"
	"strings"
	"testing"
)

// What the SDK refuses has a code and the next step too, and is not sent back whole.
func TestUnknownNamesAreToldTheNextStep(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, tt := range map[string]struct{ line, code, hint string }{
		"tool":      {`"tools/call","params":{"name":"studio.burn"}`, "UNKNOWN_TOOL", "tools/list"},
		"long tool": {`"tools/call","params":{"name":"` + long + `"}`, "UNKNOWN_TOOL", "tools/list"},
		"cursor":    {`"tools/list","params":{"cursor":"nowhere"}`, "RESOURCE_CURSOR", "or none"},
	} {
		in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":` + tt.line + `}`
		var out bytes.Buffer
		if err := newStage(false).server.Serve(t.Context(), strings.NewReader(in), &out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := out.String()
		if !strings.Contains(got, `"id":2,"error":{"code":-32602`) || !strings.Contains(got, `"code":"`+tt.code+`"`) || !strings.Contains(got, tt.hint) || len(got) > 10_000 {
			t.Errorf("%s: want %s with a hint, briefly, got %d bytes: %.900s", name, tt.code, len(got), got)
		}
	}
}

package mcp_test

import (
	"bytes"
	"strings"
	"testing"
)

// A line that is no message is answered, and the session goes on: the client's mistake
// is not the end of its work.
func TestLinesThatAreNoMessages(t *testing.T) {
	for name, tt := range map[string]struct{ line, want string }{
		"no JSON":           {`not json`, `"id":null,"error":{"code":-32700`},
		"cut":               {`{"jsonrpc":"2.0","id":7`, `"id":null,"error":{"code":-32700`},
		"bytes":             {"\xff\xfe\x00", `"id":null,"error":{"code":-32700`},
		"a text":            {`"x"`, `"id":null,"error":{"code":-32600`},
		"another version":   {`{"jsonrpc":"1.0","id":7,"method":"ping"}`, `"id":7,"error":{"code":-32600`},
		"an object as id":   {`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		"a fraction as id":  {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		"a vast id":         {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `"id":9007199254740993,"error":{"code":-32600`},
		"a vaster id":       {`{"jsonrpc":"2.0","id":-92233720368547758080,"method":"ping"}`, `"id":-92233720368547758080,"error":{"code":-32600`},
		"a large id":        {`{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}`, `"id":9007199254740992,"result":{}`},
		"null as id":        {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		"an empty batch":    {`[]`, `"id":null,"error":{"code":-32600`},
		"a batch of no one": {`[1]`, `"id":null,"error":{"code":-32600`},
		"deep":              {`{"jsonrpc":"2.0","id":7,"method":"ping","params":` + strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000) + `}`, `"error":{"code":-32600`},
		"a deep argument":   {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"studio.list","arguments":` + strings.Repeat(`{"a":`, 1000) + `1` + strings.Repeat(`}`, 1000) + `}}`, `"id":7,"error":{"code":-32600`},
		"a deep batch":      {`[{"jsonrpc":"2.0","id":7,"method":"ping","params":` + strings.Repeat(`{"a":`, 999) + `1` + strings.Repeat(`}`, 999) + `}]`, `"id":null,"error":{"code":-32600`},
		"many brackets":     {`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":[` + strings.Repeat(`{},`, 2000) + `{}]}}`, `"id":7,"result":{}`},
		"deeper":            {strings.Repeat(`[`, 100_000), `"error":{"code":-32700`},
		"long":              {`{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("x", 9<<20) + `"}`, `"error":{"code":-32600,"message":"a line has more than 8388608 bytes"`},
		"a name of 5":       {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5}}`, `"id":7,"error":{"code":-32602,"message":"mcp.tools.call: name of tools/call is a number, and has to be a text","data":{"code":"MCP_PARAMS"`},
		"a cursor of {}":    {`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":{}}}`, `"id":7,"error":{"code":-32602`},
		"another hello":     {`{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1}}`, `"id":7,"error":{"code":-32602`},
		"blank":             {" \t\r", `"id":2`},
		"no arguments":      {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"studio.list","arguments":null}}`, `character/ada`},
	} {
		s := newStage(false)
		in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
` + tt.line + `
{"jsonrpc":"2.0","id":2,"method":"ping"}`
		var out bytes.Buffer
		if err := s.server.Serve(t.Context(), strings.NewReader(in), &out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := out.String(); !strings.Contains(got, tt.want) || !strings.Contains(got, `"id":2,"result":{}`) {
			t.Errorf("%s: want %s and the answer to what follows, got %.600s", name, tt.want, got)
		}
	}
}

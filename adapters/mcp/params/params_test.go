package params_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/mcp/params"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ method, raw, want string }{
		{"tools/call", `{"name":"a","arguments":{"x":[{"name":5}]},"_meta":{}}`, ""},
		{"tools/call", `{"name":"a"}`, ""},
		{"tools/call", `{"name":"a","arguments":null}`, ""},
		{"tools/call", `{}`, ""}, // the server says what is missing
		{"tools/call", ``, ""},
		{"tools/call", `{"name":5}`, "name of tools/call is a number, and has to be a text"},
		{"tools/call", `{"name":"a","arguments":[]}`, ""},
		{"prompts/get", `{"name":"a","arguments":[]}`, "arguments of prompts/get is a list, and has to be an object"},
		{"prompts/get", `{"name":"a","arguments":"{}"}`, "arguments of prompts/get is a text, and has to be an object"},
		{"tools/call", `[1]`, "params of tools/call is a list, and has to be an object"},
		{"tools/list", `{"cursor":{}}`, "cursor of tools/list is an object, and has to be a text"},
		{"initialize", `{"protocolVersion":true}`, "protocolVersion of initialize is true or false, and has to be a text"},
		{"resources/read", `{"uri":1}`, "uri of resources/read is a number"},
		{"logging/setLevel", `{"level":7}`, "level of logging/setLevel is a number"},
		{"completion/complete", `{"ref":"x"}`, "ref of completion/complete is a text, and has to be an object"},
		{"something/new", `{"name":5}`, ""},
		{"tools/call", `{"name":`, ""}, // no JSON: said elsewhere
	} {
		err := params.Check(tt.method, []byte(tt.raw))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s %s: %v", tt.method, tt.raw, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || fault.CodeOf(err) != params.Code || fault.HintOf(err) == ""):
			t.Errorf("%s %s: %v, want %q", tt.method, tt.raw, err, tt.want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("tools/call", []byte(`{"name":"a","arguments":{}}`))
	f.Add("tools/list", []byte(`{"cursor":1`))
	f.Fuzz(func(t *testing.T, method string, raw []byte) {
		if err := params.Check(method, raw); err != nil && len(err.Error()) > 300 {
			t.Errorf("%d bytes say what is wrong", len(err.Error()))
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	raw := []byte(`{"name":"studio.read","arguments":{"kind":"character","id":"ada"},"_meta":{"progressToken":1}}`)
	for b.Loop() {
		if err := params.Check("tools/call", raw); err != nil {
			b.Fatal(err)
		}
	}
}

package cli

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
)

func TestFindings(t *testing.T) {
	const plain = `{"type":"object","properties":{"a":{"type":"string"}}}`
	for name, c := range map[string]struct {
		instructions string
		tool         mcp.Listed
		want         string
	}{
		"fine":             {"", mcp.Listed{Name: "a.b", InputSchema: []byte(plain)}, ""},
		"boolean property": {"", mcp.Listed{Name: "a", InputSchema: []byte(`{"type":"object","properties":{"a":true}}`)}, "input"},
		"tuple":            {"", mcp.Listed{Name: "a", InputSchema: []byte(plain), OutputSchema: []byte(`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}]}}}`)}, "output"},
		"long name":        {"", mcp.Listed{Name: strings.Repeat("a", 48), InputSchema: []byte(plain)}, "name"},
		"long text":        {"", mcp.Listed{Name: "a", Description: strings.Repeat("ä", 2049), InputSchema: []byte(plain)}, "description"},
		"long words":       {strings.Repeat("a", 2049), mcp.Listed{Name: "a", InputSchema: []byte(plain)}, "description"},
	} {
		t.Run(name, func(t *testing.T) {
			got := findings("soundstage", c.instructions, []mcp.Listed{c.tool})
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) == 0 || got[0].Part != c.want) {
				t.Errorf("%+v", got)
			}
			if len(beyond(got, got)) != 0 {
				t.Error("a finding is told of twice")
			}
		})
	}
	if got := costOf("", []mcp.Listed{{Bytes: 5}, {Bytes: 8}}); got.Bytes != 13 || got.Tokens != 4 || got.Tools != 2 {
		t.Errorf("%+v", got)
	}
	var many []mcp.Listed
	for range mostTools + 1 {
		many = append(many, mcp.Listed{Name: "a.b", Bytes: 1000})
	}
	if got := strings.Join(notes("soundstage", many), "\n"); !strings.Contains(got, "mcp__soundstage__a_b") || !strings.Contains(got, "129 tools") || !strings.Contains(got, "32250 tokens") {
		t.Errorf("%s", got)
	}
}

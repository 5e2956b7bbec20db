package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// The bounds of what servers put on the belt at once. Beyond them their tools are found
// by capability.find, all of them, so that it does not depend on an order.
const (
	maxDirect      = 24
	maxDirectBytes = 24 << 10 // of names, descriptions and schemas
	maxID          = 64
)

// join makes tools of what is listed. The states are those of the servers, by name.
func (s *Servers) join(states []State) Joined {
	var made []external
	taken := map[string]string{} // folded name: whose
	bytes := 0
	for i := range states {
		st := &states[i]
		l := s.peers[st.Name]
		if st.Err != nil || l == nil {
			continue
		}
		for _, t := range l.listed() {
			x, why := l.external(t)
			if why == "" {
				if by, ok := taken[tool.Fold(x.spec.ID)]; ok {
					why = fmt.Sprintf("its name becomes %s, as that of %s does", tool.Fold(x.spec.ID), by)
				}
			}
			if why != "" {
				st.Dropped = append(st.Dropped, Dropped{clip(t.Name, 80), why})
				continue
			}
			taken[tool.Fold(x.spec.ID)] = fmt.Sprintf("%q of server %q", clip(t.Name, 80), st.Name)
			made = append(made, x)
			bytes += x.size()
			st.Tools++
		}
	}
	out := Joined{States: states}
	exposure := tool.Direct
	if len(made) > maxDirect || bytes > maxDirectBytes {
		exposure = tool.Deferred
	}
	for _, x := range made {
		x.spec.Exposure = exposure
		out.Tools = append(out.Tools, tool.NewOpen(x.spec, x.schema, x.run))
		out.Rows = append(out.Rows, trust.Row{ID: x.spec.ID, Class: trust.Egress})
	}
	return out
}

// listed are the tools by name: the order of a server's list may change.
func (l *peer) listed() []*sdk.Tool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(l.tools), func(t *sdk.Tool) bool { return t == nil })
	slices.SortStableFunc(all, func(a, b *sdk.Tool) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// An external is a tool of a server before it is known how it is shown.
type external struct {
	spec   tool.Spec
	schema []byte
	run    tool.Handler
}

func (x external) size() int { return len(x.spec.ID) + len(x.spec.Description) + len(x.schema) }

// external makes a tool of ours of one of theirs, or says why it cannot.
func (l *peer) external(t *sdk.Tool) (x external, why string) {
	id := ExternalID(l.entry.Name, t.Name)
	schema := l.schema(t.Name)
	switch {
	case id == "":
		return x, "its name has no letter or digit"
	case len(schema) > maxSchema:
		return x, fmt.Sprintf("its schema has %d bytes, more than %d", len(schema), maxSchema)
	case len(schema) == 0 || schema[0] != '{' || !json.Valid(schema):
		return x, "its input schema is no object"
	}
	_, _, part := cut(id)
	summary, description := words(t, l.entry.Name)
	x.schema = schema
	x.spec = tool.Spec{
		ID: id, Title: fmt.Sprintf("%s of MCP server %s", clip(t.Name, 80), l.entry.Name), Summary: summary, Description: description,
		// What it does cannot be known, so nothing that asks about what writes is skipped.
		Effect: tool.Apply, Skins: []tool.Skin{tool.Loop},
		Domain: "mcp", Area: l.entry.Name, Action: part,
		Aliases: strings.FieldsFunc(part, func(r rune) bool { return r == '_' }),
	}
	name := t.Name
	x.run = func(ctx context.Context, _ tool.Call, input []byte) (tool.Result, error) {
		return l.call(ctx, name, input)
	}
	return x, ""
}

// schema is a tool's input schema, byte for byte.
func (l *peer) schema(name string) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.TrimSpace(l.raw[name].InputSchema)
}

// ExternalID is the id of a server's tool here: mcp.SERVER.TOOL, of which the
// provider-safe name is mcp_SERVER_TOOL. What is too long is cut and gets a digest of
// the whole name. It is "" where nothing of the name can be kept.
func ExternalID(server, name string) string {
	srv := strings.ReplaceAll(server, "-", "_")
	fold := strings.Trim(strings.Map(func(r rune) rune {
		switch r = unicode.ToLower(r); {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name), "_")
	if fold == "" {
		return ""
	}
	id := "mcp." + srv + "." + fold
	if len(id) <= maxID {
		return id
	}
	sum := fmt.Sprintf("_%x", sha256.Sum256([]byte(name)))[:9]
	return id[:maxID-len(sum)] + sum
}

func cut(id string) (mcp, server, name string) {
	mcp, rest, _ := strings.Cut(id, ".")
	server, name, _ = strings.Cut(rest, ".")
	return mcp, server, name
}

// words are a tool's summary and description. The summary is how the description begins.
func words(t *sdk.Tool, server string) (summary, description string) {
	description = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, t.Description))
	if description == "" {
		description = fmt.Sprintf("The tool %q of the MCP server %q, which says nothing about it.", clip(t.Name, 80), server)
	}
	description = first(description, 2_000)
	summary, _, _ = strings.Cut(description, "\n")
	if at := strings.Index(summary, ". "); at > 0 {
		summary = summary[:at+1]
	}
	return strings.TrimSpace(first(summary, 240)), description
}

// first is the first n characters of s.
func first(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

package capability_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/capability"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

type nameIn struct {
	ID string `json:"id" jsonschema:"the piece"`
}

func fake(id, kind, area, action, summary string, aliases ...string) tool.Tool {
	return tool.New(tool.Spec{
		ID: id, Summary: summary, Effect: tool.Draft, Exposure: tool.Deferred, Domain: "content", Kind: kind, Area: area, Action: action, Aliases: aliases,
	}, func(context.Context, tool.Call, nameIn) (tool.Reply[struct{}], error) {
		return tool.Reply[struct{}]{}, nil
	})
}

func find(t *testing.T, input string) (capability.FindOut, []string, error) {
	t.Helper()
	hidden := fake("character.secret.update", "character", "secret", "update", "Rename in secret.")
	hidden.Exposure = tool.Hidden
	loopOnly := fake("character.loop.update", "character", "loop", "update", "Rename in the loop.")
	loopOnly.Skins = []tool.Skin{tool.Loop}
	all := []tool.Tool{
		fake("studio.character.create", "character", "lifecycle", "create", "Create a new character, as a draft.", "new character"),
		fake("character.identity.update", "character", "identity", "update", "Change a character's name.", "rename", "change the name"),
		fake("character.prompts.update", "character", "prompts", "update", "Change a character's description and prompts."),
		fake("character.greetings.update", "character", "greetings", "update", "Change a character's greetings.", "first message"),
		fake("lorebook.entries.update", "lorebook", "entries", "update", "Change a lorebook's entries."),
		fake("lorebook.entries.remove", "lorebook", "entries", "remove", "Remove entries."),
		hidden, loopOnly,
	}
	tools := capability.Tools(func() []tool.Tool { return all })
	res, err := tools[0].Run(t.Context(), tool.Call{Skin: tool.MCP}, []byte(input))
	var out capability.FindOut
	if err == nil {
		if uerr := json.Unmarshal(res.Structured, &out); uerr != nil {
			t.Fatal(uerr)
		}
	}
	return out, res.Reveal, err
}

func TestFind(t *testing.T) {
	tests := []struct {
		name, in string
		action   capability.Action
		first    string // the best tool, or the first entry's area or domain
		n        int    // tools or entries
		code     fault.Code
	}{
		{name: "a query searches", in: `{"query":"rename a character"}`, action: "search", first: "character.identity.update", n: 4},
		{name: "a kind filters", in: `{"query":"update entries character","kind":"lorebook"}`, action: "search", first: "lorebook.entries.update", n: 2},
		{name: "a target filters", in: `{"query":"update","target":"lorebook/x"}`, action: "search", first: "lorebook.entries.update", n: 1},
		{name: "create without a target", in: `{"query":"create new character","kind":"character"}`, action: "search", first: "studio.character.create", n: 4},
		{name: "at most five", in: `{"query":"update change create remove"}`, action: "search", first: "lorebook.entries.remove", n: 5},
		{name: "nothing fits", in: `{"query":"zebra"}`, action: "search", n: 0},
		{name: "an id describes", in: `{"id":"character.identity.update"}`, action: "describe", first: "character.identity.update", n: 1},
		{name: "an exact query describes", in: `{"query":"character_identity_update"}`, action: "describe", first: "character.identity.update", n: 1},
		{name: "unknown id", in: `{"id":"character.idnetity.update"}`, code: capability.CodeUnknown},
		{name: "hidden", in: `{"id":"character.secret.update"}`, code: capability.CodeUnknown},
		{name: "another skin's", in: `{"id":"character.loop.update"}`, code: capability.CodeUnknown},
		{name: "domains", in: `{}`, action: "browse", first: "content", n: 1},
		{name: "areas", in: `{"domain":"content"}`, action: "browse", first: "greetings", n: 5},
		{name: "shorthand", in: `{"domain":"content/character"}`, action: "browse", first: "greetings", n: 4},
		{name: "actions", in: `{"domain":"content","area":"entries"}`, action: "browse", first: "lorebook.entries.remove", n: 2},
		{name: "nowhere", in: `{"domain":"nowhere"}`, code: capability.CodeUnknown},
		{name: "bad target", in: `{"target":"ada"}`, code: fault.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, revealed, err := find(t, tt.in)
			if fault.CodeOf(err) != tt.code {
				t.Fatalf("got %v, want %q", err, tt.code)
			}
			if err != nil {
				return
			}
			if out.Action != tt.action || len(out.Tools)+len(out.Entries) != tt.n {
				t.Fatalf("%s with %d tools %d entries: %+v", out.Action, len(out.Tools), len(out.Entries), out)
			}
			first := ""
			var ids []string
			for _, r := range out.Tools {
				ids = append(ids, r.ID)
				if !json.Valid(r.Input) || len(r.Input) < 10 {
					t.Errorf("%s has no schema", r.ID)
				}
			}
			if len(ids) > 0 {
				first = ids[0]
			}
			for _, e := range out.Entries[:min(1, len(out.Entries))] {
				first = e.Domain
				if e.Area != "" {
					first = e.Area
				}
				if e.ID != "" {
					first = e.ID
				}
			}
			if first != tt.first || !slices.Equal(ids, revealed) {
				t.Errorf("first %q, want %q; revealed %v of %v", first, tt.first, revealed, ids)
			}
		})
	}
}

func TestSearchIsDeterministic(t *testing.T) {
	first, _, _ := find(t, `{"query":"update"}`)
	for range 20 {
		again, _, _ := find(t, `{"query":"update"}`)
		for i := range first.Tools {
			if again.Tools[i].ID != first.Tools[i].ID {
				t.Fatalf("order changed: %v", again.Tools)
			}
		}
	}
}

func TestCallIsNeverReached(t *testing.T) {
	call := capability.Tools(nil)[1]
	if _, err := call.Run(t.Context(), tool.Call{}, []byte(`{"id":"x.y"}`)); fault.CodeOf(err) != capability.CodeUnwrapped {
		t.Errorf("got %v", err)
	}
}

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/snapshot"
	"github.com/soundstage-dev/soundstage/runtime/capability"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// registry is the house's, as the program wires it.
func registry(t *testing.T) (*house, []tool.Tool) {
	t.Helper()
	w := newWorld(t)
	h, err := (&app{doors: Doors{Dir: w.dir, Env: w.env, Clock: w.clock}}).bare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := h.registry.All()
	if len(all) < 10 {
		t.Fatalf("%d tools: the wiring is broken", len(all))
	}
	return h, all
}

// A tool that nobody classified is denied in every mode; it does not get that far.
func TestEveryToolIsClassified(t *testing.T) {
	h, all := registry(t)
	for _, id := range gate.Unclassified(h.registry, h.table) {
		t.Errorf("%s has no row in runtime/trust", id)
	}
	for _, r := range h.table.Rows() {
		if _, ok := h.registry.Get(r.ID); !ok {
			t.Errorf("runtime/trust has a row for %s, which is no tool", r.ID)
		}
	}
	for _, tl := range all {
		if tl.Exposure == tool.Deferred && tl.Effect == tool.Apply {
			t.Errorf("%s is deferred and applies", tl.ID)
		}
	}
}

// Two clients of one studio each start a program: their calls on one piece do not
// overlap either.
func TestTwoProgramsShareTheLocks(t *testing.T) {
	w := newWorld(t)
	w.must("", "init", ".")
	var houses [2]*house
	for i := range houses {
		h, err := (&app{doors: Doors{Dir: w.dir, Env: w.env, Clock: w.clock}}).open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer h.close()
		houses[i] = h
	}
	unlock, err := houses[0].locks.Lock(t.Context(), "piece:character/ada")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if both, err := houses[1].locks.Lock(ctx, "piece:character/ada"); err == nil {
		both()
		t.Error("both hold the piece")
	}
	unlock()
	again, err := houses[1].locks.Lock(t.Context(), "piece:character/ada")
	if err != nil {
		t.Fatal(err)
	}
	again()
}

// One bad property makes some clients drop the whole list.
func TestEverySchemaIsPlain(t *testing.T) {
	_, all := registry(t)
	for _, tl := range all {
		for part, schema := range map[string][]byte{"input": tl.Input(), "output": tl.Output()} {
			if schema == nil {
				continue
			}
			for _, finding := range tool.Lint(schema) {
				t.Errorf("%s: %s schema: %s", tl.ID, part, finding)
			}
		}
	}
}

// What is found has to be read at once: an answer with a handle in place of the tools
// is none. So it stays within the bound of one answer, as far as it goes with schemas.
func TestWhatIsFoundFitsIntoOneAnswer(t *testing.T) {
	h, all := registry(t)
	g := h.gate(h.registry, "")
	ask := func(skin tool.Skin, input string) capability.FindOut {
		d := g.Decide(t.Context(), gate.Request{Call: tool.Call{Session: "s", Skin: skin}, Tool: "capability.find", Input: []byte(input)})
		res, err := g.Run(t.Context(), d)
		if err != nil || res.Handle != "" {
			t.Fatalf("%s: %v, handle %q, %d characters", input, err, res.Handle, utf8.RuneCountInString(res.Text))
		}
		var out capability.FindOut
		if err := json.Unmarshal(res.Structured, &out); err != nil {
			t.Fatal(err)
		}
		with := 0
		for _, f := range out.Tools {
			if len(f.Input) > 0 {
				with++
			}
		}
		if n := utf8.RuneCountInString(res.Text); with > 1 && n > result.MaxInline {
			t.Errorf("%s: %d schemas in %d characters, more than one has to be of a size to be read", input, with, n)
		}
		return out
	}
	for _, tl := range all {
		if tl.Exposure != tool.Deferred {
			continue
		}
		out := ask(tool.MCP, `{"id":"`+tl.ID+`"}`)
		want, err := canon.JSON(tl.Input())
		if err != nil || len(out.Tools) != 1 || !bytes.Equal(out.Tools[0].Input, want) {
			t.Errorf("%s is described without its schema", tl.ID)
		}
	}
	out := ask(tool.MCP, `{"query":"character"}`)
	with := 0
	for _, f := range out.Tools {
		if len(f.Input) > 0 {
			with++
		}
	}
	if len(out.Tools) < 3 || with == 0 || (with < len(out.Tools)) != strings.Contains(out.Note, "describe it") {
		t.Errorf("%d tools, %d with a schema, note %q", len(out.Tools), with, out.Note)
	}
	for _, f := range ask(tool.Loop, `{"query":"character"}`).Tools {
		if len(f.Input) > 0 {
			t.Errorf("%s: the loop pays for the schema twice", f.ID)
		}
	}
}

// TestServedTools is the contract with MCP clients: the list that the real program
// serves, with every schema as it is on the wire.
func TestServedTools(t *testing.T) {
	for name, args := range map[string][]string{
		"mcp_tools": {"mcp"}, "mcp_tools_read_only": {"mcp", "--read-only"},
		"mcp_tools_full": {"mcp", "--belt", "full"}, "mcp_tools_full_read_only": {"mcp", "--belt", "full", "--read-only"},
		"mcp_tools_story": {"mcp", "--studio", "story"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(configName, "model: anthropic/claude-sonnet-4-5\n")
			lines := bytes.Split([]byte(strings.TrimSpace(w.must(handshake, args...))), []byte("\n"))
			var answer struct {
				ID     int             `json:"id"`
				Result json.RawMessage `json:"result"`
			}
			if err := json.Unmarshal(lines[len(lines)-1], &answer); err != nil || answer.ID != 2 {
				t.Fatalf("%v: %s", err, lines[len(lines)-1])
			}
			snapshot.JSON(t, name, answer.Result)
			var list struct {
				Tools []struct {
					Name         string          `json:"name"`
					InputSchema  json.RawMessage `json:"inputSchema"`
					OutputSchema json.RawMessage `json:"outputSchema"`
				} `json:"tools"`
			}
			if err := json.Unmarshal(answer.Result, &list); err != nil || len(list.Tools) == 0 {
				t.Fatalf("%d tools, %v", len(list.Tools), err)
			}
			for _, tl := range list.Tools {
				for _, schema := range []json.RawMessage{tl.InputSchema, tl.OutputSchema} {
					if schema == nil {
						continue
					}
					for _, finding := range tool.Lint(schema) {
						t.Errorf("%s: %s", tl.Name, finding)
					}
				}
			}
		})
	}
}

package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/soundstage-dev/soundstage/harness/snapshot"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// TestCommandReference keeps docs/reference/cli.md equal to the command tree.
func TestCommandReference(t *testing.T) {
	var b strings.Builder
	root := tree()
	b.WriteString("# Commands\n\n<!-- Written by cmd/soundstage/cli from the command tree; change it there, then: make update -->\n\n")
	fmt.Fprintf(&b, "%s\n\nFlags of every command:\n\n", strings.TrimSpace(strings.TrimSuffix(root.Long, exitHelp)))
	writeFlags(&b, root.PersistentFlags())
	fmt.Fprintf(&b, "\n```\n%s```\n\n", exitHelp)
	b.WriteString("With `--json` a command prints one object on standard output, of the schema that is named with it. A command that fails\nprints an [error](cli/error.schema.json) there instead; where its result already tells of the failure (a turn that was\nstopped, a scenario that failed, an unclean studio), the result is printed and the error is on standard error. The exit\nstatus says the same in every case.\n")
	for _, c := range leaves(root) {
		if strings.HasPrefix(words(c), "completion ") && words(c) != "completion bash" || words(c) == "help" {
			continue // one shell is as the next
		}
		writeCommand(&b, c)
	}
	snapshot.File(t, filepath.Join(reference, "cli.md"), []byte(b.String()))
}

func writeCommand(b *strings.Builder, c *cobra.Command) {
	name, long, example := words(c), c.Long, c.Example
	if strings.HasPrefix(name, "completion") {
		name, long = "completion bash|zsh|fish|powershell", "Print a script that completes commands and flags in the shell; `--help` says how to load it."
	}
	fmt.Fprintf(b, "\n## soundstage %s\n\n%s.\n", name, c.Short)
	fmt.Fprintf(b, "\n```\n%s\n```\n", strings.Replace(c.UseLine(), words(c), name, 1))
	if long != "" {
		fmt.Fprintf(b, "\n%s\n", strings.TrimSpace(long))
	}
	if c.LocalNonPersistentFlags().HasAvailableFlags() {
		b.WriteString("\n")
		writeFlags(b, c.LocalNonPersistentFlags())
	}
	if example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", unindent(example))
	}
	if _, ok := results()[name]; ok {
		file := "cli/" + strings.ReplaceAll(name, " ", "-") + ".schema.json"
		fmt.Fprintf(b, "\nJSON: [%s](%s)\n", file, file)
	}
}

func writeFlags(b *strings.Builder, set *pflag.FlagSet) {
	b.WriteString("| flag | what |\n|---|---|\n")
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, use := pflag.UnquoteUsage(f)
		name := strings.TrimSpace("--" + f.Name + " " + value)
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && !strings.Contains(use, "default") {
			use += " (default: " + f.DefValue + ")"
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.ReplaceAll(use, "|", `\|`))
	})
}

// unindent takes the two spaces off that help wants.
func unindent(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		out = append(out, strings.TrimPrefix(line, "  "))
	}
	return strings.Join(out, "\n")
}

// Every command that does something shows how, and says what it is in a line.
func TestEveryCommandHasHelp(t *testing.T) {
	for _, c := range leaves(tree()) {
		if name := words(c); !strings.HasPrefix(name, "completion") && name != "help" {
			if c.Example == "" || !strings.Contains(c.Example, "soundstage "+name) {
				t.Errorf("%s has no example of itself", name)
			}
			if c.Short == "" || strings.HasSuffix(c.Short, ".") {
				t.Errorf("%s: short help is %q", name, c.Short)
			}
		}
	}
}

// TestToolReference keeps docs/reference/tools.md equal to the registry.
func TestToolReference(t *testing.T) {
	w := newWorld(t)
	h, err := (&app{doors: Doors{Dir: w.dir, Env: w.env, Clock: w.clock}}).bare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Tools\n\n<!-- Written by cmd/soundstage/cli from the registry; change the tools, then: make update -->\n\n")
	b.WriteString("One registry serves the agent loop, MCP and the command line. The class is what the trust table goes by\n(`soundstage doctor` prints it); the effect is what the tool says of itself and never lowers its class. Direct tools are\nalways on the belt, deferred ones are found with `capability.find` and called by name or through `capability.call`.\n\n")
	b.WriteString("| tool | class | effect | exposure | skins | summary |\n|---|---|---|---|---|---|\n")
	for _, tl := range h.registry.All() {
		r := h.row(tl)
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s | %s | %s |\n", r.ID, anchor(r.ID), r.Class, r.Effect, r.Exposure, skins(tl), r.Summary)
	}
	for _, tl := range h.registry.All() {
		writeTool(t, &b, h, tl)
	}
	snapshot.File(t, filepath.Join(reference, "tools.md"), []byte(b.String()))
}

// anchor is what Markdown makes of a heading.
func anchor(id string) string { return strings.ReplaceAll(id, ".", "") }

func skins(tl tool.Tool) string {
	var on []string
	for _, s := range []tool.Skin{tool.Loop, tool.MCP, tool.CLI} {
		if tl.On(s) {
			on = append(on, string(s))
		}
	}
	return strings.Join(on, " ")
}

func writeTool(t *testing.T, b *strings.Builder, h *house, tl tool.Tool) {
	t.Helper()
	r := h.row(tl)
	fmt.Fprintf(b, "\n## %s\n\n%s. Class %s, effect %s, %s, on %s; providers see it as `%s`.\n\n%s\n", r.ID, tl.Title, r.Class, r.Effect, r.Exposure, skins(tl), r.Name, tl.Description)
	if tl.Concurrency != "" {
		fmt.Fprintf(b, "\nCalls with equal `%s` never overlap.\n", tl.Concurrency)
	}
	for _, part := range []struct {
		name string
		raw  []byte
	}{{"input", tl.Input()}, {"result", tl.Output()}} {
		var s jsonschema.Schema
		if part.raw == nil {
			continue
		}
		if err := json.Unmarshal(part.raw, &s); err != nil {
			t.Fatal(err)
		}
		if len(s.Properties) == 0 {
			fmt.Fprintf(b, "\nIt takes no %s.\n", part.name)
			continue
		}
		fmt.Fprintf(b, "\n| %s | type | what |\n|---|---|---|\n", part.name)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			must := ""
			if part.name == "input" && slices.Contains(s.Required, name) {
				must = ", required"
			}
			fmt.Fprintf(b, "| `%s` | %s%s | %s |\n", name, typeName(p), must, strings.ReplaceAll(p.Description, "|", `\|`))
		}
	}
}

// typeName is a property's type in a word or two.
func typeName(s *jsonschema.Schema) string {
	switch {
	case len(s.Enum) > 0:
		var words []string
		for _, v := range s.Enum {
			words = append(words, fmt.Sprintf("`%v`", v))
		}
		return strings.Join(words, " ")
	case s.Items != nil:
		return "list of " + typeName(s.Items)
	}
	return s.Type
}

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/snapshot"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// reference is docs/reference, as seen from this package.
const reference = "../../../docs/reference"

// schemaOf is the JSON Schema of a result type. A strict one allows no field that
// it does not name; the committed ones do, since fields may be added.
func schemaOf(t testing.TB, typ reflect.Type, strict bool) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.ForType(typ, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {}, // any JSON: a body, an input schema
		reflect.TypeFor[tool.Object]():     {Type: "object"},
		reflect.TypeFor[value.Value]():     {}, // of a story's world
		reflect.TypeFor[trust.Verdict]():   enum(trust.Run, trust.Ask, trust.Deny),
		reflect.TypeFor[trust.Class]():     enum(trust.Classes()...),
		reflect.TypeFor[tool.Effect]():     enum(tool.Read, tool.Draft, tool.Apply, tool.Unknown),
		reflect.TypeFor[tool.Exposure]():   enum(tool.Direct, tool.Deferred, tool.Hidden),
		reflect.TypeFor[draft.State]():     enum(draft.Open, draft.Applying, draft.Applied, draft.Stale, draft.Failed, draft.Discarded),
	}})
	if err != nil {
		t.Fatalf("%v: %v", typ, err)
	}
	tidy(s, strict)
	return s
}

func enum[S ~string](values ...S) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

// tidy takes null out, which print never writes, and with strict unset the end of
// an object.
func tidy(s *jsonschema.Schema, strict bool) {
	if s.Types = slices.DeleteFunc(s.Types, func(n string) bool { return n == "null" }); len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	if !strict && s.Type == "object" {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		tidy(p, strict)
	}
	if s.Items != nil {
		tidy(s.Items, strict)
	}
}

// TestSchemas keeps docs/reference/cli true: a schema a command, and the error's.
func TestSchemas(t *testing.T) {
	dir := filepath.Join(reference, "cli")
	want := map[string]bool{}
	write := func(name, title string, typ reflect.Type) {
		s := schemaOf(t, typ, false)
		s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", title
		b, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		file := strings.ReplaceAll(name, " ", "-") + ".schema.json"
		want[file] = true
		snapshot.File(t, filepath.Join(dir, file), append(b, '\n'))
		for field, p := range s.Properties {
			if p.Description == "" && typ.PkgPath() == reflect.TypeFor[app]().PkgPath() {
				t.Errorf("%s: the field %q has no description", name, field)
			}
		}
	}
	for name, typ := range results() {
		write(name, fmt.Sprintf("soundstage %s --json", name), typ)
	}
	write("error", "any command that fails, with --json", reflect.TypeFor[complaint]())
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] {
			t.Errorf("%s/%s is of no command: delete it", dir, f.Name())
		}
	}
}

// leaves are the commands that do something, by their words behind the program's
// name.
func leaves(c *cobra.Command) (list []*cobra.Command) {
	if len(c.Commands()) == 0 {
		return []*cobra.Command{c}
	}
	if strings.Contains(c.Use, " ") { // it does something itself, as mcp
		list = append(list, c)
	}
	for _, sub := range c.Commands() {
		list = append(list, leaves(sub)...)
	}
	return list
}

func words(c *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "soundstage"), " ")
}

// tree is the whole command tree, with what cobra adds when it runs.
func tree() *cobra.Command {
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion")
	return root
}

// withoutJSON are the commands that have no result: what they print is for a shell,
// for a person, or is a protocol of its own.
func withoutJSON() []string {
	return []string{"mcp tap", "help", "completion bash", "completion zsh", "completion fish", "completion powershell"}
}

// servers print two results: when they are ready, and when they are done.
func servers() []string { return []string{"mcp", "proxy", "upstream"} }

func TestEveryCommandHasAContract(t *testing.T) {
	contracts, none := results(), withoutJSON()
	var seen []string
	for _, c := range leaves(tree()) {
		name := words(c)
		seen = append(seen, name)
		_, has := contracts[name]
		switch without := slices.Contains(none, name); {
		case has && without:
			t.Errorf("%q is in results and in withoutJSON", name)
		case !has && !without:
			t.Errorf("%q is neither in results nor in withoutJSON", name)
		}
	}
	for name := range contracts {
		if !slices.Contains(seen, name) {
			t.Errorf("results has %q, which is no command", name)
		}
	}
	for _, name := range none {
		if !slices.Contains(seen, name) {
			t.Errorf("withoutJSON has %q, which is no command", name)
		}
	}
}

// ask lays down a question, as a server of this studio does.
func (w *world) ask(id string) {
	h, err := (&app{doors: Doors{Dir: w.dir, Env: w.env, Clock: w.clock}}).open(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer h.close()
	q := gate.Question{
		ID: id, Session: "s-0009", Tool: "change.apply", Title: "Apply?", Class: trust.Write, Digest: id, Input: "{}", At: w.clock.Now(),
		Review: &draft.Review{Draft: "d-1", Target: "character/ada", Rows: []draft.Change{{Label: "Name", Before: "a", After: "b"}}},
	}
	if err := h.desk().Ask(w.t.Context(), q, "client 1"); err != nil {
		w.t.Fatal(err)
	}
}

// TestOutputsFitTheirSchemas runs every command with --json.
func TestOutputsFitTheirSchemas(t *testing.T) {
	w := journey(t)
	w.write("bea.json", strings.ReplaceAll(ada, "Ada", "Bea"))
	w.write("calls.json", `{"log": {"entries": [{"request": {"method": "GET", "url": "data:,x"}, "response": {"status": 200}}]}}`)
	w.env["XDG_CONFIG_HOME"] = t.TempDir() // the list of servers is in no studio
	w.write("silent.upstream.yaml", "turns:\n- say: {text: hello}\n")
	w.write("drawn/app.yaml", "app: { id: drawn }\nintents: { go: {} }\nroot: hall\nstates: { hall: { on: { go: { target: . } } } }\n")
	covered := map[string]bool{}
	for _, line := range []struct{ command, in, args string }{
		{"init", "", "other"},
		{"piece ls", "", ""},
		{"piece ls", "", "--text nothing-has-this"},
		{"run", "y\n", "--mode record --cassette new/rename TEXT"},
		{"trace to-scenario", "", "s-0001 -o made/rename"}, // before anything else is in the store
		{"import", "", "bea.json"},
		{"ask ls", "", ""},
		{"ask show", "", "q-x"},
		{"ask allow", "", "q-x"},
		{"ask deny", "", "q-y --note no"},
		{"trace show", "", ""},
		{"doctor", "", "--rebuild"},
		{"ledger", "", "--by model"},
		{"piece show", "", "character/ada"},
		{"piece history", "", "character/ada"},
		{"collection new", "", "noir"},
		{"collection add", "", "noir character/ada"},
		{"collection ls", "", ""},
		{"collection rm", "", "noir"},
		{"folder share", "", "scenarios"},
		{"folder ls", "", ""},
		{"folder unshare", "", "scenarios"},
		{"piece diff", "", "character/ada"},
		{"piece fork", "", "character/ada --id ada-fork"},
		{"piece restore", "", "character/ada 1"},
		{"piece merge", "", "character/ada-fork"},
		{"export", "", "character/ada -o ada2.json"},
		{"export", "", "character/ada --format json-v1 -o ada3.json"},
		{"transfer", "", "character/ada --to json-v1"},
		{"formats", "", "--kind character"},
		{"lint", "", "--all"},
		{"tool ls", "", ""},
		{"tool show", "", "studio.read"},
		{"tool call", "", "studio.list"},
		{"mcp", "", "--http"},
		{"mcp call", "", "studio.list"},
		{"mcp install", "", "codex --command soundstage"},
		{"mcp doctor", "", ""},
		{"mcp uninstall", "", "codex"},
		{"cassette ls", "", ""},
		{"cassette show", "", "new/rename"},
		{"cassette verify", "", ""},
		{"cassette import", "", "calls.json"},
		{"cassette ls", "", "new/rename"},
		{"cassette show", "", "new/rename --episode 1 --raw"},
		{"cassette diff", "", "new/rename new/rename"},
		{"cassette stats", "", ""},
		{"cassette textconv", "", "cassettes/new/rename.yaml"},
		{"cassette migrate", "", ""},
		{"cassette lint", "", ""},
		{"cassette prune", "", "new/rename --episode 1 --dry-run"},
		{"cassette rekey", "", "--rules call-ids/1 --dry-run new/rename"},
		{"cassette redact", "", "--dry-run"},
		{"cassette dedupe", "", "new/rename"},
		{"record", "", "small/rename"},
		{"test", "", "small/rename"},
		{"drift", "", "small/rename --upstream scenarios/small/rename.upstream.yaml"},
		{"story new", "", "stories/door"},
		{"story validate", "", "stories/door"},
		{"story test", "", "stories/door"},
		{"story turn", "", "stories/door leave --state hall"},
		{"story explain", "", "stories/door/app.yaml:15"},
		{"story open", "", "stories/door"},
		{"story close", "", ""},
		{"cassette merge", "", "cassettes/new/rename.yaml cassettes/new/rename.yaml cassettes/new/rename.yaml --output merged.yaml"},
		{"cassette review", "", ""},
		{"demo", "", ""},
		{"version", "", ""},
		{"story graph", "", "drawn --room hall"},
		{"server add", "", "x --env SOUNDSTAGE_TEST_AS_PROGRAM=1 -- " + os.Args[0] + " mcp " + w.dir},
		{"server ls", "", ""},
		{"server show", "", "x"},
		{"server test", "", "x"},
		{"server disable", "", "x"},
		{"server enable", "", "x"},
		{"server rm", "", "x"},
		{"server login", "", "guarded"},
		{"server logout", "", "guarded"},
		{"proxy", "", "--cassette new/rename --allow-unused --client claude-code"},
		{"upstream", "", "silent.upstream.yaml"},
	} {
		t.Run(line.command, func(t *testing.T) {
			covered[line.command] = true
			switch line.command {
			case "cassette review":
				w.commit()
			case "server login":
				w.guarded("guarded")
				defer func() { w.told = nil }()
			case "ask ls":
				w.ask("q-x")
				w.ask("q-y")
			}
			args := append(strings.Fields(line.command), "--json")
			for _, a := range strings.Fields(line.args) {
				if a == "TEXT" {
					a = rename
				}
				args = append(args, a)
			}
			if slices.Contains(servers(), line.command) {
				requireLoopback(t)
				w.interrupted = true
				defer func() { w.interrupted = false }()
			}
			code, out, errs := w.do(line.in, args...)
			if want := map[string]int{"upstream": exitSeam}[line.command]; code != want { // nobody asked it
				t.Fatalf("exit status %d\n%s%s", code, out, errs)
			}
			if slices.Contains(servers(), line.command) {
				ready, done, _ := strings.Cut(out, "\n")
				fits(t, ready+"\n", results()[line.command])
				out = done
			}
			fits(t, out, results()[line.command])
		})
	}
	for name := range results() {
		if !covered[name] {
			t.Errorf("no output of %q was checked", name)
		}
	}
}

// fits fails unless out is one line with one JSON object of the type.
func fits(t *testing.T, out string, typ reflect.Type) {
	t.Helper()
	if strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "\n") {
		t.Fatalf("want one line, got %q", out)
	}
	s, err := schemaOf(t, typ, true).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestErrorsFitTheirSchema also holds that standard output has one object, whatever
// went wrong.
func TestErrorsFitTheirSchema(t *testing.T) {
	w := journey(t)
	for _, args := range [][]string{
		{"piece", "show", "character/nobody"},
		{"piece", "show"},
		{"no-such-command"},
		{"version", "--no-such-flag"},
		{"run", "hello", "--model", "nobody/nothing"},
		{"import", "nowhere.json"},
		{"trace", "show", "s-9999"},
	} {
		code, out, errs := w.do("", append(args, "--json")...)
		fits(t, out, reflect.TypeFor[complaint]())
		if code == exitOK || errs != "" {
			t.Errorf("%q: exit status %d, standard error %q", args, code, errs)
		}
	}
}

// A result that tells of its own failure is the one object on standard output; the
// error's words are on standard error.
func TestAFailedResultIsOneObject(t *testing.T) {
	w := journey(t)
	w.must("y\n", "run", "--mode", "record", "--cassette", "new/rename", rename)
	delete(w.env, script.EnvUpstream)
	code, out, errs := w.do("", "run", "--json", "--cassette", "new/rename", "Rename Ada to something else.")
	fits(t, out, reflect.TypeFor[runResult]())
	if code != exitSeam || !strings.Contains(errs, "SEAM_MISS") {
		t.Errorf("exit status %d, standard error %q", code, errs)
	}
}

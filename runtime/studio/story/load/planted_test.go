package load_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
)

// TestPlanted plants an error of every kind in two stories: comments say what is wrong with
// their lines. One run finds them all, each with its file, line and column.
func TestPlanted(t *testing.T) {
	for name, least := range map[string]int{"planted": 200, "bare": 40} {
		t.Run(name, func(t *testing.T) { planted(t, filepath.Join("testdata", name), least) })
	}
}

func planted(t *testing.T, dir string, least int) {
	root, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	story, found, err := load.Load(t.Context(), load.Options{
		Files: loadtest.Disk{}, App: root, Root: root, Env: func(string) (string, bool) { return "", false },
	})
	if err != nil || story != nil {
		t.Fatalf("a story with errors is %v, %v", story, err)
	}
	said := map[string]map[int][]string{}
	for _, f := range found {
		if f.File == "" || f.Line < 1 || f.Column < 1 {
			t.Errorf("%s has no place", f)
		}
		if said[f.File] == nil {
			said[f.File] = map[int][]string{}
		}
		said[f.File][f.Line] = append(said[f.File][f.Line], f.Message)
	}
	wanted := 0
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".yaml" {
			return err
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, _ := filepath.Rel(root, name)
		for i, line := range strings.Split(string(raw), "\n") {
			_, wants, _ := strings.Cut(line, "# want: ")
			for want := range strings.SplitSeq(wants, "; ") {
				if want == "" {
					continue
				}
				wanted++
				if got := strings.Join(said[file][i+1], "\n"); !strings.Contains(got, want) {
					t.Errorf("%s:%d: %q is not said, but %q", file, i+1, want, got)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if wanted < least {
		t.Errorf("only %d errors are planted", wanted)
	}
}

// TestPlantedAlone plants what ends the reading of its part, or of the whole story.
func TestPlantedAlone(t *testing.T) {
	const states = "app: {id: x}\nroot: a\nstates: {a: {on: {say: {target: a}}}}\nintents: {say: {}, hear: {slots: {text: {type: string, required: true}}}}\n"
	const schema = "agent_plugins: {agent.local: {plugin: builtin.local_llm, model: m, grammar: true}}\nhosts: [host.agent.decide]\nstates: {a: {terminal: true, on_enter: [{invoke: host.agent.decide, agent: agent.local, with: {schema: s.json}}]}}\napp: {id: x}\nroot: a\n"
	for _, tt := range []struct{ app, file, want string }{
		{app: "- a", want: "app.yaml:1:1: the story is a list, and not a mapping"},
		{app: "app: {id: x}\nstates: {a: {terminal: true}}\n", want: "app.yaml:1:1: root: the story does not say in which state it begins"},
		{app: states + "phases: {graph: {p: {}}}\nphase_templates: {t: {}}\n", want: "app.yaml:5:1: phases.template: required"},
		{app: states + "phases: {template: u, graph: {p: {}}}\nphase_templates: {t: {}}\n", want: `app.yaml:5:20: phases.template "u": not found`},
		{app: states + "routing: {free_form_fallback: {intent: say}}\n", want: "app.yaml:5:31: routing.free_form_fallback.state is required"},
		{app: states + "routing: {free_form_fallback: {state: a, intent: hear}}\n", want: `app.yaml:5:50: routing.free_form_fallback.intent "hear" has no matching on: arc in state "a"`},
		{app: states + "imports: {lib: {source: '@lib/x'}}\n", want: "app.yaml:5:11: imports.lib: source \"@lib/x\": cannot be resolved, no folder of stories was given"},
		{app: schema, file: `{"type":"object","properties":{},"oneOf":[]}`, want: "app.yaml:3:"},
		{app: schema, file: `{"type":"string","pattern":"a"}`, want: "is not anchored"},
	} {
		files := files{"/s/app.yaml": tt.app, "/s/s.json": tt.file}
		story, found, err := load.Load(t.Context(), load.Options{Files: files, App: "/s"})
		if err != nil || story != nil {
			t.Errorf("%s: %v, %v", tt.want, story, err)
		}
		var all []string
		for _, f := range found {
			all = append(all, f.String())
		}
		if text := strings.Join(all, "\n"); !strings.Contains(text, tt.want) {
			t.Errorf("%s\nis not said, but\n%s", tt.want, text)
		}
	}
}

package script_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/script"
)

// An episode that nothing asks for fails the scenario that owns the cassette, and no
// other one, unless that is allowed in so many words.
func TestUnusedEpisodeFails(t *testing.T) {
	root := write(t, map[string]string{"scenarios/a/one.txtar": scenarioHi, "scenarios/a/one.upstream.yaml": upstreamHi})
	execute(t, root, true)
	for name, tt := range map[string]struct{ file, text, want string }{
		"the owner":           {"one", "# x\ncassette a/one\nprog a\n", `SCENARIO_UNUSED`},
		"allowed":             {"one", "# x\ncassette -unused a/one\nprog a\n", ""},
		"another's":           {"two", "# x\ncassette a/one\nprog a\n", ""},
		"nobody's":            {"two", "# x\ncassette a/alone\nprog a\n", `SCENARIO_UNUSED`},
		"skipped":             {"one", "# x\ncassette a/one\nskip\n", ""},
		"it failed otherwise": {"one", "# x\ncassette a/one\nprog fail\n", "exit status 4"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{"scenarios/a/one.txtar": scenarioHi, "scenarios/a/" + tt.file + ".txtar": tt.text}
			for _, c := range []string{"one", "alone"} {
				b, err := os.ReadFile(filepath.Join(root, "..", "cassettes", "a", "one.yaml"))
				if err != nil {
					t.Fatal(err)
				}
				files["cassettes/a/"+c+".yaml"] = string(b)
			}
			var out bytes.Buffer
			res, err := script.Execute(options(writeTree(t, dir, files)), "a/"+tt.file, &out)
			log := out.String()
			if err != nil || (res.Failed == 1) != (tt.want != "") || !strings.Contains(log, tt.want) {
				t.Errorf("%+v, %v, want %q in\n%s", res, err, tt.want, log)
			}
			if tt.want == "SCENARIO_UNUSED" {
				for _, text := range []string{"episode 1 (POST https://api.openai.com/v1/chat/completions m)", "prog record a/", "prog cassette prune a/", "cassette -unused a/"} {
					if !strings.Contains(log, text) {
						t.Errorf("the message does not hold %q:\n%s", text, log)
					}
				}
			} else if strings.Contains(log, "SCENARIO_UNUSED") {
				t.Errorf("it is told of all the same:\n%s", log)
			}
		})
	}
}

// A caller may be told of unused episodes instead.
func TestUnusedEpisodesAreTold(t *testing.T) {
	root := write(t, map[string]string{"scenarios/a/one.txtar": scenarioHi, "scenarios/a/one.upstream.yaml": upstreamHi})
	execute(t, root, true)
	file := filepath.Join(root, "a", "one.txtar")
	if err := os.WriteFile(file, []byte("# x\ncassette a/one\nprog a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var told []int
	o := options(root)
	o.Unused = func(scenario, cassette string, episodes []int) {
		if scenario != "a/one" || cassette != "a/one" {
			t.Errorf("told of %q, %q", scenario, cassette)
		}
		told = append(told, episodes...)
	}
	var out bytes.Buffer
	if res, err := script.Execute(o, "", &out); err != nil || res.Passed != 1 || !slices.Equal(told, []int{0}) {
		t.Errorf("%+v, %v, told of %v\n%s", res, err, told, out.String())
	}
}

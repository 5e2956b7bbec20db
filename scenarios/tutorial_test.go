package scenarios_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// A step is one command of the tutorial, with what it prints. A command whose output
// is not shown has none.
type step struct{ command, output string }

// The tutorial is what docs/tutorial.txtar runs: the same commands in the same order,
// the same output, the same files.
func TestTutorial(t *testing.T) {
	page, err := os.ReadFile("../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile("docs/tutorial.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	said, shown := readPage(string(page))
	ran := readScript(string(archive.Comment), files)
	if len(said) < 10 || len(shown) < 3 {
		t.Fatalf("found %d commands and %d files in the tutorial", len(said), len(shown))
	}
	for i := range max(len(said), len(ran)) {
		var a, b step
		if i < len(said) {
			a = said[i]
		}
		if i < len(ran) {
			b = ran[i]
		}
		if a != b {
			t.Fatalf("step %d of the tutorial is\n%+q\nand of the scenario\n%+q", i+1, a, b)
		}
	}
	for name, text := range shown {
		if files[name] != text {
			t.Errorf("%s is another file in the tutorial than in the scenario", name)
		}
	}
}

// readPage finds the commands in the console blocks of a page, and the blocks that are
// files: ```json ada.json.
func readPage(page string) (steps []step, files map[string]string) {
	files = map[string]string{}
	kind, name := "", ""
	for line := range strings.Lines(page) {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && kind == "":
			kind, name, _ = strings.Cut(strings.TrimSpace(fence), " ")
		case isFence:
			kind, name = "", ""
		case name != "":
			files[name] += line
		case kind == "console" && strings.HasPrefix(line, "$ "):
			steps = append(steps, step{command: strings.TrimSpace(line[2:])})
		case kind == "console":
			steps[len(steps)-1].output += line
		}
	}
	return steps, files
}

// readScript finds the commands of a scenario; what "cmp stderr" and "cmp stdout" say
// behind one is its output.
func readScript(script string, files map[string]string) (steps []step) {
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		switch i := slices.Index(words, "soundstage"); {
		case i == 0 || i == 1 && words[0] == "!":
			command := strings.TrimSpace(strings.TrimPrefix(line, "! "))
			steps = append(steps, step{command: command})
		case len(words) == 3 && words[0] == "cmp" && strings.HasPrefix(words[2], "shown/"):
			steps[len(steps)-1].output += files[words[2]]
		}
	}
	return steps
}

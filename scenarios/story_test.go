package scenarios_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStoryHowTo holds the how-to to the story that it builds: its blocks are the story's
// files, line by line, and the scenario of the same name runs its commands.
func TestStoryHowTo(t *testing.T) {
	page, err := os.ReadFile("../docs/howto/build-a-story.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for i, part := range strings.Split(strings.ReplaceAll("\n"+string(page), "\n   ", "\n"), "```yaml\n") {
		if i > 0 {
			block, _, _ := strings.Cut(part, "```")
			blocks = append(blocks, block)
		}
	}
	got := map[string]string{"app.yaml": strings.Join(blocks[:max(len(blocks)-2, 0)], "")}
	if len(blocks) > 2 {
		got["flows/buy.yaml"], got["flows/broken-till.yaml"] = blocks[len(blocks)-2], blocks[len(blocks)-1]
	}
	for name, text := range got {
		want, err := os.ReadFile(filepath.Join("../docs/examples/stories/kiosk", name))
		if err != nil || text != string(want) {
			t.Errorf("the how-to's %s is another (%v):\n%s", name, err, text)
		}
	}
	ran, err := os.ReadFile("story/howto.txtar")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile("(?m)`soundstage ([^`]+)`|^ +soundstage (.+)$").FindAllStringSubmatch(string(page), -1)
	if len(said) < 8 {
		t.Fatalf("found %d commands in the how-to", len(said))
	}
	for _, m := range said {
		command := strings.NewReplacer("mcp --studio", "mcp start --studio", `"Buy apple"`, "'Buy apple'").Replace(m[1] + m[2])
		if !strings.Contains(string(ran), command+"\n") {
			t.Errorf("story/howto.txtar does not run the how-to's soundstage %s", command)
		}
	}
}

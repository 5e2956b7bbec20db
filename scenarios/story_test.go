package scenarios_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStoryHowTo holds the how-to to the story that it builds: its blocks are the story's
// files, line by line.
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
}

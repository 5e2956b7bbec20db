package official_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// The reference's examples are scripts, and each key that Parse knows stands in it.
func TestReference(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/reference/upstream-scripts.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(doc, -1)
	if len(blocks) != 2 {
		t.Errorf("%d examples, want 2", len(blocks))
	}
	for _, b := range blocks {
		if _, err := upstream.Parse("upstream-scripts.md", b[1]); err != nil {
			t.Error(err)
		}
	}
	keys := []string{
		"lane", "expect", "let", "say", "fail", "user", "system", "model", "tools", "absent", "results", "rounds", "stream",
		"tool", "contains", "error", "text", "reasoning", "refusal", "calls", "input", "raw", "stop", "usage", "cut_after",
		"cache_read", "cache_write", "output", "status", "type", "message", "retry_after", "final",
	}
	for _, k := range keys {
		if !regexp.MustCompile("`" + k + "`").Match(doc) {
			t.Errorf("the reference does not explain %q", k)
		}
	}
}

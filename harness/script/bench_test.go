package script_test

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/script"
)

// BenchmarkScenario is what the engine costs for a scenario of ten programs.
func BenchmarkScenario(b *testing.B) {
	dir := b.TempDir()
	text := "# ten programs\n" + strings.Repeat("prog hello\nstdout hello\n", 10) + "-- a.txt --\na\n"
	root := writeTree(b, dir, map[string]string{"scenarios/a/one.txtar": text})
	o := options(root)
	o.Cassettes = filepath.Join(dir, "cassettes")
	for b.Loop() {
		if res, err := script.Execute(o, "", io.Discard); err != nil || res.Passed != 1 {
			b.Fatal(res, err)
		}
	}
}

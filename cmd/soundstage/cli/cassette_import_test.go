package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The whole corpus goes through the command, and what it gives is whole and free of
// what looks like a secret.
func TestCorpusImports(t *testing.T) {
	root, err := filepath.Abs("../../../../shared/corpus/cassettes")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root); err != nil {
		t.Skipf("the corpus of foreign cassettes is not here: %v", err)
	}
	args := []string{"cassette", "import", "-o", "all/corpus", "--json"}
	files := 0
	if err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".yaml" {
			args = append(args, path)
			files++
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	out := w.must("", args...)
	if files != 242 || !strings.Contains(out, `"notes":[]`) || !strings.Contains(out, `"episodes":362`) {
		t.Errorf("%d files: %.300s", files, out)
	}
	w.must("", "cassette", "verify", "all/corpus")
	if out := w.must("", "cassette", "lint", "all/corpus", "--json"); !strings.Contains(out, `"errors":0`) {
		t.Errorf("the linter finds errors: %.2000s", out)
	}
}

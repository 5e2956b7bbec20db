package load_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
)

// TestPlanted plants one error of every kind in a story: comments say what is wrong with
// their lines. One run finds them all, each with its file, line and column.
func TestPlanted(t *testing.T) {
	root, err := filepath.Abs("testdata/planted")
	if err != nil {
		t.Fatal(err)
	}
	story, found, err := load.Load(t.Context(), load.Options{
		Files: disk{}, App: root, Root: root, Env: func(string) (string, bool) { return "", false },
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
	if wanted < 100 {
		t.Errorf("only %d errors are planted", wanted)
	}
}

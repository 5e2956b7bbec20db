package flow_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/flow"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
)

// disk is a folder of the machine that runs the test.
type disk struct{}

func (disk) Read(_ context.Context, name string) ([]byte, error) { return os.ReadFile(name) }

func (disk) Glob(_ context.Context, dir, pattern string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	slices.Sort(names)
	return names, err
}

// TestPackages runs the flows of all stories of a folder that the environment names.
func TestPackages(t *testing.T) {
	root := os.Getenv("SOUNDSTAGE_STORIES")
	if root == "" {
		t.Skip("SOUNDSTAGE_STORIES names no folder of stories")
	}
	only := os.Getenv("SOUNDSTAGE_STORY")
	good, all := 0, 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "app.yaml" || only != "" && !strings.Contains(p, only) {
			return err
		}
		files, _ := filepath.Glob(filepath.Join(filepath.Dir(p), "flows", "*.yaml"))
		if len(files) == 0 {
			return nil
		}
		s, _, err := load.Load(t.Context(), load.Options{Files: disk{}, App: p, Work: root, Root: filepath.Join(root, "stories")})
		if err != nil || s == nil {
			t.Logf("%s does not load", p)
			return nil
		}
		passed, n := 0, 0
		for _, name := range files {
			raw, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			for _, f := range flow.Parse(name, raw) {
				n++
				res := flow.Run(t.Context(), flow.Options{Story: s, Files: disk{}, Forgive: true}, f)
				if res.Passed {
					passed++
					continue
				}
				if only == "" {
					continue
				}
				t.Logf("%s: %s", filepath.Base(name), res.Problem)
				for _, tr := range res.Turns {
					for _, fail := range tr.Failures {
						t.Logf("  turn %d: %.300s", tr.Index+1, fail)
					}
				}
			}
		}
		t.Logf("%3d of %3d %s", passed, n, strings.TrimPrefix(p, root))
		good, all = good+passed, all+n
		return nil
	})
	t.Logf("%d of %d flows pass", good, all)
	if err != nil {
		t.Fatal(err)
	}
}

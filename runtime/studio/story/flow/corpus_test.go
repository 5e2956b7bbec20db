package flow_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/flow"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
)

// TestPackages runs the flows of all stories of a folder that the environment names; 99 of
// 100 have to pass.
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
		s := flow.Suite{Files: loadtest.Disk{}, App: p, Work: root, Root: filepath.Join(root, "stories"), Forgive: true}
		rep, err := s.Run(t.Context())
		switch fault.CodeOf(err) {
		case load.CodeInvalid, flow.CodeFlow:
			t.Logf("%s: %v", strings.TrimPrefix(p, root), err)
			return nil
		}
		if err != nil {
			return err
		}
		for _, r := range rep.Flows {
			if !r.Passed {
				t.Logf("%s: %.300s", strings.TrimPrefix(r.File, root), r.First())
			}
		}
		good, all = good+rep.Passed, all+rep.Passed+rep.Failed
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d of %d flows pass", good, all); good*100 < all*99 {
		t.Errorf("%d of %d flows pass, want 99 of 100", good, all)
	}
}

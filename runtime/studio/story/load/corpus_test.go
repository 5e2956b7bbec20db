package load_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
)

// TestPackages loads the stories of a folder that the environment names.
func TestPackages(t *testing.T) {
	root := os.Getenv("SOUNDSTAGE_STORIES")
	if root == "" {
		t.Skip("SOUNDSTAGE_STORIES names no folder of stories")
	}
	good, all := 0, 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "app.yaml" {
			return err
		}
		all++
		s, found, err := load.Load(t.Context(), load.Options{Files: loadtest.Disk{}, App: p, Root: filepath.Join(root, "stories")})
		if err == nil && s != nil {
			good++
			return nil
		}
		var said []string
		for _, f := range found {
			said = append(said, f.String())
		}
		t.Logf("%s: %v\n  %s", strings.TrimPrefix(p, root), err, strings.Join(said[:min(3, len(said))], "\n  "))
		return nil
	})
	t.Logf("%d of %d stories load", good, all)
	if err != nil {
		t.Fatal(err)
	}
}

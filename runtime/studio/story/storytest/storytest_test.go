package storytest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/storytest"
)

func TestDoor(t *testing.T) { storytest.Run(t, "testdata/door") }

// A flow that does not hold says where, what it wanted and what came.
func TestFirstDifference(t *testing.T) {
	dir := t.TempDir()
	for name, change := range map[string][2]string{
		"app.yaml":         {"world.knocks >= 2", "world.knocks >= 3"},
		"flows/bell.yaml":  {},
		"flows/knock.yaml": {},
	} {
		raw, err := os.ReadFile(filepath.Join("testdata/door", name))
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if change[0] != "" {
			text = strings.Replace(text, change[0], change[1], 1)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	for _, r := range storytest.Results(t, storytest.Options{Dir: dir}) {
		got[filepath.Base(r.File)] = r.First()
	}
	if got["knock.yaml"] != "" {
		t.Errorf("knock.yaml: %s", got["knock.yaml"])
	}
	if want := `line 7, turn 1: expect_state: "outside", want "porch"`; got["bell.yaml"] != want {
		t.Errorf("bell.yaml: %s, want %s", got["bell.yaml"], want)
	}
}

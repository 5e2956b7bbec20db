// Package loadtest is what tests of the story studio read stories from: a folder in
// memory, and the disk.
//
// It is a part of the story studio beside load, and not of the program: only tests import
// it.
package loadtest

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// Files are files by their absolute names. They implement load.Files.
type Files map[string]string

// Read gives a file, or load.CodeNoFile.
func (f Files) Read(_ context.Context, name string) ([]byte, error) {
	if text, ok := f[name]; ok {
		return []byte(text), nil
	}
	return nil, fault.New(load.CodeNoFile, "test", "no file %q", name)
}

// Glob gives the names that match, in order.
func (f Files) Glob(_ context.Context, dir, pattern string) ([]string, error) {
	var names []string
	for name := range f {
		if ok, err := path.Match(path.Join(dir, pattern), name); err != nil {
			return nil, err
		} else if ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Disk is the disk of the machine that runs the test. It implements load.Files.
type Disk struct{}

// Read gives a file.
func (Disk) Read(_ context.Context, name string) ([]byte, error) { return os.ReadFile(name) }

// Glob gives the names that match, in order.
func (Disk) Glob(_ context.Context, dir, pattern string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	slices.Sort(names)
	return names, err
}

// Story is the story of a manifest; one that does not run ends the test.
func Story(t testing.TB, app string) *program.Story {
	t.Helper()
	s, found, err := load.Load(t.Context(), load.Options{Files: Files{"/s/app.yaml": app}, App: "/s"})
	if err != nil || s == nil {
		t.Fatal(err, found)
	}
	return s
}

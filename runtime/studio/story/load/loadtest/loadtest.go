// Package loadtest makes stories of one file for the tests of other packages.
//
// It is a part of the story studio beside load, and not of the program: only tests import
// it. It reads no disk.
package loadtest

import (
	"context"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// one is a folder with app.yaml and nothing else.
type one string

// Read implements load.Files.
func (f one) Read(_ context.Context, name string) ([]byte, error) {
	if name == "/s/app.yaml" {
		return []byte(f), nil
	}
	return nil, fault.New(load.CodeNoFile, "test", "no file %q", name)
}

// Glob implements load.Files.
func (one) Glob(context.Context, string, string) ([]string, error) { return nil, nil }

// Story is the story of a manifest; one that does not run ends the test.
func Story(t testing.TB, app string) *program.Story {
	t.Helper()
	s, found, err := load.Load(t.Context(), load.Options{Files: one(app), App: "/s"})
	if err != nil || s == nil {
		t.Fatal(err, found)
	}
	return s
}

// Package storytest runs the flows of a story as Go tests.
//
// It stands beside the runner of flows, for whoever keeps stories next to Go code: one line
// in a test file, and `go test` runs each fixture as a test of its own. It calls no model
// and nothing outside, and writes no file.
package storytest

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/flow"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// Options say what of a story is run, and how.
type Options struct {
	Dir     string // the story's folder, or its manifest
	Root    string // of @library/name imports; "" is nowhere
	Glob    string // of fixtures, seen from the folder; flows/*.yaml if empty
	Forgive bool   // a call without a stub fails the call, and not the flow
}

// Run runs the fixtures of a story's folder flows, each as a test of its own. A call that no
// stub answers fails its flow.
func Run(t *testing.T, dir string) { RunWith(t, Options{Dir: dir}) }

// RunWith is Run with more to say.
func RunWith(t *testing.T, o Options) {
	t.Helper()
	for _, r := range Results(t, o) {
		name := strings.TrimSuffix(filepath.Base(r.File), filepath.Ext(r.File))
		t.Run(name, func(t *testing.T) {
			for _, w := range r.Findings {
				t.Logf("warning: %s", w)
			}
			if r.Skipped {
				t.Skip(r.Problem)
			}
			if !r.Passed {
				t.Errorf("%s: %s", r.File, r.First())
			}
		})
	}
}

// Results runs the fixtures and gives what came of each, for tests that look closer. A story
// that does not load fails t.
func Results(t *testing.T, o Options) []flow.Result {
	t.Helper()
	abs := func(p string) string {
		if p == "" {
			return ""
		}
		whole, err := filepath.Abs(p)
		if err != nil {
			t.Fatal(err)
		}
		return filepath.ToSlash(whole)
	}
	s := flow.Suite{Files: disk{}, App: abs(o.Dir), Work: abs("."), Root: abs(o.Root), Glob: o.Glob, Forgive: o.Forgive}
	rep, err := s.Run(t.Context())
	for _, f := range rep.Findings {
		if f.Severity == load.Error {
			t.Errorf("%s", f)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return rep.Flows
}

// disk is the disk of whoever runs the tests, to be read.
type disk struct{}

// Read implements load.Files.
func (disk) Read(_ context.Context, name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(load.CodeNoFile, "story.read", "%q is no file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, source.MaxFile+1))
}

// Glob implements load.Files.
func (disk) Glob(_ context.Context, dir, pattern string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	for i, name := range names {
		names[i] = filepath.ToSlash(name)
	}
	slices.Sort(names)
	return names, err
}

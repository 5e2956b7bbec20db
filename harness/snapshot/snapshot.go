// Package snapshot compares what a test got with a file, and rewrites the file when
// asked to: goldie for transcripts and whole files, go-snaps for JSON contracts.
//
// It belongs to harness. Only tests import it, and nothing else imports goldie or
// go-snaps. Importing it registers the test flags -update, -template and -clean
// (goldie does); a test package that imports it must register none of these names.
//
//	go test ./adapters/mcp -update
//
// rewrites. Where CI is set nothing is ever written: asking for it there fails. It
// does not normalise: values that vary come from a clock that a test can fix.
package snapshot

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/gkampitakis/go-snaps/match"
	"github.com/gkampitakis/go-snaps/snaps"
	"github.com/sebdah/goldie/v2"
)

// Updating reports whether files are rewritten in this run: -update was given, and
// CI is not set.
func Updating() bool {
	write, err := writes(updateFlag(), os.Getenv)
	return write && err == nil
}

// Golden compares got with testdata/<name>.golden, byte by byte.
func Golden(t testing.TB, name string, got []byte) {
	t.Helper()
	if allowed(t) {
		goldie.New(t).Assert(t, filepath.FromSlash(name), got)
	}
}

// File compares got with the file at path, byte by byte. It is for generated files
// that live outside of testdata, such as docs/reference/errors.md.
func File(t testing.TB, path string, got []byte) {
	t.Helper()
	if allowed(t) {
		dir, name := filepath.Split(filepath.FromSlash(path))
		goldie.New(t, goldie.WithFixtureDir(filepath.Clean(dir)), goldie.WithNameSuffix("")).Assert(t, name, got)
	}
}

// JSON compares the document got with testdata/<name>_1.snap.json, laid out for
// reading and with sorted keys; a second call with one name in one test is _2.
// The values at the paths any (gjson's syntax: "items.0.id") may vary, but must be
// there.
func JSON(t testing.TB, name string, got []byte, any ...string) {
	t.Helper()
	if !allowed(t) {
		return
	}
	dir, err := filepath.Abs("testdata") // a relative one is lost under -trimpath
	if err != nil {
		t.Fatal(err)
	}
	config := snaps.WithConfig(
		snaps.Dir(dir), snaps.Filename(name), snaps.Ext(".json"), snaps.Update(Updating()),
		snaps.JSON(snaps.JSONConfig{Width: 100, Indent: "  ", SortKeys: true}),
	)
	if len(any) == 0 {
		config.MatchStandaloneJSON(t, got)
		return
	}
	config.MatchStandaloneJSON(t, got, match.Any(any...))
}

// allowed fails the test if it was asked to write where nothing may be written.
func allowed(t testing.TB) bool {
	t.Helper()
	if _, err := writes(updateFlag(), os.Getenv); err != nil {
		t.Error(err)
		return false
	}
	return true
}

// updateFlag is the flag that goldie registered.
func updateFlag() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// writes decides whether files may be rewritten.
func writes(update bool, getenv func(string) string) (bool, error) {
	if getenv("UPDATE_SNAPS") != "" {
		return false, errors.New("UPDATE_SNAPS is set and would rewrite some snapshots and not others; unset it and use: make update")
	}
	if ci := getenv("CI"); update && ci != "" && ci != "false" && ci != "0" {
		return false, errors.New("CI is set, so no golden is rewritten; run: make update, on your own machine")
	}
	return update, nil
}

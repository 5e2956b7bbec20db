// Package snapshot compares what a test got with a file, and rewrites the file when
// asked to: transcripts, whole files, and JSON contracts.
//
// It belongs to harness. Only tests import it, and nothing else imports goldie, which
// compares. Importing it registers the test flags -update, -template and -clean
// (goldie does); a test package that imports it must register none of these names.
//
//	go test ./adapters/mcp -update
//
// rewrites. Where CI is set nothing is ever written: asking for it there fails. It
// does not normalise: values that vary come from a clock that a test can fix.
package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/tidwall/pretty"
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

// JSON compares the document got with testdata/<name>.snap.json, laid out for
// reading and with sorted keys. Numbers keep their spelling.
func JSON(t testing.TB, name string, got []byte) {
	t.Helper()
	if !json.Valid(got) {
		t.Errorf("snapshot %q is no JSON: %.200q", name, got)
		return
	}
	laidOut := pretty.PrettyOptions(got, &pretty.Options{Width: 100, Indent: "  ", SortKeys: true})
	File(t, filepath.Join("testdata", filepath.FromSlash(name)+".snap.json"), bytes.TrimSpace(laidOut))
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
	if ci := getenv("CI"); update && ci != "" && ci != "false" && ci != "0" {
		return false, errors.New("CI is set, so no golden is rewritten; run: make update, on your own machine")
	}
	return update, nil
}

package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A recording of a million entries is let go of when the person says so.
func TestImportIsInterruptedAmidItsEntries(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := incoming{file: filepath.Join(dir, "a.yaml"), episodes: make([]cassette.Episode, 1)}
	if err := in.write(ctx); fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("write: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	if err := unlessDone(ctx, "a.har", func() error { <-forever; return nil }); fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("read: %v", err)
	}
}

// git hands what textconv prints to a terminal: a cassette of a stranger moves no cursor.
func TestTextconvSpellsOutWhatATerminalActsOn(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.dir, "a.yaml")
	c, err := cassette.Create(path, cassette.Header{})
	if err == nil {
		err = c.Append(cassette.Episode{
			Key: strings.Repeat("a", 64), Kind: "http", Origin: cassette.Scripted, Lane: "\x1b[2Jgone",
			Request:  cassette.Request{Method: "POST", URL: "https://a.test/x", Body: []byte("\x1b]0;q\a")},
			Response: cassette.Response{Status: 200, Body: []byte("\u202ea")},
		})
	}
	if err == nil {
		err = c.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"textconv", path}, {"show", path}, {"ls", path}} {
		out := w.must("", append([]string{"cassette"}, args...)...)
		if strings.ContainsAny(out, "\x1b\a\u202e") {
			t.Errorf("%v: %q", args, out)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Error(err)
	}
}

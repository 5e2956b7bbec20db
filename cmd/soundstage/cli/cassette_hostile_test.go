package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
)

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

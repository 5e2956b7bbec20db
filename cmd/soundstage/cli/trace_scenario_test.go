package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// A scenario that was made of a trace fails when the program asks in another way than it
// did, and says where. The program cannot be changed here, so what was recorded is: to
// the replay that is the same.
func TestScenarioOfATraceNoticesChanges(t *testing.T) {
	w := journey(t)
	w.must("y\n", "run", "--mode", "record", "--cassette", "new/rename", rename)
	w.must("", "trace", "to-scenario", "s-0001", "-o", "made/rename")
	delete(w.env, script.EnvUpstream)
	w.must("", "test", "made/rename")
	file := filepath.Join(w.dir, "cassettes", "made", "rename.yaml")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ old, new, want string }{
		"a sentence of the prompt":  {"You work in", "You worked in", "/system/0/text: recorded \"You worked in"},
		"what a tool is said to do": {`"description":"`, `"description":"Once, `, "/tools/0/description"},
		"what a tool gives":         {"nothing is saved yet: compose", "nothing was saved yet: compose", "/messages/"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := rerecord(t, whole, tt.old, tt.new)
			if err := os.WriteFile(file, changed, 0o644); err != nil {
				t.Fatal(err)
			}
			code, out, errs := w.do("", "test", "made/rename")
			if code != exitInternal || !strings.Contains(out, "SEAM_MISS") || !strings.Contains(out, tt.want) {
				t.Errorf("exit status %d, want a miss that names %q:\n%s%s", code, tt.want, out, errs)
			}
		})
	}
	if err := os.WriteFile(file, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	w.must("", "test", "made/rename")
}

// rerecord is a cassette as if every request had been another one.
func rerecord(t *testing.T, whole []byte, from, to string) []byte {
	t.Helper()
	dir := t.TempDir()
	old, file := filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new.yaml")
	if err := os.WriteFile(old, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := cassette.Open(old)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	wr, err := cassette.Create(file, c.Header())
	if err != nil {
		t.Fatal(err)
	}
	touched := false
	for i := range c.Len() {
		e, err := c.Episode(i)
		if err != nil {
			t.Fatal(err)
		}
		body := bytes.ReplaceAll(e.Request.Body, []byte(from), []byte(to))
		touched = touched || !bytes.Equal(body, e.Request.Body)
		e.Request.Body = body
		if e, err = seam.Adopt(e, c.Header().Rules, nil); err == nil {
			err = wr.Append(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := wr.Commit(); err != nil || !touched {
		t.Fatalf("%q is in no request: %v", from, err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

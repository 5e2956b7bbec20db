package cli

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
)

// mcpLines are a client's messages up to n calls.
func mcpLines(n int) (lines []string) {
	lines = append(lines,
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"studio.list","arguments":{"limit":%d}}}`, i+1, i+1))
	}
	return lines
}

// A session that is killed loses nothing of what its client was told: the journal is
// gone on with by the next one, which answers anew and not from it.
func TestAKilledSessionsRecordingGoesOn(t *testing.T) {
	w := newWorld(t)
	w.must("", "init", ".")
	file := filepath.Join(w.dir, "sessions", "one.yaml")
	out, into, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p := w.startTo(into, "mcp", "--record", "sessions/one.yaml")
	if _, err := fmt.Fprintln(p.in, strings.Join(mcpLines(3), "\n")); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(out)
	for told := 0; told < 4 && answers.Scan(); {
		if strings.Contains(answers.Text(), `"result"`) {
			told++
		}
	}
	p.kill()
	left, err := cassette.Resume(file)
	if err != nil || len(left) < 5 {
		t.Fatalf("%d messages are in the journal, want 5; %v", len(left), err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a cassette is there")
	}

	if code, _, errs := w.do("", "mcp", "--record", "sessions/one.yaml"); code != exitSeam || !strings.Contains(errs, "CASSETTE_UNFINISHED") {
		t.Errorf("exit status %d\n%s", code, errs)
	}
	text := w.must(strings.Join(mcpLines(3), "\n")+"\n", "mcp", "--record", "sessions/one.yaml", "--continue")
	if n := strings.Count(text, `"result"`); n != 4 {
		t.Errorf("the second client got %d answers:\n%s", n, text)
	}
	w.must("", "cassette", "verify", "sessions/one.yaml")
	c, err := cassette.Open(file)
	if err != nil || c.Len() != len(left)+5 {
		t.Fatalf("%v, want %d episodes", err, len(left)+5)
	}
	for i, e := range left {
		if got, err := c.Episode(i); err != nil || got.Key != e.Key {
			t.Errorf("episode %d is another one: %v", i+1, err)
		}
	}
	if files, err := filepath.Glob(file + ".*"); err != nil || files != nil {
		t.Errorf("left over: %v, %v", files, err)
	}
}

// A session that is told to end is whole.
func TestAnInterruptedSessionIsACassette(t *testing.T) {
	w := newWorld(t)
	w.must("", "init", ".")
	w.must(strings.Join(mcpLines(1), "\n")+"\n", "mcp", "--record", "sessions/")
	w.must("", "cassette", "verify", "sessions/s-0001.yaml")
	// One whose client never spoke is none, and says so.
	w.interrupted = true
	code, _, errs := w.do("", "mcp", "--record", "sessions/")
	w.interrupted = false
	if code != exitOK || !strings.Contains(errs, `nothing was recorded, so cassette "sessions/s-0002.yaml" was not written`) {
		t.Errorf("exit status %d\n%s", code, errs)
	}
	if files, err := filepath.Glob(filepath.Join(w.dir, "sessions", "s-0002*")); err != nil || files != nil {
		t.Errorf("%v, %v", files, err)
	}
	// The name that a session would have is taken.
	w.write("sessions/s-0003.yaml", "somebody's")
	if code, _, errs := w.do("", "mcp", "--record", "sessions/"); code != exitSeam || !strings.Contains(errs, "CASSETTE_EXISTS") {
		t.Errorf("exit status %d\n%s", code, errs)
	}
}

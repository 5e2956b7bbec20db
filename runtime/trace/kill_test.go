package trace_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

var (
	kills = flag.Int("kills", 5, "how many processes the kill tests kill")
	child = flag.String("child", "", "the file that the child of a kill test writes; set by the parent")
)

// TestKillChild is the process that is killed: it records without end and says each
// number that Record returned.
func TestKillChild(t *testing.T) {
	if *child == "" {
		t.Skip("it is run by TestKill")
	}
	l, err := trace.Open(*child, trace.Options{Session: "s-1", Clock: clock.Real{}})
	if err != nil {
		t.Fatal(err)
	}
	for turn := 1; ; turn++ {
		// Long and short lines, so that some are more than one page.
		e, err := l.Record(t.Context(), turn, trace.Steered{Text: strings.Repeat("x", turn%7*3000)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintln(os.Stdout, e.Seq); err != nil {
			return
		}
	}
}

// TestKill kills a process that records, again and again on one file. Everything
// that Record returned must be there, in order and whole.
func TestKill(t *testing.T) {
	const each = 10 // kills of one file: it grows fast, and each child reads it whole
	var path string
	var before int64
	for n := range *kills {
		if n%each == 0 {
			path, before = filepath.Join(t.TempDir(), "s-1.jsonl"), 0
		}
		said := killAfter(t, path, 1+n*13%40)
		var last int64
		for e, err := range trace.Read(path) {
			if err != nil {
				t.Fatalf("after kill %d: %v", n+1, err)
			}
			if _, err := trace.Decode(e); err != nil {
				t.Fatalf("after kill %d: %v", n+1, err)
			}
			last = e.Seq
		}
		if last < said {
			t.Fatalf("kill %d lost events: %d were recorded, %d are there", n+1, said, last)
		}
		if said <= before {
			t.Fatalf("kill %d: the child went on at %d, the file was at %d", n+1, said, before)
		}
		before = last
	}
}

// killAfter starts the child, waits for some of its lines, kills it, and returns
// the last number that it said.
func killAfter(t *testing.T, path string, lines int) int64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKillChild$", "-child="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var last int64
	sc := bufio.NewScanner(out)
	for n := 0; sc.Scan(); n++ {
		if v, err := strconv.ParseInt(sc.Text(), 10, 64); err == nil {
			last = v
		} else {
			t.Log(sc.Text())
		}
		if n == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := sc.Err(); err != nil && err != io.ErrClosedPipe {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	return last
}

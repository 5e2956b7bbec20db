package scenarios_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/cli"
	"github.com/soundstage-dev/soundstage/cmd/soundstage/scenario"
	"github.com/soundstage-dev/soundstage/harness/script"
)

// The same journey in another folder leaves the same store and the same traces, byte
// for byte, after each of its commands.
func TestTwiceGivesTheSame(t *testing.T) {
	for _, name := range []string{"content/rename", "draft/collision", "ledger/doctor-rebuild", "mcp/same-dump", "provider/gemini", "faults/timeout", "faults/slow-to-the-end", "faults/rechunk"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := journey(t, name), journey(t, name)
			if len(first) < 3 || !slices.ContainsFunc(first, func(s string) bool { return strings.Contains(s, "turn.closed") }) {
				t.Fatalf("the journey left %d states and no turn: %.200q", len(first), first)
			}
			for i := range max(len(first), len(second)) {
				if i >= len(first) || i >= len(second) || first[i] != second[i] {
					t.Fatalf("after command %d:\n%s\nand the second time:\n%s", i+1, at(first, i), at(second, i))
				}
			}
		})
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(no such command)"
}

// journey runs a scenario and tells what there was after each of its commands.
func journey(t *testing.T, name string) (states []string) {
	o := options()
	o.Update, o.Record = false, false
	o.Main = func(d script.Doors) int {
		code := cli.Main(d)
		states = append(states, fmt.Sprintf("%s\nexit %d\n%s", strings.Join(d.Args, " "), code, state(t, d.Dir)))
		return code
	}
	var log bytes.Buffer
	res, err := script.Execute(o, name, &log)
	if err != nil || res != (script.Result{Passed: 1}) {
		t.Fatalf("%+v, %v\n%s", res, err, log.Bytes())
	}
	return states
}

// state is the canonical dump and the traces of the studio in dir.
func state(t *testing.T, dir string) string {
	var b bytes.Buffer
	files, err := filepath.Glob(filepath.Join(dir, ".soundstage", "sessions", "*.jsonl"))
	if err != nil {
		t.Error(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&b, "%s\n%s", filepath.Base(f), text)
	}
	if err := scenario.Dump(t.Context(), dir, &b); err != nil {
		t.Error(err)
	}
	return b.String()
}

package scenarios_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/cli"
	"github.com/soundstage-dev/soundstage/cmd/soundstage/scenario"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/script"
)

// sweeping are the scenarios of the sweep: between them they read, draft, apply, ask and
// reach a cap. All of them take some minutes.
var sweeping = flag.String("sweep", "content/rename draft/stale ledger/over-cap", "scenarios to sweep with faults, or all")

// everyFault is what goes wrong with each call in turn; %d is its number.
var everyFault = []string{
	"%d 429 retry-after=1s", "%d 500", "%d 401", "%d timeout after=1m", "%d timeout after=20m", "%d refused",
	"%d reset chunk=0", "%d reset chunk=6", "%d truncate bytes=0", "%d truncate bytes=900", "%d garbage", "%d garbage bytes=600",
	"%d slow 5m", "%d rechunk seed=3",
}

// Whatever goes wrong with whichever call, each program leaves a studio in which nothing
// is half done. What the scenario says of its own is not looked at: most of it is no
// longer so.
func TestNothingIsHalfDone(t *testing.T) {
	names := strings.Fields(*sweeping)
	if *sweeping == "all" {
		names = withCassettes(t)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := cassette.Open(filepath.Join("..", "cassettes", name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close() //nolint:errcheck // only read
			failed := 0
			for call := 1; call <= c.Len(); call++ {
				for _, f := range everyFault {
					failed += sweep(t, name, fmt.Sprintf(f, call))
				}
			}
			if failed < c.Len() {
				t.Errorf("%d turns failed, with %d faults: they do not reach it", failed, c.Len()*len(everyFault))
			}
		})
	}
}

// withCassettes are all scenarios that play a cassette of their own name.
func withCassettes(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("*", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.ToSlash(f), ".txtar")
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		// One that takes a trace away leaves something half done on purpose.
		if bytes.Contains(text, []byte("\ncassette "+name+"\n")) && !bytes.Contains(text, []byte("\nrm ")) {
			names = append(names, name)
		}
	}
	return names
}

// sweep runs a scenario with a fault of ours in place of its own, and is how many turns
// a broken provider ended.
func sweep(t *testing.T, name, fault string) (failed int) {
	t.Helper()
	text, err := os.ReadFile(name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "cassette "):
			lines = append(lines, line, "fault "+fault+"\n")
		case !strings.HasPrefix(line, "fault "):
			lines = append(lines, line)
		}
	}
	root := t.TempDir()
	area, file := filepath.Split(name + ".txtar")
	if err := os.MkdirAll(filepath.Join(root, area), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, area, file), []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Root, o.Update, o.Record = root, false, false
	turns := 0
	o.Main = func(d script.Doors) int {
		code := cli.Main(d)
		if len(d.Args) > 0 && d.Args[0] == "run" {
			turns++
		}
		if code == providerFailed {
			failed++
		}
		if err := scenario.Whole(t.Context(), d.Dir, d.Env); err != nil {
			t.Errorf("%s, fault %s: after %q, exit %d: %v", name, fault, d.Args, code, err)
		}
		return code
	}
	var log bytes.Buffer
	if _, err := script.Execute(o, name, &log); err != nil || turns == 0 && !strings.Contains(string(text), "mcp start") {
		t.Fatalf("%s, fault %s: %d turns, %v\n%s", name, fault, turns, err, log.Bytes())
	}
	return failed
}

// providerFailed is the program's status when a model's provider is to blame.
const providerFailed = 8

package sqlite_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/store/storetest"
)

var (
	kills = flag.Int("kills", 5, "how many processes the kill tests kill")
	child = flag.String("child", "", "job and studio of a child process; set by the parent")
)

// TestChild is the other process of the tests below.
func TestChild(t *testing.T) {
	job, at, ok := strings.Cut(*child, ",")
	if !ok {
		t.Skip("it is run by other tests")
	}
	say := func(line string) { fmt.Fprintln(os.Stdout, line) }
	if job == "hold" {
		holdForever(t, at, say)
	}
	storetest.Child(t, open(t, at), job, func() { _, _ = bufio.NewReader(os.Stdin).ReadString('\n') }, say)
}

// start runs this test's binary as another process.
func start(t *testing.T, job, at string) storetest.Process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-child="+job+","+at)
	in, inw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stderr = in, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close() // the child has it
	t.Cleanup(func() { _ = inw.Close() })
	lines := bufio.NewScanner(out)
	return storetest.Process{
		Next: func() (string, bool) { ok := lines.Scan(); return lines.Text(), ok },
		Go:   func() error { _, err := inw.WriteString("go\n"); return err },
		Kill: func() error { return cmd.Process.Kill() },
		Wait: cmd.Wait,
	}
}

func TestProcesses(t *testing.T) {
	storetest.RunProcesses(t, func(t *testing.T) storetest.Processes {
		at := filepath.Join(t.TempDir(), "studio.db")
		return storetest.Processes{
			Open:  func(t *testing.T) storetest.Backend { return open(t, at) },
			Start: func(t *testing.T, job string) storetest.Process { return start(t, job, at) },
			Kills: *kills,
		}
	})
}

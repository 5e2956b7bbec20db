package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/process"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// role makes the test's program one that tests run.
const role, address = "SOUNDSTAGE_TEST_ROLE", "SOUNDSTAGE_TEST_ADDRESS"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "speak":
		in, _ := io.ReadAll(os.Stdin)
		dir, _ := os.Getwd()
		fmt.Printf("%s|%s|%s", in, filepath.Base(dir), strings.Join(os.Args[1:], ","))
		fmt.Fprint(os.Stderr, strings.Join(names(os.Environ()), " "))
		os.Exit(3)
	case "shout":
		w := bufio.NewWriter(os.Stdout)
		for range process.MaxOutput {
			if _, err := w.WriteString("ab"); err != nil {
				os.Exit(1)
			}
		}
	case "leaf":
		hold()
	case "tree", "leave":
		leaf := exec.Command(os.Args[0])
		leaf.Env = append(os.Environ(), role+"=leaf")
		if os.Getenv(role) == "leave" {
			leaf.Stdout = os.Stdout // an orphan keeps its parent's streams
		}
		if err := leaf.Start(); err != nil {
			os.Exit(1)
		}
		if os.Getenv(role) == "tree" {
			hold()
		}
		os.Stdout.WriteString("left")
	}
	os.Exit(0)
}

// hold says to the test that this process lives, for as long as it does.
func hold() {
	c, err := net.Dial("tcp", os.Getenv(address))
	if err != nil {
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, c)
}

func names(env []string) []string {
	var out []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if name != "SYSTEMROOT" { // Windows starts nothing without
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func command(does string, env ...string) seam.Command {
	c := seam.Command{Args: []string{os.Args[0], "a", "b c"}, Env: map[string]string{role: does}}
	for i := 0; i < len(env); i += 2 {
		c.Env[env[i]] = env[i+1]
	}
	return c
}

func TestRun(t *testing.T) {
	t.Setenv("SOUNDSTAGE_TEST_OURS", "secret")
	dir := filepath.Join(t.TempDir(), "here")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := command("speak", "LANG", "C")
	c.Stdin = []byte("hello")
	out, err := process.Runner{}.Run(t.Context(), dir, c)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%s %d %s", out.Stdout, out.Exit, out.Stderr); got != "hello|here|a,b c 3 LANG "+role {
		t.Errorf("got %q", got)
	}
}

func TestRunFails(t *testing.T) {
	for _, c := range []struct {
		name string
		dir  string
		c    seam.Command
		code fault.Code
	}{
		{"no program", t.TempDir(), seam.Command{Args: []string{"soundstage-no-such-program"}}, process.CodeStart},
		{"nothing", t.TempDir(), seam.Command{}, fault.Invalid},
		{"no folder", filepath.Join(t.TempDir(), "gone"), command("speak"), process.CodeStart},
		{"too much", t.TempDir(), command("shout"), fault.TooLarge},
	} {
		if _, err := (process.Runner{}).Run(t.Context(), c.dir, c.c); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", c.name, err, c.code)
		}
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// Whoever a program started is dead when Run returns: a connection that it held is
// closed by the system.
func TestCancelKillsTheTree(t *testing.T) {
	l := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := process.Runner{}.Run(ctx, t.TempDir(), command("tree", address, l.Addr().String()))
		done <- err
	}()
	var held []net.Conn
	for range 2 {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	cancel()
	if err := <-done; !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("cancelled: %v", err)
	}
	for _, c := range held {
		if n, _ := c.Read(make([]byte, 1)); n != 0 {
			t.Error("a process speaks")
		}
	}
}

func TestNoOrphanStays(t *testing.T) {
	l := listen(t)
	got := make(chan net.Conn, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			got <- c
		}
		close(got)
	}()
	out, err := process.Runner{}.Run(t.Context(), t.TempDir(), command("leave", address, l.Addr().String()))
	if err != nil || string(out.Stdout) != "left" || out.Exit != 0 {
		t.Errorf("%q %d %v", out.Stdout, out.Exit, err)
	}
	_ = l.Close()
	if c := <-got; c != nil { // it may have been killed before it came so far
		if n, _ := c.Read(make([]byte, 1)); n != 0 {
			t.Error("the orphan speaks")
		}
	}
}

// A program that is spoken with ends when its input does, and one that does not end is
// killed, with all that it started.
func TestPipe(t *testing.T) {
	p, err := process.Open(t.Context(), process.PipeOptions{Dir: t.TempDir(), Command: command("speak"), Clock: clock.Real{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte("hello")); err != nil {
		t.Error(err)
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	l := listen(t)
	p, err = process.Open(t.Context(), process.PipeOptions{
		Dir: t.TempDir(), Command: command("tree", address, l.Addr().String()), Clock: clock.NewFixed(clock.Epoch), // its patience takes no time
	})
	if err != nil {
		t.Fatal(err)
	}
	var held []net.Conn
	for range 2 {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range held {
		if n, _ := c.Read(make([]byte, 1)); n != 0 {
			t.Error("a process speaks")
		}
	}
	if _, err := process.Open(t.Context(), process.PipeOptions{Dir: t.TempDir(), Command: seam.Command{Args: []string{"soundstage-no-such-program"}}, Clock: clock.Real{}}); fault.CodeOf(err) != process.CodeStart {
		t.Errorf("no program: %v", err)
	}
}

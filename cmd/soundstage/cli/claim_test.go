package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/script"
)

// A process is the whole program, started by its own test binary.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	err io.ReadCloser
	out bytes.Buffer
}

// start runs the program in w's folder and environment, with pipes that the test
// holds.
func (w *world) start(args ...string) *process {
	w.t.Helper()
	return w.startTo(nil, args...)
}

// startTo is start with another standard output, which is closed here then.
func (w *world) startTo(out *os.File, args ...string) *process {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	p := &process{t: w.t, cmd: exec.CommandContext(w.t.Context(), self, args...)}
	p.cmd.Dir, p.cmd.Stdout = w.dir, &p.out
	p.cmd.Env = []string{"SOUNDSTAGE_TEST_AS_PROGRAM=1"}
	if out != nil {
		defer out.Close()
		p.cmd.Stdout = out
	}
	for k, v := range w.env {
		p.cmd.Env = append(p.cmd.Env, k+"="+v)
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		w.t.Fatal(err)
	}
	if p.err, err = p.cmd.StderrPipe(); err != nil {
		w.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// until reads the process's standard error until it holds text.
func (p *process) until(text string) {
	p.t.Helper()
	var seen []byte
	b := make([]byte, 1)
	for !bytes.Contains(seen, []byte(text)) {
		if _, err := p.err.Read(b); err != nil {
			p.t.Fatalf("the process ended before it said %q: %v\n%s%s", text, err, seen, p.out.Bytes())
		}
		seen = append(seen, b[0])
	}
}

// drain reads the process's standard error to its end.
func (p *process) drain() string {
	raw, _ := io.ReadAll(p.err) // what a killed process said
	return string(raw)
}

// kill ends the process as a power cut would, and waits for it.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	_ = p.cmd.Wait()         // a killed process's status is an error
}

// A session belongs to one run at a time, in all processes, and a killed run gives
// it back.
func TestASessionHasOneOwner(t *testing.T) {
	w := journey(t)
	first := w.start("run", "--mode", "record", "--cassette", "one/first", rename)
	first.until("[y] apply")
	sessions, err := filepath.Glob(filepath.Join(w.dir, stateDir, sessionsDir, "*.jsonl"))
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%v %v", sessions, err)
	}
	id := strings.TrimSuffix(filepath.Base(sessions[0]), ".jsonl")
	before := read(t, sessions[0])
	again := []string{"run", "--session", id, "--mode", "record", "--cassette", "one/second", rename}

	// The turn is alive: it is neither joined nor closed as lost.
	code, _, errs := w.do("y\n", again...)
	if code != exitConflict || !strings.Contains(errs, "SESSION_BUSY") || !strings.Contains(errs, "→") {
		t.Errorf("exit status %d, standard error %q", code, errs)
	}
	if after := read(t, sessions[0]); after != before {
		t.Errorf("the second run wrote into the first one's trace:\n%s", strings.TrimPrefix(after, before))
	}
	w.must("", "trace", "show", id) // reading is free
	w.must("", "doctor")

	first.kill()
	w.env[script.EnvUpstream] = w.write("answer.upstream.yaml", "turns:\n  - say: {text: I am here.}\n")
	w.must("", again...)
	if after := read(t, sessions[0]); strings.Count(after, "STOP_LOST") == 0 {
		t.Error("the killed turn has no end")
	}
	w.must("", "doctor", "--rebuild")
}

// Nothing is left of a session that does not exist.
func TestAnUnknownSessionIsNotMade(t *testing.T) {
	w := journey(t)
	code, _, errs := w.do("", "run", "--session", "s-nobody", "hello")
	if code != exitNotFound || !strings.Contains(errs, "NOT_FOUND") {
		t.Errorf("exit status %d, standard error %q", code, errs)
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, stateDir, sessionsDir, "*")); len(left) != 0 {
		t.Errorf("it left %v", left)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
)

// tapping runs tap before a shell script, with a client that says nothing and stays.
func tapping(t *testing.T, d Doors, script string) (code int, errs string) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skipf("there is no shell here: %v", err)
	}
	var log bytes.Buffer
	d.Args = []string{"mcp", "tap", "--", sh, "-c", script}
	d.Dir, d.Stderr = t.TempDir(), &log
	d.Env = map[string]string{"PATH": os.Getenv("PATH")}
	if d.Clock == nil {
		d.Clock = clock.Real{}
	}
	code = Main(d)
	return code, log.String()
}

func TestTapOfAServerThatEnds(t *testing.T) {
	in, client := io.Pipe()
	defer client.Close() //nolint:errcheck // a pipe in memory
	var out bytes.Buffer
	code, log := tapping(t, Doors{Stdin: in, Stdout: &out}, `printf 'one\ntwo'`)
	if code != exitInternal || !strings.Contains(log, "PROCESS_ENDED") || out.String() != "one\ntwo" {
		t.Errorf("exit status %d, %q, log %s", code, out.String(), log)
	}
}

// A server that does not end when its client has left is ended, with what it started.
func TestTapEndsAServerThatHangs(t *testing.T) {
	code, log := tapping(t, Doors{Stdin: strings.NewReader(""), Stdout: io.Discard, Clock: clock.NewFixed(clock.Epoch)}, `sleep 600 & exec sleep 600`)
	if code != exitOK || !strings.Contains(log, "the server did not end: it is ended") {
		t.Errorf("exit status %d, log %s", code, log)
	}
}

func TestTapIsInterrupted(t *testing.T) {
	in, client := io.Pipe()
	defer client.Close() //nolint:errcheck // a pipe in memory
	signals := make(chan os.Signal, 1)
	out := writerFunc(func(p []byte) (int, error) { // it runs by now
		signals <- os.Interrupt
		return len(p), nil
	})
	code, log := tapping(t, Doors{Stdin: in, Stdout: out, Signals: signals}, `echo; sleep 600`)
	if code != exitCancelled {
		t.Errorf("exit status %d, log %s", code, log)
	}
}

// A client that takes no more is no reason to go on.
func TestTapOfAClientThatIsGone(t *testing.T) {
	in, client := io.Pipe()
	defer client.Close() //nolint:errcheck // a pipe in memory
	code, log := tapping(t, Doors{Stdin: in, Stdout: full{}, Clock: clock.NewFixed(clock.Epoch)}, `echo; sleep 600`)
	if code != exitInvalid || !strings.Contains(log, "takes no more") {
		t.Errorf("exit status %d, log %s", code, log)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

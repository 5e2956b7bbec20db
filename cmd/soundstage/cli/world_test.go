package cli

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// TestMain lets tests start the whole program as a process of its own.
func TestMain(m *testing.M) {
	denied := seam.DenyDefaultTransport()
	os.Exit(denied.Exit(script.Main(m, Process), os.Stderr))
}

// A world is a folder, an environment and a clock in which commands run one after
// the other, in this process.
type world struct {
	t     testing.TB
	dir   string
	env   map[string]string
	clock clock.Clock

	interrupted bool      // an interrupt waits for what is started
	told        io.Writer // reads standard error beside; may be nil
}

func newWorld(t testing.TB) *world {
	dir := t.TempDir()
	return &world{t: t, dir: dir, env: map[string]string{"HOME": filepath.Join(dir, "home"), "TMPDIR": t.TempDir()}, clock: clock.NewFixed(clock.Epoch)}
}

// do runs one command with in as its standard input.
func (w *world) do(in string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	signals := make(chan os.Signal, 1)
	if w.interrupted {
		signals <- os.Interrupt
	}
	stderrs := io.Writer(&errs)
	if w.told != nil {
		stderrs = io.MultiWriter(&errs, w.told)
	}
	code = Main(Doors{
		Args: args, Env: w.env, Dir: w.dir, Clock: w.clock,
		Stdin: strings.NewReader(in), Stdout: &out, Stderr: stderrs, Signals: signals,
	})
	return code, out.String(), errs.String()
}

// requireLoopback skips where nothing can be listened on.
func requireLoopback(t testing.TB) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no loopback here: %v", err)
	}
	_ = l.Close()
}

// must is do for what must succeed.
func (w *world) must(in string, args ...string) string {
	w.t.Helper()
	code, out, errs := w.do(in, args...)
	if code != exitOK {
		w.t.Fatalf("soundstage %q: exit status %d\n%s%s", args, code, out, errs)
	}
	return out
}

// write makes a file in the world's folder.
func (w *world) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// commit makes the world's folder a repository with all that is in it but the
// cassettes.
func (w *world) commit() {
	w.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		w.t.Skipf("there is no git here: %v", err)
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "ada.json"},
		{"-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "one"},
	} {
		cmd := exec.CommandContext(w.t.Context(), "git", args...)
		cmd.Dir, cmd.Env = w.dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// repository is a file of this repository.
func repository(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// ada is a card.
const ada = `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada","description":"A mathematician.","first_mes":"Sit.","extensions":{}}}`

// smallScenario renames her.
const smallScenario = `# A card is renamed, and nothing more: enough to record and to replay.
cassette small/rename
soundstage init .
soundstage import ada.json
answer apply
soundstage run 'Rename Ada to Countess Ada.'
-- ada.json --
` + ada + "\n"

// journey is a studio with Ada in it, a scenario, and the scripted provider of the
// project's own one, which answers when something is recorded.
func journey(t testing.TB) *world {
	w := newWorld(t)
	w.write("scenarios/small/rename.txtar", smallScenario)
	// With the machine's clock the ids of drafts are not known before.
	provider := strings.ReplaceAll(repository(t, "scenarios/content/rename.upstream.yaml"), "contains: d-0001", "contains: Countess")
	w.env[script.EnvUpstream] = w.write("scenarios/small/rename.upstream.yaml", provider)
	w.write("ada.json", ada)
	w.must("", "init", ".")
	w.must("", "import", "ada.json")
	return w
}

// rename is the request of that scenario.
const rename = "Rename Ada to Countess Ada."

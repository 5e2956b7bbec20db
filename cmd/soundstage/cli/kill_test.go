package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/script"
)

var kills = flag.Int("kills", 6, "how many runs of the program the kill test kills")

// A run of the whole program is killed at a random moment: while it records, while it
// applies, while it appends to the trace. Whatever the moment, the piece is whole old
// or whole new, history has no gap, doctor is clean, the session can be gone on
// in, and the recording continues.
//
//	go test ./cmd/soundstage/cli -run TestKills -kills 500 -timeout 60m
func TestKills(t *testing.T) {
	const each = 20 // kills of one studio
	rnd := rand.New(rand.NewPCG(2, uint64(*kills)))
	usual := 200 * time.Millisecond
	var k *killed
	var ended, crashes, applied, resumed int
	for n := range *kills {
		if n%each == 0 {
			k = &killed{world: journey(t)}
			k.look()
		}
		before := k.name
		took, done := k.runAndKill(n, usual/4+time.Duration(rnd.Int64N(int64(usual))))
		if done { // it was faster than its death
			ended++
			usual = max(took, usual/2)
		} else {
			usual += usual / 50
		}
		k.look()
		if k.name != before {
			applied++
		}
		crashes += k.doctor()
		if k.goOn(n) {
			resumed++
		}
		if t.Failed() {
			t.Fatalf("at kill %d", n)
		}
	}
	t.Logf("%d runs: %d ended before they were killed; %d had applied; %d differences that a crash explains; %d recordings continued",
		*kills, ended, applied, crashes, resumed)
}

// A killed is a studio whose runs are killed.
type killed struct {
	*world
	body string // of the piece, with its name taken out
	name string
	revs int
}

// runAndKill starts a turn that renames the card, records it, and kills it after a
// while.
func (k *killed) runAndKill(n int, after time.Duration) (took time.Duration, done bool) {
	k.t.Helper()
	k.env[script.EnvUpstream] = k.write("kill.upstream.yaml", fmt.Sprintf(`turns:
  - say: {calls: [{tool: capability_find, input: {id: character.identity.update}}]}
  - say: {text: I rename her., calls: [{tool: character_identity_update, input: {id: ada, name: Ada %d}}]}
  - say: {text: Done.}
`, n))
	args := append([]string{"run", "--mode", "record", "--cassette", cassetteOf(n), "--gate", "autopilot"}, k.session(n)...)
	p := k.start(append(args, "Rename her.")...)
	begun := time.Now()
	defer time.AfterFunc(after, func() { _ = p.cmd.Process.Kill() }).Stop() // it may have ended
	go func() { _, _ = fmt.Fprint(p.in, "y\n") }()                          // it may be dead
	p.drain()
	err := p.cmd.Wait()
	return time.Since(begun), err == nil
}

func cassetteOf(n int) string { return fmt.Sprintf("kill/k%04d", n) }

// session goes on in the last session every other time.
func (k *killed) session(n int) []string {
	files, err := filepath.Glob(filepath.Join(k.dir, stateDir, sessionsDir, "*.jsonl"))
	if err != nil || len(files) == 0 || n%2 == 0 {
		return nil
	}
	return []string{"--session", strings.TrimSuffix(filepath.Base(files[len(files)-1]), ".jsonl")}
}

// look reads the piece and its history, and compares them with what they were.
func (k *killed) look() {
	k.t.Helper()
	var piece pieceShow
	var history pieceHistory
	k.decode(&piece, "piece", "show", "character/ada")
	k.decode(&history, "piece", "history", "character/ada")
	var body struct {
		Identity struct{ Name string }
	}
	if err := json.Unmarshal(piece.Body, &body); err != nil {
		k.t.Fatal(err)
	}
	k.name = body.Identity.Name
	rest := strings.Replace(string(piece.Body), `"name":"`+k.name+`"`, `"name":""`, 1)
	switch {
	case k.body == "":
		k.body = rest
	case rest != k.body:
		k.t.Errorf("the piece is neither old nor new:\n%s\n%s", rest, k.body)
	}
	if piece.Title != k.name {
		k.t.Errorf("the title is %q and the name %q", piece.Title, k.name)
	}
	for i, r := range history.Revisions {
		if r.Revision != int64(i)+1 {
			k.t.Errorf("revision %d is number %d of the history", r.Revision, i+1)
		}
	}
	if int64(len(history.Revisions)) != piece.Revision || piece.Revision < int64(k.revs) {
		k.t.Errorf("revision %d, history has %d, and there were %d", piece.Revision, len(history.Revisions), k.revs)
	}
	k.revs = len(history.Revisions)
}

func (k *killed) decode(v any, args ...string) {
	k.t.Helper()
	if err := json.Unmarshal([]byte(k.must("", append(args, "--json")...)), v); err != nil {
		k.t.Fatal(err)
	}
}

// doctor compares store and traces; it is how many differences a crash explains.
func (k *killed) doctor() int {
	k.t.Helper()
	var out doctorResult
	code, text, errs := k.do("", "doctor", "--rebuild", "--json")
	if err := json.Unmarshal([]byte(text), &out); err != nil || code != exitOK || out.Audit == nil {
		k.t.Fatalf("doctor: exit status %d, %v\n%s%s", code, err, text, errs)
	}
	return len(out.Audit.Differences)
}

// goOn continues the recording, if one was broken off, in a session of its own.
func (k *killed) goOn(n int) bool {
	k.t.Helper()
	path := filepath.Join(k.dir, cassettesDir, filepath.FromSlash(cassetteOf(n)+".yaml"))
	if _, err := os.Stat(path); err == nil {
		k.must("", "cassette", "verify", cassetteOf(n))
		return false
	}
	episodes, err := cassette.Resume(path)
	if err != nil {
		k.t.Fatal(err)
	}
	k.env[script.EnvUpstream] = k.write("on.upstream.yaml", "turns:\n  - say: {text: I am here.}\n")
	k.must("", "run", "--mode", "record", "--continue", "--cassette", cassetteOf(n), "Are you there?")
	var shown cassetteShow
	k.decode(&shown, "cassette", "show", cassetteOf(n))
	if len(shown.List) != len(episodes)+1 {
		k.t.Errorf("%d episodes were recorded before the kill, and the continued recording has %d", len(episodes), len(shown.List))
	}
	for i, e := range episodes {
		if i < len(shown.List) && shown.List[i].Key != e.Key {
			k.t.Errorf("episode %d is another one", i+1)
		}
	}
	k.must("", "cassette", "verify", cassetteOf(n))
	return len(episodes) > 0
}

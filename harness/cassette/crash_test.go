package cassette_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

var (
	kills    = flag.Int("kills", 15, "how often the recording process is killed")
	killSeed = flag.Uint64("killseed", 1, "seed of the moments at which it is killed")
	crashing = flag.String("crashing", "", "cassette that this process records until it is killed (for the test itself)")
)

// perTake is how many episodes each take of the crashing process has.
const perTake = 5

// take is an episode that says which take it belongs to and where.
func take(n, i int) cassette.Episode {
	e := episode(fmt.Sprintf("take %d/%d", n, i))
	e.Lane = strconv.Itoa(n)
	e.Request.Body = bytes.Repeat([]byte("some words\n"), 1+(n*31+i*977)%4000)
	return e
}

// takeOf is the number of the take that an episode belongs to.
func takeOf(t *testing.T, e cassette.Episode) int {
	t.Helper()
	n, err := strconv.Atoi(e.Lane)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCrashingProcess is the process that TestKill kills: it records take after
// take over the same cassette, and says "a" after each Append, "c" after each
// Commit.
func TestCrashingProcess(t *testing.T) {
	if *crashing == "" {
		t.Skip("is the other process of TestKill")
	}
	say := func(what string) {
		if _, err := os.Stdout.WriteString(what); err != nil {
			t.Fatal(err)
		}
	}
	for {
		n := nextTake(t, *crashing)
		w := create(t, *crashing, cassette.CreateOptions{Replace: true, Continue: true})
		for i := w.Len(); i < perTake; i++ {
			if err := w.Append(take(n, i)); err != nil {
				t.Fatal(err)
			}
			say("a")
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		say("c")
	}
}

// nextTake is the take of the journal, or the one after the cassette's.
func nextTake(t *testing.T, path string) int {
	t.Helper()
	left, err := cassette.Resume(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		return takeOf(t, left[0])
	}
	return 1 + wholeTake(t, path)
}

// wholeTake is the take that the cassette holds, checked to be whole; 0 when
// there is none.
func wholeTake(t *testing.T, path string) int {
	t.Helper()
	if err := cassette.Verify(path); fault.CodeOf(err) == cassette.CodeMissing {
		return 0
	} else if err != nil {
		t.Fatal(err)
	}
	c := open(t, path)
	if c.Len() != perTake {
		t.Fatalf("the cassette has %d episodes, want %d", c.Len(), perTake)
	}
	first, err := c.Episode(0)
	if err != nil {
		t.Fatal(err)
	}
	n := takeOf(t, first)
	for i := range perTake {
		if e, err := c.Episode(i); err != nil || e.Key != take(n, i).Key {
			t.Fatalf("episode %d is not of take %d (%v)", i, n, err)
		}
	}
	return n
}

// A process that records is killed at random moments. Whenever that is, the
// cassette is a whole take or absent and never an older one than before, and what
// Append has acknowledged is resumed.
func TestKill(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a killed process keeps its files locked for a while here")
	}
	path := filepath.Join(t.TempDir(), "c.yaml")
	r := rand.New(rand.NewPCG(*killSeed, 0))
	whole, inJournal := 0, 0
	for range *kills {
		said := killed(t, "-test.run=^TestCrashingProcess$", "-crashing="+path, 1+r.IntN(4*perTake))
		acknowledged, want := inJournal, whole
		for _, c := range said {
			if acknowledged++; c == 'c' {
				acknowledged, want = 0, want+1
			}
		}
		whole = wholeTake(t, path)
		if whole < want || whole > want+1 {
			t.Fatalf("after %q the cassette holds take %d; take %d was committed", said, whole, want)
		}
		left, err := cassette.Resume(path)
		if err != nil {
			t.Fatalf("after %q: %v", said, err)
		}
		if whole == want && len(left) < acknowledged {
			t.Fatalf("after %q %d episodes are resumed, %d were acknowledged", said, len(left), acknowledged)
		}
		for i, e := range left {
			if e.Key != take(whole+1, i).Key {
				t.Fatalf("after %q episode %d of the journal is not of take %d", said, i, whole+1)
			}
		}
		inJournal = len(left)
	}
	if whole == 0 {
		t.Error("no take was ever committed: the kills prove nothing")
	}
	t.Logf("%d kills, %d takes committed", *kills, whole)
}

// killed starts this test's program as a process that dies, kills it after it said n
// letters or a few more, and returns all it said.
func killed(t *testing.T, run, path string, n int) []byte {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	p, err := os.StartProcess(exe, []string{exe, run, path},
		&os.ProcAttr{Files: []*os.File{nil, to, to}})
	to.Close()
	if err != nil {
		t.Skipf("this machine starts no process: %v", err)
	}
	said := make([]byte, n)
	got, readErr := io.ReadFull(from, said)
	if err := p.Kill(); err != nil && readErr == nil {
		t.Error(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Error(err)
	}
	rest, err := io.ReadAll(from)
	if err != nil {
		t.Error(err)
	}
	said = append(said[:got], rest...)
	if readErr != nil || len(bytes.Trim(said, "ac")) > 0 {
		t.Fatalf("the recording process failed by itself: %s", said)
	}
	return said
}

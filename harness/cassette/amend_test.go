package cassette_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

func amend(t testing.TB, path string, o cassette.AmendOptions) *cassette.Writer {
	t.Helper()
	w, err := cassette.Amend(open(t, path), o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// episodeLines are the episodes' lines of a file.
func episodeLines(t testing.TB, path string) (out []string) {
	t.Helper()
	for line := range strings.Lines(string(read(t, path))) {
		if strings.HasPrefix(line, "- ") {
			out = append(out, line)
		}
	}
	return out
}

// An addition is an episode and where it goes.
type addition struct {
	name string
	at   cassette.Place
}

func TestAmend(t *testing.T) {
	before := cassette.Place{After: -1}
	after := func(i int) cassette.Place { return cassette.Place{After: i} }
	instead := func(i int) cassette.Place { return cassette.Place{After: i, Instead: true} }
	tests := []struct {
		name, base string
		add        []addition
		drop       []int
		want       string // names; what is new in capitals
	}{
		{"nothing", "a b", nil, nil, "a b"},
		{"before", "a b", []addition{{"X", before}}, nil, "X a b"},
		{"between, in order", "a b", []addition{{"X", after(0)}, {"Y", after(0)}, {"Z", after(1)}}, nil, "a X Y b Z"},
		{"far behind", "a", []addition{{"X", after(99)}}, nil, "a X"},
		{"instead", "a b c", []addition{{"X", instead(1)}, {"Y", after(1)}}, nil, "a X Y c"},
		{"instead by two", "a b", []addition{{"X", instead(0)}, {"Y", instead(0)}}, nil, "X Y b"},
		{"dropped", "a b c", nil, []int{0, 2}, "b"},
		{"all dropped", "a", nil, []int{0}, ""},
		{"into nothing", "", []addition{{"X", after(0)}, {"Y", after(0)}}, nil, "X Y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var base []cassette.Episode
			for _, name := range strings.Fields(tt.base) {
				base = append(base, episode(name))
			}
			path := record(t, header(), base...)
			old, lines := read(t, path), episodeLines(t, path)
			w := amend(t, path, cassette.AmendOptions{})
			for _, a := range tt.add {
				if err := w.AppendAt(episode(a.name), a.at); err != nil {
					t.Fatal(err)
				}
			}
			for _, i := range tt.drop {
				w.Drop(i)
			}
			if !bytes.Equal(read(t, path), old) {
				t.Error("the cassette changed before Commit")
			}
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
			want := strings.Fields(tt.want)
			c := open(t, path)
			if err := cassette.Verify(path); err != nil || c.Len() != len(want) {
				t.Fatalf("%d episodes, want %v; %v", c.Len(), want, err)
			}
			for i, line := range episodeLines(t, path) {
				if e, err := c.Episode(i); err != nil || e.Key != episode(want[i]).Key {
					t.Errorf("episode %d is not %q: %v", i, want[i], err)
				}
				if want[i] >= "a" && !slices.Contains(lines, line) {
					t.Errorf("%q is not the line that it was", want[i])
				}
			}
			for i, at := range w.Lines() {
				if want[at] != tt.add[i].name {
					t.Errorf("addition %d is said to be episode %d", i, at)
				}
			}
			if got := c.Header(); string(got.Prices) != string(header().Prices) || !slices.Equal(got.Rules, header().Rules) {
				t.Errorf("header %+v", got)
			}
			if left, err := filepath.Glob(path + ".*"); err != nil || left != nil {
				t.Errorf("left over: %v, %v", left, err)
			}
			if tt.want == tt.base && !bytes.Equal(read(t, path), old) {
				t.Error("a recording of nothing changed the file")
			}
		})
	}
}

func TestAmendRefuses(t *testing.T) {
	path := record(t, header(), episode("a"), episode("b"))
	w := amend(t, path, cassette.AmendOptions{})
	wantCode(t, w.AppendAt(episode("x"), cassette.Place{After: 2, Instead: true}), fault.Invalid)
	_, err := cassette.Amend(open(t, path), cassette.AmendOptions{})
	wantCode(t, err, cassette.CodeUnfinished) // the lock
	appendAll(t, w, "x")
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	_, err = cassette.Amend(open(t, path), cassette.AmendOptions{})
	wantCode(t, err, cassette.CodeUnfinished)
	_, err = cassette.CreateWith(path, header(), cassette.CreateOptions{Replace: true, Continue: true})
	wantCode(t, err, fault.Conflict)

	// Another cassette takes the place: what was recorded into the first stays.
	journal := read(t, path+".part")
	other := read(t, record(t, header(), episode("c")))
	old := read(t, path)
	if err := os.WriteFile(path, other, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = cassette.Amend(open(t, path), cassette.AmendOptions{Continue: true})
	wantCode(t, err, fault.Conflict)
	if !bytes.Equal(read(t, path+".part"), journal) {
		t.Error("the journal was not left alone")
	}
	if err := os.WriteFile(path, old, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := amend(t, path, cassette.AmendOptions{Continue: true}).Commit(); err != nil {
		t.Fatal(err)
	}
	if c := open(t, path); c.Len() != 3 {
		t.Errorf("%d episodes, want 3", c.Len())
	}

	// A journal that is in the cassette already is done with.
	if err := os.WriteFile(path+".part", journal, 0o644); err != nil {
		t.Fatal(err)
	}
	if w := amend(t, path, cassette.AmendOptions{}); w.Len() != 0 {
		t.Errorf("begins with %d episodes", w.Len())
	} else if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
}

// An amendment that is cut at any byte of its journal, or has one byte changed, is gone
// on with or refused, and never puts an episode in another place.
func TestAmendmentCutOrChangedAnywhere(t *testing.T) {
	path := record(t, header(), episode("a"), episode("b"))
	old := read(t, path)
	add := []addition{{"X", cassette.Place{After: 0}}, {"Y", cassette.Place{After: 1, Instead: true}}}
	all := func(w *cassette.Writer) {
		t.Helper()
		for _, a := range add[w.Len():] {
			if err := w.AppendAt(episode(a.name), a.at); err != nil {
				t.Fatal(err)
			}
		}
	}
	w := amend(t, path, cassette.AmendOptions{})
	all(w)
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	journal := read(t, path+".part")
	w = amend(t, path, cassette.AmendOptions{Continue: true})
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	whole := read(t, path)
	goOn := func(damaged []byte) {
		t.Helper()
		for name, data := range map[string][]byte{path: old, path + ".part": damaged} {
			if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		w, err := cassette.Amend(open(t, path), cassette.AmendOptions{Continue: true})
		if err != nil {
			if code := fault.CodeOf(err); code != cassette.CodeDamaged && code != fault.Conflict && code != cassette.CodeNewer {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		w.WithoutSync()
		all(w)
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); !bytes.Equal(got, whole) {
			t.Fatalf("the journal\n%q\nmakes\n%q\nand not\n%q", damaged, got, whole)
		}
	}
	for cut := range len(journal) + 1 {
		goOn(journal[:cut])
	}
	for at := range journal {
		flipped := bytes.Clone(journal)
		flipped[at] ^= 0x01
		goOn(flipped)
	}
}

var amending = flag.String("amending", "", "cassette that this process records into until it is killed (for the test itself)")

// TestAmendingProcess is the process that TestKillWhileAmending kills: it adds take
// after take, and says "a" after each AppendAt, "c" after each Commit.
func TestAmendingProcess(t *testing.T) {
	if *amending == "" {
		t.Skip("is the other process of TestKillWhileAmending")
	}
	say := func(what string) {
		if _, err := os.Stdout.WriteString(what); err != nil {
			t.Fatal(err)
		}
	}
	for {
		c := open(t, *amending)
		n := takesIn(t, *amending) + 1
		w, err := cassette.Amend(c, cassette.AmendOptions{Continue: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := w.Len(); i < perTake; i++ {
			if err := w.AppendAt(take(n, i), cassette.Place{After: (n*7+i*3)%(c.Len()+1) - 1}); err != nil {
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

// takesIn is how many takes a cassette holds beside the base, checked to be whole.
func takesIn(t *testing.T, path string) int {
	t.Helper()
	if err := cassette.Verify(path); err != nil {
		t.Fatal(err)
	}
	c, counts := open(t, path), map[int]int{}
	for i := range c.Len() {
		e, err := c.Episode(i)
		if err != nil {
			t.Fatal(err)
		}
		if e.Lane == "base" {
			continue
		}
		n, err := strconv.Atoi(e.Lane)
		if err != nil {
			t.Fatal(err)
		}
		counts[n]++
	}
	for n, count := range counts {
		if count != perTake || n > len(counts) {
			t.Fatalf("take %d of %d has %d episodes", n, len(counts), count)
		}
	}
	return len(counts)
}

// A process that records into a cassette is killed at random moments. Whenever that is,
// the cassette holds whole takes, none less than before, and all of its first lines.
func TestKillWhileAmending(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a killed process keeps its files locked for a while here")
	}
	var base []cassette.Episode
	for i := range 6 {
		e := episode(fmt.Sprint("base ", i))
		e.Lane = "base"
		base = append(base, e)
	}
	path := record(t, header(), base...)
	lines := episodeLines(t, path)
	r := rand.New(rand.NewPCG(*killSeed, 1))
	takes := 0
	for range *kills {
		said := killed(t, "-test.run=^TestAmendingProcess$", "-amending="+path, 1+r.IntN(3*perTake))
		want := takes + bytes.Count(said, []byte("c"))
		if takes = takesIn(t, path); takes < want || takes > want+1 {
			t.Fatalf("after %q the cassette holds %d takes; %d were committed", said, takes, want)
		}
		at := 0
		for _, line := range episodeLines(t, path) {
			if at < len(lines) && line == lines[at] {
				at++
			}
		}
		if at != len(lines) {
			t.Fatalf("after %q line %d of the first ones is gone or changed", said, at+1)
		}
	}
	if takes == 0 {
		t.Error("no take was ever committed: the kills prove nothing")
	}
	t.Logf("%d kills, %d takes committed", *kills, takes)
}

package cassette_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

func create(t testing.TB, path string, o cassette.CreateOptions) *cassette.Writer {
	t.Helper()
	w, err := cassette.CreateWith(path, header(), o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func appendAll(t testing.TB, w *cassette.Writer, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := w.Append(episode(name)); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCreateRefusesWhatIsThere(t *testing.T) {
	path := record(t, header(), episode("old"))
	_, err := cassette.Create(path, header())
	wantCode(t, err, cassette.CodeExists)
	before := read(t, path)

	w := create(t, path, cassette.CreateOptions{Replace: true})
	_, err = cassette.CreateWith(path, header(), cassette.CreateOptions{Replace: true})
	wantCode(t, err, cassette.CodeUnfinished) // the lock
	appendAll(t, w, "new", "newer")
	if !bytes.Equal(read(t, path), before) {
		t.Error("the old cassette changed before Commit")
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if c := open(t, path); c.Len() != 2 {
		t.Errorf("%d episodes after replacing, want 2", c.Len())
	}
	left, err := filepath.Glob(path + ".*")
	if err != nil || left != nil {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestAWriterThatEndedRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	w := create(t, path, cassette.CreateOptions{})
	appendAll(t, w, "a")
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	wantCode(t, w.Append(episode("b")), fault.Invalid)
	wantCode(t, w.Commit(), fault.Invalid)
	if err := w.Abandon(); err != nil {
		t.Error(err)
	}
}

// Commit does not overwrite what came while it recorded.
func TestCommitRefusesACassetteThatCameMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	w := create(t, path, cassette.CreateOptions{})
	appendAll(t, w, "a")
	if err := os.WriteFile(path, []byte("somebody's"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantCode(t, w.Commit(), cassette.CodeExists)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Errorf("tried again: %v", err)
	}
}

// A recording that is cut at any byte of its journal is gone on with, and ends in
// the bytes of one that was not cut.
func TestResumeAtEveryByte(t *testing.T) {
	whole := read(t, record(t, header(), episode("a"), episode("b"), episode("c")))
	path := filepath.Join(t.TempDir(), "c.yaml")
	w := create(t, path, cassette.CreateOptions{})
	appendAll(t, w, "a", "b")
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	journal := read(t, path+".part")
	first := bytes.Index(journal, []byte("\n- ")) + 1
	second := first + bytes.IndexByte(journal[first:], '\n') + 1
	for cut := range len(journal) + 1 {
		if err := os.WriteFile(path+".part", journal[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, end := range []int{second, len(journal)} {
			if cut >= end {
				want++
			}
		}
		resumeOnce(t, path, want, cut%97 == 0 || cut == len(journal), whole)
	}
}

func resumeOnce(t *testing.T, path string, want int, commit bool, whole []byte) {
	t.Helper()
	names := []string{"a", "b", "c"}
	got, err := cassette.Resume(path)
	if err != nil || len(got) != want {
		t.Fatalf("resumed %d episodes, error %v, want %d", len(got), err, want)
	}
	for i, e := range got {
		if e.Key != episode(names[i]).Key {
			t.Errorf("episode %d has key %q", i, e.Key)
		}
	}
	if want > 0 {
		_, err := cassette.Create(path, header())
		wantCode(t, err, cassette.CodeUnfinished)
	}
	if !commit {
		return
	}
	w := create(t, path, cassette.CreateOptions{Continue: true})
	if w.Len() != want {
		t.Errorf("goes on after %d episodes, want %d", w.Len(), want)
	}
	appendAll(t, w, names[want:]...)
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); !bytes.Equal(got, whole) {
		t.Errorf("resumed and whole recording differ:\n%s\n%s", got, whole)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func TestJournalThatWasAltered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	w := create(t, path, cassette.CreateOptions{})
	appendAll(t, w, "a", "b")
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	journal := read(t, path+".part")
	altered := bytes.Replace(journal, []byte("POST"), []byte("PUST"), 1) // in the first of two
	if err := os.WriteFile(path+".part", altered, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := cassette.Resume(path)
	wantCode(t, err, cassette.CodeDamaged)
	_, err = cassette.CreateWith(path, header(), cassette.CreateOptions{Continue: true})
	wantCode(t, err, cassette.CodeDamaged)
	if got := read(t, path+".part"); !bytes.Equal(got, altered) {
		t.Error("the altered journal was not left alone")
	}
}

func TestContinueUnderOtherRules(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	w := create(t, path, cassette.CreateOptions{})
	appendAll(t, w, "a")
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	_, err := cassette.CreateWith(path, cassette.Header{Rules: []string{"other/1"}}, cassette.CreateOptions{Continue: true})
	wantCode(t, err, fault.Conflict)
}

// A crash between the rename and the removal of the journal leaves a journal
// whose episodes are all in the cassette: there is nothing to resume.
func TestJournalOfACommittedCassette(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	w := create(t, path, cassette.CreateOptions{})
	appendAll(t, w, "a")
	journal := read(t, path+".part")
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".part", journal, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := cassette.Resume(path); err != nil || got != nil {
		t.Errorf("resumed %d episodes, error %v", len(got), err)
	}
	w = create(t, path, cassette.CreateOptions{Replace: true})
	if w.Len() != 0 {
		t.Errorf("begins with %d episodes", w.Len())
	}
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
}

func TestAbandonOfNothingLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	for range 2 {
		if err := create(t, path, cassette.CreateOptions{}).Abandon(); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := filepath.Glob(path + "*"); err != nil || left != nil {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestWeakestOrigin(t *testing.T) {
	for _, tt := range []struct {
		episodes []cassette.Origin
		want     cassette.Origin
	}{
		{nil, cassette.Scripted},
		{[]cassette.Origin{cassette.Live}, cassette.Live},
		{[]cassette.Origin{cassette.Live, cassette.Imported, cassette.Live}, cassette.Imported},
		{[]cassette.Origin{cassette.Imported, cassette.Scripted, cassette.Live}, cassette.Scripted},
	} {
		var episodes []cassette.Episode
		for i, o := range tt.episodes {
			e := episode(fmt.Sprint(i))
			e.Origin = o
			episodes = append(episodes, e)
		}
		if got := open(t, record(t, header(), episodes...)).Header().Origin; got != tt.want {
			t.Errorf("%v make %q, want %q", tt.episodes, got, tt.want)
		}
	}
}

func TestAppendFromManyGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	w := create(t, path, cassette.CreateOptions{})
	w.WithoutSync()
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			if err := w.Append(episode(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	c := open(t, path)
	for i := range 64 {
		wg.Go(func() {
			if found := c.ByKey(episode(fmt.Sprint(i)).Key); len(found) != 1 {
				t.Errorf("episode %d is found at %v", i, found)
			}
			if _, err := c.Episode(i); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if c.Len() != 64 {
		t.Errorf("%d episodes", c.Len())
	}
}

func TestAppendRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	w := create(t, path, cassette.CreateOptions{})
	for name, spoil := range map[string]func(e *cassette.Episode){
		"no key":           func(e *cassette.Episode) { e.Key = "" },
		"key of capitals":  func(e *cassette.Episode) { e.Key = strings.Repeat("A", 64) },
		"short raw":        func(e *cassette.Episode) { e.Raw = "ab" },
		"raw of zeros":     func(e *cassette.Episode) { e.Raw = strings.Repeat("0", 32) },
		"no kind":          func(e *cassette.Episode) { e.Kind = "" },
		"no origin":        func(e *cassette.Episode) { e.Origin = "" },
		"a time":           func(e *cassette.Episode) { e.At = "2026-01-02T00:00:00Z" },
		"no method":        func(e *cassette.Episode) { e.Request.Method = "" },
		"lane not UTF-8":   func(e *cassette.Episode) { e.Lane = "\xff" },
		"url too long":     func(e *cassette.Episode) { e.Request.URL = strings.Repeat("u", 1<<16+1) },
		"header name":      func(e *cassette.Episode) { e.Request.Header = http.Header{"a b": {"c"}} },
		"long header name": func(e *cassette.Episode) { e.Response.Header = http.Header{strings.Repeat("a", 257): nil} },
		"header value":     func(e *cassette.Episode) { e.Response.Header = http.Header{"A": {"\xe9"}} },
		"end":              func(e *cassette.Episode) { e.Response.End = "gone" },
		"no status":        func(e *cassette.Episode) { e.Response.Status = 0 },
		"status of error":  func(e *cassette.Episode) { e.Response.End = "error" },
		"duration":         func(e *cassette.Episode) { e.Response.Duration = -time.Second },
		"chunks too short": func(e *cassette.Episode) { e.Response.Chunks = []cassette.Chunk{{Len: 1}} },
		"chunks too long":  func(e *cassette.Episode) { e.Response.Chunks = []cassette.Chunk{{Len: 1 << 20}} },
		"chunks go back":   func(e *cassette.Episode) { e.Response.Chunks[0].AtMS = 99 },
		"chunk too late":   func(e *cassette.Episode) { e.Response.Chunks[1].AtMS = 1 << 40 },
	} {
		e := episode("a")
		spoil(&e)
		if err := w.Append(e); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: error %v, want code %s", name, err, fault.Invalid)
		}
	}
	for _, h := range []cassette.Header{
		{Rules: []string{"a b"}},
		{Rules: []string{""}},
		{Rules: make([]string, 65)},
		{KeyVersion: -1},
		{Origin: "heard"},
		{Prices: []byte(`{"a": 1}`)},
		{Prices: []byte(`[]`)},
		{Prices: []byte(`{"a":1,"a":2}`)},
		{Prices: []byte("{\"\x7f\":1}")},
		{Prices: []byte(`{"` + strings.Repeat("a", 300) + `":1}`)},
	} {
		if _, err := cassette.Create(path+"2", h); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("header %.200v: error %v, want code %s", h, err, fault.Invalid)
		}
	}
	if w.Len() != 0 {
		t.Errorf("%d episodes were taken", w.Len())
	}
	appendAll(t, w, "a")
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

var large = flag.Bool("large", false, "also write lines as long as the bound")

// The longest line is written and read back; one byte more is refused.
func TestLineBound(t *testing.T) {
	if !*large {
		t.Skip("writes 64 MiB: ask for it with -large")
	}
	path := filepath.Join(t.TempDir(), "c.yaml")
	w := create(t, path, cassette.CreateOptions{})
	w.WithoutSync()
	e := episode("a")
	e.Response.Chunks = nil
	e.Response.Body = nil
	if err := w.Append(e); err != nil {
		t.Fatal(err)
	}
	journal := read(t, path+".part")
	short := len(journal) - bytes.Index(journal, []byte("- {"))
	e.Response.Body = bytes.Repeat([]byte("x"), cassette.MaxLine-short)
	if err := w.Append(e); err != nil {
		t.Errorf("a line of exactly the bound: %v", err)
	}
	e.Response.Body = append(e.Response.Body, 'x')
	wantCode(t, w.Append(e), fault.TooLarge)
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	if got, err := cassette.Resume(path); err != nil || len(got) != 2 {
		t.Errorf("%d episodes read back, error %v", len(got), err)
	}
}

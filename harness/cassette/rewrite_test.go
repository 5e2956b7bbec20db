package cassette_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	govcr "github.com/dnaeon/go-vcr/v2/cassette"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

func keep(int) (cassette.Change, error) { return cassette.Change{}, nil }

// rewrite changes the file at path and returns its new bytes.
func rewrite(t *testing.T, path string, h cassette.Header, change func(i int) (cassette.Change, error)) []byte {
	t.Helper()
	changed, err := cassette.Rewrite(open(t, path), h, change)
	if err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	if err := cassette.Verify(path); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(path + ".*")
	if err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	return read(t, path)
}

func lines(b []byte) []string { return strings.SplitAfter(string(b), "\n") }

func TestRewriteKeepsWhatIsNotChanged(t *testing.T) {
	path := record(t, header(), episode("a"), episode("b"), episode("c"))
	old := lines(read(t, path))
	if changed, err := cassette.Rewrite(open(t, path), header(), keep); changed || err != nil {
		t.Errorf("nothing is to be changed, and it is %v, %v", changed, err)
	}
	b := episode("b")
	b.Response.Body, b.Response.Chunks = []byte("other"), nil
	got := lines(rewrite(t, path, header(), func(i int) (cassette.Change, error) {
		return map[int]cassette.Change{1: {Episode: &b}}[i], nil
	}))
	for i := range old {
		if same := old[i] == got[i]; same != (i != 9 && i != 11) { // the second episode and the end
			t.Errorf("line %d: the same is %v", i+1, same)
		}
	}
	e, err := open(t, path).Episode(1)
	if err != nil || string(e.Response.Body) != "other" {
		t.Errorf("%q, %v", e.Response.Body, err)
	}
	got = lines(rewrite(t, path, cassette.Header{Rules: []string{"call-ids/1"}}, func(i int) (cassette.Change, error) {
		return map[int]cassette.Change{0: {Drop: true}, 2: {Key: hash("new")}}[i], nil
	}))
	c := open(t, path)
	if c.Len() != 2 || c.ByKey(hash("new")) == nil || !reflect.DeepEqual(c.Header().Rules, []string{"call-ids/1"}) || c.Header().Prices != nil {
		t.Errorf("%d episodes, header %+v", c.Len(), c.Header())
	}
	const head = 13 + 64 + 11 + 32 + 11 + 8
	if last := got[len(got)-3]; last[head:] != old[10][head:] {
		t.Errorf("a new key changes more than the head:\n%s\n%s", last, old[10])
	}
	rewrite(t, path, header(), func(int) (cassette.Change, error) { return cassette.Change{Drop: true}, nil })
	if c := open(t, path); c.Len() != 0 {
		t.Errorf("%d episodes", c.Len())
	}
}

func TestRewriteRefuses(t *testing.T) {
	path := record(t, header(), episode("a"))
	drop := func(int) (cassette.Change, error) { return cassette.Change{Drop: true}, nil }
	c := open(t, path)
	other := record(t, header(), episode("b"))
	if err := os.WriteFile(path, read(t, other), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := cassette.Rewrite(c, header(), drop)
	wantCode(t, err, fault.Conflict)

	w := create(t, path, cassette.CreateOptions{Replace: true})
	if err := w.Append(episode("c")); err != nil {
		t.Fatal(err)
	}
	_, err = cassette.Rewrite(open(t, path), header(), drop)
	wantCode(t, err, cassette.CodeUnfinished)
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	_, err = cassette.Rewrite(open(t, path), header(), drop)
	wantCode(t, err, cassette.CodeUnfinished)
	if _, err := cassette.Resume(path); err != nil {
		t.Errorf("the recording is gone: %v", err)
	}

	bad := episode("a")
	bad.Key = "x"
	want := errors.New("mine")
	for _, ch := range []cassette.Change{{Episode: &bad}, {Key: "x"}} {
		_, err = cassette.Rewrite(open(t, other), header(), func(int) (cassette.Change, error) { return ch, nil })
		wantCode(t, err, fault.Invalid)
	}
	if _, err = cassette.Rewrite(open(t, other), header(), func(int) (cassette.Change, error) { return cassette.Change{}, want }); !errors.Is(err, want) {
		t.Error(err)
	}
	if left, err := filepath.Glob(other + "?*"); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// blobsOf is where the bodies of a cassette are that stand apart.
func blobsOf(path string) string { return strings.TrimSuffix(path, ".yaml") + ".blobs" }

func TestBodiesThatStandApart(t *testing.T) {
	binary := episode("binary")
	binary.Response.Body, binary.Response.Chunks = []byte("\x80\x00 lone"), nil
	episodes := []cassette.Episode{episode("a"), binary, episode("c")}
	path := record(t, header(), episodes...)
	inline := read(t, path)
	rewrite(t, path, header(), func(i int) (cassette.Change, error) {
		return []cassette.Change{{Episode: &episodes[0], Apart: []string{"request", "response"}}, {Episode: &episodes[1], Apart: []string{"response"}}, {}}[i], nil
	})
	c := open(t, path)
	for i, want := range episodes {
		got, err := c.Episode(i)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("episode %d: %+v, %v", i, got, err)
		}
		r, err := c.Response(i)
		if err != nil || !reflect.DeepEqual(r, want.Response) {
			t.Errorf("response %d: %+v, %v", i, r, err)
		}
		if _, body := c.Glance(i); !bytes.Equal(body, cassette.Quote(want.Request.Body)) {
			t.Errorf("glance %d: %s", i, body)
		}
	}
	if apart, err := c.Apart(0); err != nil || !slices.Equal(apart, []string{"request", "response"}) {
		t.Errorf("%v, %v", apart, err)
	}
	whole := read(t, blobsOf(path))
	if n := bytes.Count(whole, []byte("\n")); n != 5 {
		t.Errorf("%d lines:\n%s", n, whole)
	}
	for i := range whole {
		for name, data := range map[string][]byte{"cut": whole[:i], "altered": alter(whole, i)} {
			if err := os.WriteFile(blobsOf(path), data, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := cassette.Verify(path); fault.CodeOf(err) != cassette.CodeBlob {
				t.Fatalf("%s at %d: %v", name, i, err)
			}
		}
	}
	if err := os.Remove(blobsOf(path)); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, path).Episode(0)
	wantCode(t, err, cassette.CodeBlob)
	if _, err := open(t, path).Episode(2); err != nil {
		t.Errorf("an episode that has all its bodies: %v", err)
	}
	_, err = cassette.Rewrite(open(t, path), header(), keep)
	wantCode(t, err, cassette.CodeBlob)
	if err := os.WriteFile(blobsOf(path), whole, 0o644); err != nil {
		t.Fatal(err)
	}
	back := rewrite(t, path, header(), func(i int) (cassette.Change, error) { return cassette.Change{Episode: &episodes[i]}, nil })
	if !bytes.Equal(back, inline) {
		t.Errorf("there and back:\n%s\n%s", back, inline)
	}
	if _, err := os.Stat(blobsOf(path)); !os.IsNotExist(err) {
		t.Errorf("the blobs are still there: %v", err)
	}
}

func alter(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 1
	return b
}

// A file of format 1 is shown and migrated, and not replayed; damaged it is neither.
func TestFormat1(t *testing.T) {
	const file = "testdata/format1.yaml"
	_, err := cassette.Open(file)
	wantCode(t, err, cassette.CodeOlder)
	if hint := fault.HintOf(err); !strings.Contains(hint, "soundstage cassette migrate "+file) {
		t.Errorf("hint %q", hint)
	}
	c, err := cassette.OpenAny(file)
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Episode(1)
	if err != nil || c.Len() != 2 || c.Header().Format != 1 || e.Raw != "" || !strings.Contains(string(e.Request.Body), "And who else?") {
		t.Errorf("%d episodes, format %d, %+v, %v", c.Len(), c.Header().Format, e, err)
	}
	good := read(t, file)
	path := filepath.Join(t.TempDir(), "c.yaml")
	for i := range good {
		for name, data := range map[string][]byte{"cut": good[:i], "altered": alter(good, i)} {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := cassette.OpenAny(path); fault.CodeOf(err) != cassette.CodeDamaged && fault.CodeOf(err) != cassette.CodeNewer {
				t.Fatalf("%s at %d: %v", name, i, err)
			}
		}
	}
}

func TestStandsApartInGoVCR(t *testing.T) {
	a := episode("a")
	path := record(t, header(), a, episode("b"))
	rewrite(t, path, header(), func(i int) (cassette.Change, error) {
		return []cassette.Change{{Episode: &a, Apart: []string{"response"}}, {}}[i], nil
	})
	got, err := govcr.Load(strings.TrimSuffix(path, ".yaml"))
	if err != nil || len(got.Interactions) != 2 {
		t.Fatalf("go-vcr reads %+v, %v", got, err)
	}
	if one, two := got.Interactions[0], got.Interactions[1]; one.Response.Body != "" || one.Request.Body == "" || two.Response.Body == "" {
		t.Errorf("go-vcr reads %+v and %+v", one, two)
	}
}

// What a crash leaves beside a file is no obstacle to the next try.
func TestRewriteAfterACrash(t *testing.T) {
	path := record(t, header(), episode("a"), episode("b"))
	top := bytes.Split(read(t, path), []byte("- {"))[0]
	for name, text := range map[string][]byte{path + ".part": top, path + ".tmp": []byte("half"), blobsOf(path) + ".tmp": []byte("half")} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := episode("a")
	_, err := cassette.Rewrite(open(t, path), header(), func(i int) (cassette.Change, error) {
		return []cassette.Change{{Episode: &a, Apart: []string{"response"}}, {Drop: true}}[i], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := cassette.Verify(path); err != nil || open(t, path).Len() != 1 {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 2 {
		t.Errorf("%v is left, %v", left, err)
	}
}

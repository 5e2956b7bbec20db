package cassette_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A pull request can hold links. None of a cassette's own names leads a writer to a file
// of somebody else.
func TestLinksBesideACassetteLeadNowhere(t *testing.T) {
	const precious = "not a cassette\n"
	drop := func(int) (cassette.Change, error) { return cassette.Change{Drop: true}, nil }
	writers := map[string]func(path string) error{
		"rewrite": func(path string) error {
			c, err := cassette.Open(path)
			if err != nil {
				return err
			}
			_, err = cassette.Rewrite(c, c.Header(), drop)
			return err
		},
		"record": func(path string) error {
			w, err := cassette.CreateWith(path, cassette.Header{}, cassette.CreateOptions{Replace: true})
			if err != nil {
				return err
			}
			return w.Commit()
		},
		"amend": func(path string) error {
			c, err := cassette.Open(path)
			if err != nil {
				return err
			}
			w, err := cassette.Amend(c, cassette.AmendOptions{})
			if err != nil {
				return err
			}
			w.Drop(0)
			return w.Commit()
		},
	}
	for name, write := range writers {
		for _, ext := range []string{".part", ".tmp"} {
			dir := t.TempDir()
			path, victim := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "victim")
			one(t, path)
			if err := os.WriteFile(victim, []byte(precious), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(victim, path+ext); err != nil {
				t.Skip(err)
			}
			err := write(path)
			if got, _ := os.ReadFile(victim); string(got) != precious {
				t.Errorf("%s, %s: the file that the link led to is another one", name, ext)
			}
			if ext == ".part" && fault.CodeOf(err) != fault.Invalid {
				t.Errorf("%s, %s: %v", name, ext, err)
			}
			if info, serr := os.Lstat(path); serr != nil || !info.Mode().IsRegular() {
				t.Errorf("%s, %s: the cassette became a link, %v", name, ext, serr)
			}
		}
	}
}

// A file that only happens to have the journal's name is not emptied.
func TestJournalThatIsNoneStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path+".part", []byte("half a download"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := cassette.Create(path, cassette.Header{})
	if fault.CodeOf(err) != cassette.CodeDamaged {
		t.Errorf("%v", err)
	}
	if got, _ := os.ReadFile(path + ".part"); string(got) != "half a download" {
		t.Errorf("it holds %q", got)
	}
}

// Bodies that stand apart are read beside their cassette, and nowhere else.
func TestBlobsThatAreALink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	one(t, path)
	c, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cassette.Rewrite(c, c.Header(), func(i int) (cassette.Change, error) {
		e, err := c.Episode(i)
		return cassette.Change{Episode: &e, Apart: []string{"response"}}, err
	}); err != nil {
		t.Fatal(err)
	}
	away := filepath.Join(t.TempDir(), "away")
	if err := os.Rename(filepath.Join(dir, "a.blobs"), away); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(away, filepath.Join(dir, "a.blobs")); err != nil {
		t.Skip(err)
	}
	if err := cassette.Verify(path); fault.CodeOf(err) != cassette.CodeBlob || !strings.Contains(err.Error(), "a file of its own") {
		t.Errorf("%v", err)
	}
}

// one writes a cassette of one episode.
func one(t *testing.T, path string) {
	t.Helper()
	w, err := cassette.Create(path, cassette.Header{})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Append(cassette.Episode{
		Key: strings.Repeat("a", 64), Kind: "http", Origin: cassette.Scripted,
		Request:  cassette.Request{Method: "POST", URL: "https://a.test/x", Body: []byte("q")},
		Response: cassette.Response{Status: 200, Body: []byte("a")},
	})
	if err == nil {
		err = w.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A disk that takes no file is told as that, and not as a bug.
func TestADiskThatTakesNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := cassette.CreateWith(filepath.Join(dir, "x", "a.yaml"), cassette.Header{}, cassette.CreateOptions{Replace: true})
	if fault.CodeOf(err) != cassette.CodeNotWritten || fault.HintOf(err) == "" {
		t.Errorf("%v, hint %q", err, fault.HintOf(err))
	}
}

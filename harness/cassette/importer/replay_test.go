package importer_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/importer"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// adopt makes a cassette of a recording's episodes.
func adopt(t *testing.T, episodes []cassette.Episode) (file string, adopted []cassette.Episode) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "c.yaml")
	w, err := cassette.Create(file, cassette.Header{Rules: seam.DefaultRules()})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range episodes {
		a, err := seam.Adopt(e, seam.DefaultRules(), nil)
		if err != nil {
			t.Fatalf("episode %d: %v", i, err)
		}
		if err := w.Append(a); err != nil {
			t.Fatalf("episode %d: %v", i, err)
		}
		adopted = append(adopted, a)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return file, adopted
}

// stable holds that keys are what the file itself gives: computed from what is stored,
// and from what is stored as another tool reads it, they are the same.
func stable(t *testing.T, file string, want []cassette.Episode) {
	t.Helper()
	c, err := cassette.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Header().Origin != cassette.Imported && c.Len() > 0 {
		t.Errorf("origin %q", c.Header().Origin)
	}
	for i := range want {
		e, err := c.Episode(i)
		if err != nil {
			t.Fatal(err)
		}
		key, raw, err := seam.KeyOf(seam.DefaultRules(), e.Lane, e.Kind, e.Request)
		if err != nil || key != e.Key || key != want[i].Key {
			t.Errorf("episode %d: key %s, stored %s, adopted %s, %v", i, key, e.Key, want[i].Key, err)
		}
		if bytes.Equal(e.Request.Body, want[i].Request.Body) && raw != e.Raw {
			t.Errorf("episode %d: raw %s, stored %s", i, raw, e.Raw)
		}
		again, err := seam.Adopt(e, seam.DefaultRules(), nil)
		if err != nil || again.Key != e.Key || again.Raw != e.Raw || !bytes.Equal(again.Response.Body, e.Response.Body) {
			t.Errorf("episode %d: adopted twice it is another: %v", i, err)
		}
	}
	if slices.ContainsFunc(want, func(e cassette.Episode) bool { return e.Response.End == "error" }) {
		return // go-vcr has no place for a call without an answer
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := importer.Read(file, text, importer.GoVCR) // our file is one of go-vcr's
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range out.Episodes {
		if a, err := seam.Adopt(e, seam.DefaultRules(), nil); err != nil || a.Key != want[i].Key {
			t.Errorf("episode %d: exported and imported again it has key %s, %v; want %s", i, a.Key, err, want[i].Key)
		}
	}
}

// replays asks for every imported request over HTTP, as another process would, and
// wants the bytes that were imported.
func replays(t *testing.T, file string, episodes []cassette.Episode) {
	t.Helper()
	s, err := seam.Open(seam.Options{Mode: seam.Replay, Cassette: file})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, e := range episodes {
		req, err := http.NewRequestWithContext(t.Context(), e.Request.Method, e.Request.URL, bytes.NewReader(e.Request.Body))
		if err != nil {
			t.Fatalf("episode %d: %v", i, err)
		}
		req.Header = http.Header(e.Request.Header).Clone()
		res, err := s.Transport().RoundTrip(req)
		if e.Response.End == "error" {
			if err == nil {
				t.Errorf("episode %d: a broken connection was replayed as %d", i, res.StatusCode)
			}
			continue
		}
		if err != nil {
			t.Errorf("episode %d: %v", i, err)
			continue
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != e.Response.Status || !bytes.Equal(body, e.Response.Body) {
			t.Errorf("episode %d of %s: %d, %v\n got %.200q\nwant %.200q", i, file, res.StatusCode, err, body, e.Response.Body)
		}
	}
	if err := s.Err(); err != nil && len(episodes) > 0 {
		t.Error(err)
	}
	if left := s.Unused(); len(left) > 0 {
		t.Errorf("episodes %v were not asked for", left)
	}
}

func TestImportedReplays(t *testing.T) {
	for name, data := range map[string]string{
		"go-vcr v4": v4, "go-vcr v1": v1, "vcrpy": fmt.Sprintf(vcrpyYAML, b64(zip("data: x\n\n"))), "vcrpy JSON": vcrpyJSON,
		"polly": fmt.Sprintf(pollyHAR, b64(zip("x")[:7]), b64(zip("x")[7:])), "har": fmt.Sprintf(browserHAR, b64(br("hey"))), "httprr": httprr, "aimock": aimock,
	} {
		t.Run(name, func(t *testing.T) {
			episodes, err := episodes(data)
			if err != nil || len(episodes) == 0 {
				t.Fatalf("%d episodes, %v", len(episodes), err)
			}
			file, adopted := adopt(t, episodes)
			stable(t, file, adopted)
			replays(t, file, episodes)
		})
	}
}

// A cassette that was imported answers a client across a socket, where one is to be had.
func TestImportedReplaysOverASocket(t *testing.T) {
	episodes, err := episodes(httprr)
	if err != nil {
		t.Fatal(err)
	}
	file, _ := adopt(t, episodes)
	s, err := seam.Open(seam.Options{Mode: seam.Replay, Cassette: file})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host, out.RequestURI = "https", "api.example.com", ""
		res, err := s.Transport().RoundTrip(out)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/messages", bytes.NewReader(episodes[0].Request.Body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(body, episodes[0].Response.Body) {
		t.Errorf("got %q, %v", body, err)
	}
}

// Every file of the corpus is imported whole, replays byte for byte, and is not held
// back by a secret that is none.
func TestCorpusReplays(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..", "shared", "corpus", "cassettes")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("the corpus of foreign cassettes is not here: %v", err)
	}
	files, total := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		rec, err := importer.LoadAs(path, "")
		if err != nil {
			t.Error(err)
			return nil
		}
		if rec.Format != importer.GoVCR || len(rec.Notes) > 0 || !slices.IsSorted(rec.Entries) {
			t.Errorf("%s: %q, notes %v", path, rec.Format, rec.Notes)
		}
		file, adopted := adopt(t, rec.Episodes)
		if files%10 == 0 { // it is the dear part, and every format has it above
			stable(t, file, adopted)
		}
		replays(t, file, rec.Episodes)
		files, total = files+1, total+len(rec.Episodes)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files != 242 {
		t.Errorf("%d files are not the corpus of 242", files)
	}
	t.Logf("%d files, %d episodes: imported, replayed byte for byte", files, total)
}

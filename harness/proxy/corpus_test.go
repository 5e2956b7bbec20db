package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/importer"
	"github.com/soundstage-dev/soundstage/harness/proxy"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// corpusDir holds recordings of real providers that others made; see its README.
const corpusDir = "../../../shared/corpus/cassettes"

// serve puts a proxy behind the boundary on a port of this machine, until the test
// ends. It is what the command serves.
func serve(t testing.TB, s *seam.Seam) string {
	t.Helper()
	l, err := boundary.Listen(t.Context(), "127.0.0.1:0", "")
	if err != nil {
		t.Skipf("no loopback here: %v", err)
	}
	h, err := boundary.Guard(boundary.Options{}, proxy.New(proxy.Options{Seam: s}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- boundary.Serve(ctx, l, h, time.Second) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// via is where a client asks the proxy for what is recorded under a URL.
func via(t *testing.T, address, recorded string) string {
	t.Helper()
	u, err := url.Parse(recorded)
	if err != nil {
		t.Fatal(err)
	}
	mount := map[string]string{"api.anthropic.com": "", "api.openai.com": "/openai", "generativelanguage.googleapis.com": "/gemini"}
	at, known := mount[u.Host]
	if !known {
		at = "/" + u.Scheme + "/" + u.Host
	}
	return address + at + u.RequestURI()
}

// TestCorpus imports every recording of real providers and serves it through the proxy
// across a socket, byte for byte.
func TestCorpus(t *testing.T) {
	if _, err := os.Stat(corpusDir); err != nil {
		t.Skipf("the corpus of real recordings is not beside the repository: %v", err)
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	files, calls := 0, 0
	err := filepath.WalkDir(corpusDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		files++
		name, err := filepath.Rel(corpusDir, path)
		if err != nil {
			return err
		}
		calls += corpusFile(t, client, name, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 242 || calls < files {
		t.Errorf("only %d files with %d calls: part of the corpus is missing", files, calls)
	}
	t.Logf("%d files, %d calls", files, calls)
}

func corpusFile(t *testing.T, client *http.Client, name, path string) int {
	episodes, err := importer.Load(path)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	s, err := seam.Open(seam.Options{Mode: seam.Replay, Cassette: adopted(t, episodes), Name: name})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	defer s.Close() //nolint:errcheck // a replay
	address := serve(t, s)
	for i, e := range episodes {
		if err := asRecorded(t, client, via(t, address, e.Request.URL), e); err != nil {
			t.Errorf("%s, episode %d: %v", name, i, err)
		}
	}
	if left := s.Unused(); len(left) > 0 {
		t.Errorf("%s: episodes %v were not asked for", name, left)
	}
	return len(episodes)
}

// asRecorded asks as the recorded client did and wants its answer.
func asRecorded(t *testing.T, client *http.Client, to string, e cassette.Episode) error {
	req, err := http.NewRequestWithContext(t.Context(), e.Request.Method, to, bytes.NewReader(e.Request.Body))
	if err != nil {
		return err
	}
	for name, values := range e.Request.Header {
		if !strings.EqualFold(name, "Content-Length") && !strings.EqualFold(name, "Accept-Encoding") {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != e.Response.Status || !bytes.Equal(body, e.Response.Body) {
		return fmt.Errorf("%s: %d, %v\n got %.200q\nwant %.200q", to, res.StatusCode, err, body, e.Response.Body)
	}
	if got, want := res.Header.Get("Content-Type"), http.Header(e.Response.Header).Get("Content-Type"); got != want {
		return fmt.Errorf("content type %q, recorded %q", got, want)
	}
	return nil
}

func adopted(t *testing.T, episodes []cassette.Episode) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c.yaml")
	w, err := cassette.Create(file, cassette.Header{Rules: seam.DefaultRules()})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range episodes {
		a, err := seam.Adopt(e, seam.DefaultRules(), nil)
		if err == nil {
			err = w.Append(a)
		}
		if err != nil {
			t.Fatalf("episode %d: %v", i, err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return file
}

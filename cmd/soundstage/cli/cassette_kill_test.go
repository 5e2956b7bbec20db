package cli

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// manyEpisodes makes a cassette of bodies that begin with a word, so large that a rewrite
// takes a while.
func (w *world) manyEpisodes(name string, words ...string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	c, err := cassette.CreateWith(path, cassette.Header{Rules: seam.DefaultRules()}, cassette.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, word := range words {
		for i := range 200 {
			e := cassette.Episode{
				Kind: "http", Origin: cassette.Scripted, At: "2026-01-02",
				Request:  cassette.Request{Method: "POST", URL: "https://a.test/x", Header: http.Header{}, Body: fmt.Appendf(nil, `{"n":"%s %d"}`, word, i)},
				Response: cassette.Response{Status: 200, Body: fmt.Appendf(nil, "%4000d", i)},
			}
			if e.Key, e.Raw, err = seam.KeyOf(seam.DefaultRules(), "", e.Kind, e.Request); err == nil {
				err = c.Append(e)
			}
			if err != nil {
				w.t.Fatal(err)
			}
		}
	}
	if err := c.Commit(); err != nil {
		w.t.Fatal(err)
	}
}

// A command that rewrites a cassette and is killed, at whatever moment, leaves the old file
// or the new one, whole; the same command then does what it was to do.
//
//	go test ./cmd/soundstage/cli -run KilledRewrites -kills 200
func TestKilledRewrites(t *testing.T) {
	for verb, args := range map[string][]string{
		"prune": {"cassette", "prune", "./ours.yaml", "--episode", "2,5"},
		"merge": {"cassette", "merge", "base.yaml", "ours.yaml", "theirs.yaml"},
	} {
		t.Run(verb, func(t *testing.T) {
			w := newWorld(t)
			w.manyEpisodes("base.yaml", "a", "b")
			w.manyEpisodes("ours.yaml", "a", "b", "ours")
			w.manyEpisodes("theirs.yaml", "a", "b", "theirs")
			file := filepath.Join(w.dir, "ours.yaml")
			old := read(t, file)
			begun := time.Now()
			w.elsewhere(args...)
			usual, done := time.Since(begun), read(t, file)
			if old == done {
				t.Fatal("it changed nothing")
			}
			rnd, kept := rand.New(rand.NewPCG(3, uint64(*kills))), 0
			for range *kills {
				w.write("ours.yaml", old)
				p := w.start(args...)
				_ = p.in.Close()
				stop := time.AfterFunc(time.Duration(rnd.Int64N(int64(usual))), func() { _ = p.cmd.Process.Kill() })
				p.drain()
				_ = p.cmd.Wait() // killed, or not
				stop.Stop()
				switch now := read(t, file); now {
				case done:
					continue
				case old:
					kept++
				default:
					t.Fatalf("the file has %d bytes, and is neither the old one (%d) nor the new one (%d)", len(now), len(old), len(done))
				}
				w.elsewhere(args...)
				if now := read(t, file); now != done {
					t.Fatalf("after the kill it did something else: %d bytes, want %d", len(now), len(done))
				}
			}
			t.Logf("%d runs of %s: %d were killed before they were done", *kills, usual, kept)
			for _, name := range []string{"base.yaml", "theirs.yaml"} {
				if err := cassette.Verify(filepath.Join(w.dir, name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

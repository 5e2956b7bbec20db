package model

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// What one user records through the seam, another replays, whatever the two have
// for keys, addresses and variables; and no key is on the disk.
func TestRecordAndReplay(t *testing.T) {
	for _, ref := range spoken {
		path := filepath.Join(t.TempDir(), "c.yaml")
		script, err := upstream.Parse("s.upstream.yaml", []byte("turns:\n  - say: {reasoning: hm, text: Hello., calls: [{tool: studio_list, input: {kind: x}}]}\n"))
		if err != nil {
			t.Fatal(err)
		}
		cfg := live()
		name := refProvider(ref)
		acc := cfg.Access[name]
		acc.Key = "key-of-" + name
		if name == "ollama" {
			acc.BaseURL = "http://other.example/v1"
		}
		var urls []string
		world := upstream.NewTransport(upstream.New(script))
		below := Outside(roundTrip(func(r *http.Request) (*http.Response, error) {
			urls = append(urls, r.URL.String())
			return world.RoundTrip(r)
		}), catalog, map[string]Access{name: acc}, cfg.Clock)
		s, err := seam.Open(seam.Options{Mode: seam.Record, Cassette: path, Transport: below, Origin: cassette.Scripted, Clock: cfg.Clock})
		if err != nil {
			t.Fatal(err)
		}
		run := func(s *seam.Seam) outcome {
			p, err := Open(t.Context(), ref, settings(s.Transport()))
			if err != nil {
				t.Fatal(err)
			}
			return collect(t.Context(), p, hello())
		}
		recorded := run(s)
		if err := s.Close(); err != nil || recorded.err != nil {
			t.Fatalf("%s: %v, %v", ref, recorded.err, err)
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.Contains(text, []byte("key-of-")) || len(urls) != 1 || bytes.Contains(text, []byte("other.example")) {
			t.Errorf("%s: %v, %v\n%s", ref, err, urls, text)
		}
		s, err = seam.Open(seam.Options{Mode: seam.Replay, Cassette: path, Clock: cfg.Clock})
		if err != nil {
			t.Fatal(err)
		}
		again := run(s)
		if !reflect.DeepEqual(again, recorded) {
			t.Errorf("%s: replay gives\n%+v\nand recording gave\n%+v", ref, again, recorded)
		}
		o := run(s)
		if fault.CodeOf(o.err) != seam.CodeMiss || !strings.Contains(o.err.Error(), "exhausted") {
			t.Errorf("%s: a miss is %v (%s)", ref, o.err, fault.CodeOf(o.err))
		}
	}
}

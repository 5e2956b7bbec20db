package model

import (
	"bytes"
	"flag"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/seam/chaos"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// seeds is how many ways of cutting each committed answer meets. Each answer has others.
var seeds = flag.Uint64("rechunk-seeds", 8, "ways to cut each committed stream")

// A turn is what the loop sees of a stream, without the pieces in which it came.
type turn struct {
	text, thought string
	calls         []port.ToolCall
	reply         *port.Reply
	code          fault.Code
	err           string
}

func (o outcome) turn() turn {
	t := turn{text: o.text, thought: o.thought, calls: o.calls, reply: o.reply, code: fault.CodeOf(o.err)}
	if o.err != nil {
		t.err = o.err.Error()
	}
	return t
}

// A listenerTo is the adapter before one answer of a cassette, which comes through a
// door, whatever it is that is asked.
type listenerTo struct {
	provider *provider
	door     http.RoundTripper
}

func listen(t *testing.T, e cassette.Episode, f family, id string) *listenerTo {
	t.Helper()
	l := &listenerTo{}
	cfg := settings(roundTrip(func(r *http.Request) (*http.Response, error) {
		req, err := http.NewRequestWithContext(seam.WithLane(r.Context(), e.Lane), e.Request.Method, e.Request.URL, bytes.NewReader(e.Request.Body))
		if err != nil {
			return nil, err
		}
		req.Header = e.Request.Header.Clone()
		return l.door.RoundTrip(req)
	}))
	en := entry{
		provider: string(f), model: id, family: f, baseURL: map[bool]string{true: "http://compat.invalid/v1"}[f == familyCompat],
		info: port.Info{Ref: string(f) + "/" + id, MaxOutput: 4096},
	}
	acc := Access{Key: placeholder}
	lm, err := dial(t.Context(), en, acc, client(cfg.Client, en.dress(acc, cfg.Clock)))
	if err != nil {
		t.Fatal(err)
	}
	l.provider = &provider{info: en.info, family: f, lm: lm, whole: !streamed(e), clock: cfg.Clock}
	return l
}

// hear is what the adapter makes of what comes through the door.
func (l *listenerTo) hear(t *testing.T, door http.RoundTripper) turn {
	l.door = door
	return collect(t.Context(), l.provider, hello()).turn()
}

// cut is one of the ways in which a stream can be cut; nil is as it was recorded.
func cut(t *testing.T, seed uint64, below http.RoundTripper) http.RoundTripper {
	t.Helper()
	if seed == 0 {
		return below
	}
	most := []int{1, 3, 16, 64, 1024}[seed%5]
	door, err := chaos.New([]chaos.Fault{{Kind: chaos.Rechunk, Seed: seed, Max: most}}, below, clock.NewFixed(clock.Epoch))
	if err != nil {
		t.Fatal(err)
	}
	return door
}

// sameTurn compares what is understood of one answer however it is cut.
func sameTurn(t *testing.T, at string, e cassette.Episode, seeds uint64) bool {
	t.Helper()
	f, id := speaker(t, e)
	if f == "" || !streamed(e) {
		return false
	}
	body := roundTrip(func(r *http.Request) (*http.Response, error) { return recorded(r, e.Response), nil })
	l := listen(t, e, f, id)
	want := l.hear(t, body)
	from := uint64(crc32.ChecksumIEEE([]byte(at)))
	for seed := from + 1; seed <= from+seeds; seed++ {
		if got := l.hear(t, cut(t, seed, body)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s (%s), seed %d:\ngot  %+v\nwant %+v", at, f, seed, got, want)
			break
		}
	}
	return true
}

// recorded is an answer as it stands in the cassette.
func recorded(r *http.Request, res cassette.Response) *http.Response {
	out := answer(r, res.Status, "", string(res.Body))
	out.Header = res.Header.Clone()
	return out
}

// committed are the cassettes of this repository.
func committed(t testing.TB) (files []string) {
	t.Helper()
	err := filepath.WalkDir("../../cassettes", func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".yaml" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 20 {
		t.Fatalf("%d cassettes, %v", len(files), err)
	}
	return files
}

// models are the episodes of a cassette that are calls of a model.
func models(t testing.TB, path string) (list []cassette.Episode) {
	t.Helper()
	c, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Len() {
		e, err := c.Episode(i)
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == "http" && e.Response.End != "error" {
			list = append(list, e)
		}
	}
	return list
}

// However a stream is cut, it is the same turn: every answer of every committed
// cassette. With -rechunk-seeds=200 it takes half a minute.
func TestRechunkedIsTheSameTurn(t *testing.T) {
	for _, path := range committed(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			t.Parallel()
			for i, e := range models(t, path) {
				sameTurn(t, fmt.Sprintf("%s, episode %d", path, i), e, *seeds)
			}
		})
	}
}

// The same for whole journeys through the seam: all calls of a cassette, replayed and
// cut by the overlay that a scenario has.
func TestRechunkedThroughTheSeam(t *testing.T) {
	for _, path := range committed(t) {
		var want []turn
		for seed := range uint64(4) {
			s, err := seam.Open(seam.Options{
				Mode: seam.Replay, Cassette: path, Clock: clock.NewFixed(clock.Epoch),
				Overlay: func(door http.RoundTripper) http.RoundTripper { return cut(t, seed, door) },
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []turn
			for _, e := range models(t, path) {
				if f, id := speaker(t, e); f != "" {
					got = append(got, listen(t, e, f, id).hear(t, s.Transport()))
				}
			}
			if err := s.Close(); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if seed == 0 {
				want = got
			} else if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, seed %d:\ngot  %+v\nwant %+v", path, seed, got, want)
			}
		}
	}
}

// The same for every reply of the corpus, with Bedrock's frames and what real providers
// send.
func TestRechunkedCorpus(t *testing.T) {
	streams := map[family]int{}
	for _, r := range recordings(t) {
		if r.err != nil {
			t.Errorf("%s does not load: %v", r.name, r.err)
			continue
		}
		for i, e := range r.episodes {
			if sameTurn(t, fmt.Sprintf("%s, episode %d", r.name, i), e, 3) {
				f, _ := speaker(t, e)
				streams[f]++
			}
		}
	}
	t.Logf("streams by way to speak: %v", streams)
	if streams[familyBedrock] == 0 {
		t.Error("the corpus has no stream of Bedrock")
	}
}

// FuzzRechunk looks for a stream, whole or damaged, of which more or less is understood
// when it is cut elsewhere, and for one that is no stream and makes a panic.
func FuzzRechunk(f *testing.F) {
	refs := []string{"anthropic/claude-sonnet-4-5", "xai/grok-4.3", "openai/gpt-5.5", "google/gemini-2.5-pro"}
	var ears []*listenerTo
	for _, ref := range refs {
		l := &listenerTo{}
		p, err := Open(f.Context(), ref, settings(roundTrip(func(r *http.Request) (*http.Response, error) { return l.door.RoundTrip(r) })))
		if err != nil {
			f.Fatal(err)
		}
		l.provider = p.(*provider)
		ears = append(ears, l)
	}
	seen := map[string]int{}
	for _, path := range committed(f) {
		for _, e := range models(f, path) {
			which := -1
			for i, host := range []string{"api.anthropic.com", "api.x.ai", "api.openai.com", "generativelanguage.googleapis.com"} {
				if strings.Contains(e.Request.URL, host) {
					which = i
				}
			}
			if which >= 0 && streamed(e) && seen[refs[which]] < 2 {
				seen[refs[which]]++
				f.Add(uint8(which), e.Response.Body, uint64(7))
			}
		}
	}
	f.Add(uint8(1), []byte("data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n"), uint64(1))
	f.Add(uint8(0), []byte("event: message_stop\r\rdata: x\xff"), uint64(2))
	f.Fuzz(func(t *testing.T, which uint8, data []byte, seed uint64) {
		if len(data) > 1<<16 {
			t.Skip()
		}
		l := ears[int(which)%len(ears)]
		body := roundTrip(func(r *http.Request) (*http.Response, error) {
			return answer(r, http.StatusOK, "text/event-stream", string(data)), nil
		})
		want := l.hear(t, body)
		if got := l.hear(t, cut(t, seed|1, body)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s, seed %d, %q:\ngot  %+v\nwant %+v", l.provider.info.Ref, seed|1, data, got, want)
		}
	})
}

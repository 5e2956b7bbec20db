package model

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam/chaos"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// stride is between the places at which a stream is broken.
const stride = 127

// A stream that ends too early, in any way and at any place, is an error or the whole
// reply: never half of one, and never a call with half of its input.
func TestBrokenIsNeverHalfATurn(t *testing.T) {
	seen := map[string]int{}
	for _, path := range committed(t) {
		for i, e := range models(t, path) {
			f, id := speaker(t, e)
			if f == "" || !streamed(e) || e.Response.Status != http.StatusOK || e.Response.End != "" {
				continue
			}
			key := fmt.Sprint(f, f.dialect(string(f)+"/"+id))
			if seen[key]++; seen[key] > 3 {
				continue
			}
			t.Run(fmt.Sprintf("%s %d", key, seen[key]), func(t *testing.T) {
				t.Parallel()
				breakAll(t, fmt.Sprintf("%s, episode %d", path, i), e, f, id)
			})
		}
	}
	if len(seen) < 6 {
		t.Errorf("streams of %v", seen)
	}
}

func breakAll(t *testing.T, at string, e cassette.Episode, f family, id string) {
	body := roundTrip(func(r *http.Request) (*http.Response, error) { return recorded(r, e.Response), nil })
	l := listen(t, e, f, id)
	whole := l.hear(t, body)
	if whole.reply == nil {
		t.Fatalf("%s: %+v", at, whole)
	}
	for n := 0; n < len(e.Response.Body); n += stride {
		for _, one := range []chaos.Fault{{Kind: chaos.Truncate, Bytes: n}, {Kind: chaos.Garbage, Bytes: n, Seed: uint64(n)}} {
			door, err := chaos.New([]chaos.Fault{one}, body, clock.NewFixed(clock.Epoch))
			if err != nil {
				t.Fatal(err)
			}
			got := l.hear(t, door)
			if got.code != "" && got.reply == nil {
				continue
			}
			if got.reply == nil || !reflect.DeepEqual(got.reply.Parts, whole.reply.Parts) || got.reply.Reason != whole.reply.Reason {
				t.Errorf("%s, %s: neither an error nor the whole reply\ngot  %+v\nwant %+v", at, one, got, whole)
				return
			}
			if got.reply.Usage != whole.reply.Usage && got.reply.Usage.State == port.Exact {
				t.Errorf("%s, %s: usage %+v is said to be exact, and %+v is", at, one, got.reply.Usage, whole.reply.Usage)
				return
			}
		}
	}
}

// The same for what real providers send, Bedrock's frames among it.
func TestBrokenCorpus(t *testing.T) {
	seen := map[string]int{}
	for _, r := range recordings(t) {
		for i, e := range r.episodes {
			f, id := speaker(t, e)
			if f == "" || !streamed(e) || e.Response.Status != http.StatusOK || e.Response.End != "" || len(e.Response.Body) > 1<<15 {
				continue
			}
			key := fmt.Sprint(f, f.dialect(string(f)+"/"+id))
			if seen[key]++; seen[key] == 1 {
				breakAll(t, fmt.Sprintf("%s, episode %d", r.name, i), e, f, id)
			}
		}
	}
	if seen["bedrockanthropic"] == 0 {
		t.Errorf("no frames of Bedrock: %v", seen)
	}
}

package upkeep

import (
	"bytes"
	"net/http"
	"reflect"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/lint"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
)

// Redact masks what r knows to be secret, and computes the keys of what it changed anew.
// It refuses a file in which a secret would be left.
func Redact(path string, r *redact.Redactor, dry bool) (Report, error) {
	e, err := begin(cassette.Open(path))
	if err != nil {
		return Report{}, err
	}
	keys := make([]string, len(e.episodes))
	for i := range e.episodes {
		ep, places := mask(r, e.episodes[i])
		keys[i] = ep.Key
		if left := lint.Secrets(r, &ep); len(left) > 0 {
			return Report{}, fault.New(cassette.CodeNotSafe, "cassette.redact", "cassette %q, episode %d: %s would still hold what looks like a secret: %s at %q",
				path, i+1, left[0].Place, left[0].Rule, left[0].Pointer).WithHint("drop the episode with soundstage cassette prune, or record it again; nothing was written")
		}
		if len(places) == 0 {
			continue
		}
		if ep.Key, ep.Raw, err = e.rekey(i, &ep); err != nil {
			return Report{}, err
		}
		keys[i] = ep.Key
		apart, err := e.c.Apart(i)
		if err != nil {
			return Report{}, err
		}
		e.changes[i] = cassette.Change{Episode: &ep, Apart: apart}
		e.note(i, "masked %s", strings.Join(places, ", "))
	}
	if err := e.checkKeys(keys); err != nil {
		return Report{}, err
	}
	return e.finish(dry)
}

// mask is a masked copy of an episode, and the places where it differs.
func mask(r *redact.Redactor, ep cassette.Episode) (cassette.Episode, []string) {
	var places []string
	text := func(place, was string, now string) string {
		if was != now {
			places = append(places, place)
		}
		return now
	}
	header := func(place string, was, now http.Header) http.Header {
		if len(was) != len(now) || len(was) > 0 && !reflect.DeepEqual(was, now) {
			places = append(places, place)
		}
		return now
	}
	ep.Lane, ep.Model = text("lane", ep.Lane, r.MaskString(ep.Lane)), text("model", ep.Model, r.MaskString(ep.Model))
	ep.Request.URL = text("request.url", ep.Request.URL, r.URL(ep.Request.URL))
	ep.Request.Header = header("request.headers", ep.Request.Header, r.RequestHeader(ep.Request.Header))
	ep.Response.Header = header("response.headers", ep.Response.Header, r.ResponseHeader(ep.Response.Header))
	ep.Response.Error = text("response.error", ep.Response.Error, r.MaskString(ep.Response.Error))
	if b := r.Mask(ep.Request.Body); !bytes.Equal(b, ep.Request.Body) {
		ep.Request.Body, places = b, append(places, "request.body")
	}
	if b, edits := r.MaskEdits(ep.Response.Body); len(edits) > 0 {
		ep.Response.Chunks = remap(ep.Response.Chunks, edits, len(b))
		ep.Response.Body, places = b, append(places, "response.body")
	}
	return ep, places
}

// remap carries the ends of chunks over to the masked body.
func remap(chunks []cassette.Chunk, edits []redact.Edit, size int) []cassette.Chunk {
	var out []cassette.Chunk
	old, last := 0, 0
	for i, c := range chunks {
		old += c.Len
		end := redact.Remap(old, edits)
		if i == len(chunks)-1 {
			end = size
		}
		if end > last {
			out = append(out, cassette.Chunk{AtMS: c.AtMS, Len: end - last})
			last = end
		}
	}
	return out
}

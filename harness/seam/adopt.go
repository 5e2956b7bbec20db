package seam

import (
	"cmp"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/redact"
)

// Adopt makes an episode that another tool recorded one that can stand in a cassette
// under rules: what r knows to be secret is masked, headers that nobody acts on are
// dropped, and the keys are those that a replay will ask for. What still looks like a
// secret is cassette.CodeNotSafe. Chunks are carried over the masks. A nil r is one
// that knows patterns and names only.
func Adopt(e cassette.Episode, rules []string, r *redact.Redactor) (cassette.Episode, error) {
	if r == nil {
		r = redact.New(redact.Options{})
	}
	k, err := newKeyer(rules, r)
	if err != nil {
		return cassette.Episode{}, err
	}
	u := r.URL(e.Request.URL)
	known := r.Known(e.Request.Body, nil)
	q := &question{memory: &memory{}, lane: e.Lane, kind: e.Kind, method: e.Request.Method, url: u, header: r.RequestHeader(e.Request.Header), known: known}
	out := e
	out.Key, out.Raw = k.key(q), k.raw(q)
	out.Model = r.MaskString(cmp.Or(e.Model, modelOf(u, e.Request.Body)))
	out.Request = cassette.Request{Method: q.method, URL: u, Header: q.header, Body: r.MaskRest(known)}
	body, edits := r.MaskEdits(e.Response.Body)
	out.Response.Body, out.Response.Header = body, r.ResponseHeader(e.Response.Header)
	out.Response.Chunks = remapChunks(e.Response.Chunks, edits, len(body))
	out.Response.Error = r.MaskString(e.Response.Error)
	if l := secretIn(r, &out); l != nil {
		return cassette.Episode{}, l.refuse("seam.adopt", &out).
			WithHint("take the secret out of the file, then import it again; nothing was written")
	}
	return out, nil
}

package lint

import (
	"maps"
	"net/http"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/redact"
)

// A Secret is a place of an episode that holds what looks like one. It never holds the
// value.
type Secret struct {
	Place   string // request.body, response.header X-Y, lane
	Rule    string // why it looks like one
	Pointer string // where in the place, "" for all of it
}

// Secrets looks through every text of an episode.
func Secrets(r *redact.Redactor, e *cassette.Episode) []Secret {
	var out []Secret
	look := func(place string, text []byte) {
		for _, f := range r.Find(text) {
			out = append(out, Secret{Place: place, Rule: f.Rule, Pointer: f.Pointer})
		}
	}
	look("request.url", []byte(e.Request.URL))
	look("request.body", e.Request.Body)
	look("response.body", e.Response.Body)
	look("response.error", []byte(e.Response.Error))
	look("lane", []byte(e.Lane))
	look("model", []byte(e.Model))
	headers := func(side string, h http.Header) {
		for _, name := range slices.Sorted(maps.Keys(h)) {
			for _, v := range h[name] {
				look(side+".header "+name, []byte(v))
			}
		}
	}
	headers("request", e.Request.Header)
	headers("response", e.Response.Header)
	return out
}

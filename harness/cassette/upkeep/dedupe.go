package upkeep

import (
	"crypto/sha256"

	"github.com/soundstage-dev/soundstage/harness/cassette"
)

// The bounds from which a body stands apart.
const (
	LargeBody  = 64 << 10 // bytes of any body
	SharedBody = 1 << 10  // bytes of one that stands in the file SharedTime times or more
	SharedTime = 3
)

// Dedupe moves large bodies and those that occur often into <name>.blobs, each once; with
// inline it puts all of them back.
func Dedupe(path string, inline, dry bool) (Report, error) {
	e, err := begin(cassette.Open(path))
	if err != nil {
		return Report{}, err
	}
	times := map[[sha256.Size]byte]int{}
	for i := range e.episodes {
		times[sha256.Sum256(e.episodes[i].Request.Body)]++
		times[sha256.Sum256(e.episodes[i].Response.Body)]++
	}
	for i := range e.episodes {
		ep := &e.episodes[i]
		before, err := e.c.Apart(i)
		if err != nil {
			return Report{}, err
		}
		var apart []string
		for _, b := range []struct {
			name string
			body []byte
		}{{"request", ep.Request.Body}, {"response", ep.Response.Body}} {
			shared := len(b.body) > SharedBody && times[sha256.Sum256(b.body)] >= SharedTime
			if !inline && (shared || len(b.body) > LargeBody) {
				apart = append(apart, b.name)
			}
		}
		if len(apart) == len(before) && (len(apart) != 1 || apart[0] == before[0]) {
			continue
		}
		e.changes[i] = cassette.Change{Episode: ep, Apart: apart}
		e.note(i, "bodies that stand apart: %v → %v", before, apart)
	}
	return e.finish(dry)
}

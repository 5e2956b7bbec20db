package seam

import (
	"net/http"
	"slices"
)

// Holds reports whether a replay would answer the request. It uses no episode up and
// counts as no request. It reads and closes the body.
func (s *Seam) Holds(req *http.Request) bool {
	if s.play == nil {
		return false
	}
	q, err := s.play.keyer.ask(req)
	if err != nil {
		return false
	}
	defer s.play.keyer.release(q)
	return s.play.hasLeft(q)
}

// hasLeft reports whether find would find an episode.
func (p *player) hasLeft(q *question) bool {
	at := p.cassette.ByRaw(p.keyer.raw(q))
	if len(at) == 0 {
		at = p.cassette.ByKey(p.keyer.key(q))
	}
	return len(at) > 0 && int(p.queues[at[0]].used.Load()) < len(p.queues[at[0]].episodes)
}

// Models are the models that a replay's cassette was recorded with, in order of name.
func (s *Seam) Models() []string {
	if s.play == nil {
		return nil
	}
	var out []string
	for i := range s.play.cassette.Len() {
		if e, err := s.play.cassette.Episode(i); err == nil && e.Model != "" {
			out = append(out, e.Model)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

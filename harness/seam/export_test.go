package seam

import "sync"

// Rewind makes every episode unused again, so that a benchmark can go round, and
// forgets calls and misses.
func (s *Seam) Rewind() {
	for _, q := range s.play.queues {
		q.used.Store(0)
	}
	s.calls.last.Store(nil)
	s.misses, s.err = nil, nil
}

// Forget drops the index of the nearest episodes: the next miss builds it.
func (s *Seam) Forget() { s.play.near = nearIndex{once: sync.Once{}} }

// Canonical is the form of a body that a key is computed from.
func (s *Seam) Canonical(body []byte) ([]byte, bool) {
	q := &question{memory: &memory{}, known: body}
	s.play.keyer.canonical(q)
	return q.form, q.isJSON
}

// Apply is rules on a canonical text.
func Apply(names []string, b []byte) ([]byte, error) {
	r, err := compile(names)
	if err != nil {
		return nil, err
	}
	return r.apply(nil, b), nil
}

// Walk runs the finders over a text that need not be JSON.
func Walk(b []byte) (members, values int) {
	for at := range b {
		if end := skipValue(b, at); end >= 0 && (end <= at || end > len(b)) {
			panic("skipValue left the text")
		}
		eachMember(b, at, func(_ []byte, from, to int) bool { _ = b[from:to]; members++; return true })
		values += len(elements(b, at))
	}
	return members, values
}

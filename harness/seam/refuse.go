package seam

// Refuse ends a recording that must not become a cassette, because the test or the
// journey that made it has failed: Close then leaves the old cassette as it is, and
// the episodes in the journal. In other modes it only is what Err says.
func (s *Seam) Refuse(why error) {
	if s.rec != nil {
		s.rec.halt(why)
		return
	}
	s.fail(why)
}

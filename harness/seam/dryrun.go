package seam

import (
	"net/http"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A planner is the transport of a dry run. It answers from the cassette as far as that
// goes, and notes what would be sent. Where an answer is not recorded the journey ends:
// nobody knows what would be asked after it.
type planner struct {
	s     *Seam
	keyer *keyer
	play  *player // nil: there is no cassette yet
	fill  *filler // nil: everything would be sent
}

func (s *Seam) openDryRun() error {
	p := &planner{s: s}
	err := s.openReplay()
	switch {
	case err == nil:
		p.keyer, p.play = s.play.keyer, s.play
	case fault.CodeOf(err) != cassette.CodeMissing || s.o.Mode == Fill:
		return err
	default:
		if p.keyer, err = newKeyer(s.o.Rules, s.o.Redactor); err != nil {
			return err
		}
	}
	if s.o.Mode == Fill {
		if p.fill, err = s.newFiller(); err != nil {
			return err
		}
	}
	s.transport, s.plan = p, p
	return nil
}

// RoundTrip implements http.RoundTripper.
func (p *planner) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.s.isClosed() {
		return nil, errClosed
	}
	q, err := p.keyer.ask(req)
	if err != nil {
		return nil, err
	}
	defer p.keyer.release(q)
	line, m := p.look(q)
	if m != nil {
		return m.response(req), nil
	}
	return p.s.answer(req, p.play.cassette, line)
}

// ask puts a question that would leave by a door other than HTTP.
func (p *planner) ask(q *question) (*cassette.Response, *tape, error) {
	line, m := p.look(q)
	if m != nil {
		return nil, nil, m.fault()
	}
	res, err := p.play.cassette.Response(line)
	if err != nil {
		p.s.fail(err)
		return nil, nil, err
	}
	return &res, nil, nil
}

// look gives the recorded answer, or why there is none, and notes what would be sent.
func (p *planner) look(q *question) (int, *Miss) {
	line, sent, m := p.find(q)
	p.s.calls.add(CallSummary{Lane: q.lane, Method: q.method, URL: q.url, Model: modelOf(q.url, q.body), Bytes: len(q.body), Line: line})
	if m != nil {
		p.s.missed(m)
		return -1, m
	}
	if sent != nil {
		p.s.sent.add(sent)
	}
	if line >= 0 {
		return line, nil
	}
	m = &Miss{Cassette: p.s.o.Name, Lane: q.lane, Method: q.method, URL: q.url, Nearest: -1, dry: true}
	p.s.fail(m.fault())
	return -1, m
}

// find gives the recorded answer, -1 where there is none, and what would be sent; or
// the miss of a request that strays before the episode that is recorded anew.
func (p *planner) find(q *question) (line int, sent *Sent, stray *Miss) {
	sent = &Sent{Lane: q.lane, Method: q.method, URL: q.url, Model: p.keyer.redactor.MaskString(modelOf(q.url, q.body)), Line: -1, Replaces: -1}
	if p.fill == nil {
		if p.play != nil {
			_, sent.Line = p.play.find(q)
		}
		return sent.Line, sent, nil
	}
	line, place, stray := p.fill.find(q)
	if stray != nil {
		return -1, nil, stray
	}
	if line >= 0 {
		return line, nil, nil
	}
	if place.Instead {
		sent.Replaces = place.After
		if p.play.holds(q, place.After) {
			sent.Line = place.After
		}
	}
	return sent.Line, sent, nil
}

// holds reports whether an episode has a question's key.
func (p *player) holds(q *question, i int) bool {
	for _, at := range p.cassette.ByKey(p.keyer.key(q)) {
		if at == i {
			return true
		}
	}
	return false
}

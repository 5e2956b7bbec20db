package cassette

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeClash is given when two sides of a merge recorded the same thing differently.
const CodeClash fault.Code = "CASSETTE_CLASH"

// A Clash is a place where both sides of a merge changed the same thing, each in its
// own way.
type Clash struct {
	Ours, Theirs int    // the episode, 1 for the first; 0: that side dropped it. Both 0: the header
	What         string // the request, or the part of the header
}

// A slot is what an episode is to a merge: the nth with a key.
type slot struct {
	key string
	nth int
}

// A side is one of the files of a merge.
type side struct {
	c     *Cassette
	slots []slot
	at    map[slot]int
}

func newSide(c *Cassette) side {
	s := side{c: c, at: map[slot]int{}}
	if c == nil {
		return s
	}
	count := map[string]int{}
	for i, key := range c.Keys() {
		id := slot{key, count[key]}
		count[key]++
		s.slots, s.at[id] = append(s.slots, id), i
	}
	return s
}

// Merge is a file that has what either side changed since base: episodes that one side
// added, recorded anew or dropped. base is nil where both sides added the file. Lines
// keep their bytes, and ours their order; what theirs added comes after the episode
// that it followed. same says whether two episodes with one key mean the same: what
// only looks another way is no change.
//
// Where both changed one thing, there is no file but a list of these. A body that stands
// apart is refused: git gives a merge the cassettes alone.
func Merge(base, ours, theirs *Cassette, same func(a, b *Episode) bool) (merged []byte, clashes []Clash, err error) {
	for _, c := range []*Cassette{base, ours, theirs} {
		if err := c.inOne("cassette.merge"); err != nil {
			return nil, nil, err
		}
	}
	m := merger{same: same, base: newSide(base), ours: newSide(ours), theirs: newSide(theirs)}
	h, clashes := m.header()
	for _, id := range m.order() {
		if err := m.take(id); err != nil {
			return nil, nil, err
		}
	}
	if clashes = append(clashes, m.clashes...); len(clashes) > 0 {
		return nil, clashes, nil
	}
	if h.Origin = m.origin; h.Origin == "" {
		h.Origin = ours.header.Origin
	}
	top, err := encodeHeader(&h, len(m.lines) == 0)
	if err != nil {
		return nil, nil, fault.Wrap(err, fault.Invalid, "cassette.merge", "cassette %q", ours.path)
	}
	out := bytes.NewBuffer(top)
	for _, line := range m.lines {
		out.Write(line)
		out.WriteByte('\n')
	}
	sum := fmt.Sprintf("%08x", crc32.Checksum(out.Bytes(), castagnoli()))
	fmt.Fprintf(out, endLineText, len(m.lines), sum)
	if out.Len() > MaxFile || len(m.lines) > MaxEpisodes {
		return nil, nil, fault.New(fault.TooLarge, "cassette.merge", "cassette %q would have %d bytes and %d episodes, more than %d or %d",
			ours.path, out.Len(), len(m.lines), MaxFile, MaxEpisodes)
	}
	return out.Bytes(), nil, nil
}

// inOne refuses a cassette some of whose bodies stand apart.
func (c *Cassette) inOne(op string) error {
	if c == nil {
		return nil
	}
	for i := range c.Len() {
		which, err := c.Apart(i)
		if err != nil {
			return err
		}
		if len(which) > 0 {
			return fault.New(CodeBlob, op, "cassette %q, episode %d: the body of the %s stands apart, in another file", c.path, i+1, which[0]).
				WithHint("put such bodies back on each side, and merge then: soundstage cassette dedupe --inline NAME")
		}
	}
	return nil
}

type merger struct {
	same               func(a, b *Episode) bool
	base, ours, theirs side
	lines              [][]byte
	origin             Origin
	clashes            []Clash
}

// header merges what does not follow from the episodes.
func (m *merger) header() (Header, []Clash) {
	var base Header
	if m.base.c != nil {
		base = m.base.c.header
	}
	h, theirs := m.ours.c.header, m.theirs.c.header
	var clashes []Clash
	if !slices.Equal(h.Rules, theirs.Rules) { // the same request has another key on each side
		clashes = append(clashes, Clash{What: "x-rules"})
	}
	switch {
	case bytes.Equal(h.Prices, theirs.Prices), bytes.Equal(theirs.Prices, base.Prices):
	case bytes.Equal(h.Prices, base.Prices):
		h.Prices = theirs.Prices
	default:
		clashes = append(clashes, Clash{What: "x-prices"})
	}
	return h, clashes
}

// order is that of ours, with what only theirs have after what it follows there.
func (m *merger) order() []slot {
	order := slices.Clone(m.ours.slots)
	last := -1 // the place of what theirs had last
	for _, id := range m.theirs.slots {
		if _, both := m.ours.at[id]; both {
			last = slices.Index(order, id)
			continue
		}
		last++
		order = slices.Insert(order, last, id)
	}
	return order
}

// take decides which line of a slot is kept, if any.
func (m *merger) take(id slot) error {
	base, err := m.base.get(id)
	if err != nil {
		return err
	}
	ours, err := m.ours.get(id)
	if err != nil {
		return err
	}
	theirs, err := m.theirs.get(id)
	if err != nil {
		return err
	}
	switch {
	case m.equal(ours, theirs), m.equal(theirs, base):
		m.keep(ours)
	case m.equal(ours, base):
		m.keep(theirs)
	default:
		c := Clash{}
		for e, at := range map[*version]*int{ours: &c.Ours, theirs: &c.Theirs} {
			if e != nil {
				*at, c.What = e.i+1, e.episode.Request.Method+" "+e.episode.Request.URL
			}
		}
		m.clashes = append(m.clashes, c)
	}
	return nil
}

// A version is what one side has in a slot; nil for nothing.
type version struct {
	i       int
	line    []byte
	episode Episode
}

func (s *side) get(id slot) (*version, error) {
	i, ok := s.at[id]
	if !ok {
		return nil, nil
	}
	e, err := s.c.Episode(i)
	return &version{i, s.c.line(i), e}, err
}

func (m *merger) equal(a, b *version) bool {
	if a == nil || b == nil {
		return a == b
	}
	return bytes.Equal(a.line, b.line) || m.same(&a.episode, &b.episode)
}

func (m *merger) keep(v *version) {
	if v != nil {
		m.lines, m.origin = append(m.lines, v.line), weakest(m.origin, v.episode.Origin)
	}
}

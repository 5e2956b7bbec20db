package seam

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/cassette"
)

// A nearIndex is where the requests' bodies stand in the file. It is made at the
// first miss, without decoding them: a replay that hits never pays for it.
type nearIndex struct {
	once   sync.Once
	lanes  [][]byte // as they stand in the file
	bodies [][]byte
}

// candidates is how many episodes are decoded and compared field by field.
const candidates = 3

func (x *nearIndex) build(c *cassette.Cassette) {
	x.lanes, x.bodies = make([][]byte, c.Len()), make([][]byte, c.Len())
	for i := range c.Len() {
		x.lanes[i], x.bodies[i] = c.Glance(i)
	}
}

// explain says why a question was missed.
func (p *player) explain(q *question, used *queue) *Miss {
	m := &Miss{Lane: q.lane, Method: q.method, URL: q.url, Nearest: -1}
	if used != nil {
		m.Recorded, m.Asked, m.Nearest = len(used.episodes), int(used.used.Load()), used.episodes[len(used.episodes)-1]
		return m
	}
	p.keyer.canonical(q)
	var best *comparison
	for _, i := range p.nearest(q) {
		if c := p.compare(q, i); c != nil && (best == nil || c.less(best) < 0) {
			best = c
		}
	}
	if best != nil {
		m.Nearest, m.Differences, m.More = best.episode, best.found, best.more
	}
	return m
}

// nearest gives the episodes that are worth a comparison: those that share the
// longest beginning, first in the same lane, first those that were not used yet.
func (p *player) nearest(q *question) []int {
	p.near.once.Do(func() { p.near.build(p.cassette) })
	text := cassette.Quote(q.masked)
	lane := cassette.Quote([]byte(q.lane))
	// Messages of MCP begin alike, whatever they ask: more of them are looked at, and
	// compare prefers those with the same method.
	most := candidates
	if q.kind != kindHTTP {
		most = 8 * candidates
	}
	best := make([]candidate, 0, most+1)
	for i, body := range p.near.bodies {
		c := candidate{episode: i, lane: bytes.Equal(p.near.lanes[i], lane)}
		if len(best) == most && !best[most-1].mayYield(c, body, text) {
			continue
		}
		c.shared, c.unused = commonPrefix(body, text), !p.wasUsed(i)
		if at, _ := slices.BinarySearchFunc(best, c, candidate.order); at < most {
			best = slices.Insert(best, at, c)
			best = best[:min(len(best), most)]
		}
	}
	out := make([]int, len(best))
	for i, c := range best {
		out[i] = c.episode
	}
	return out
}

// A candidate is an episode that may be the nearest.
type candidate struct {
	episode, shared int // shared: bytes that the bodies have in common at the beginning
	lane, unused    bool
}

func (c candidate) order(o candidate) int {
	return cmp.Or(boolDesc(c.lane, o.lane), cmp.Compare(o.shared, c.shared), boolDesc(c.unused, o.unused), cmp.Compare(c.episode, o.episode))
}

// mayYield reports whether a later candidate, of which only the lane is known, may
// come before c. A look at the last bytes that both would have to share with text rules
// out most, so that a miss does not read the whole cassette.
func (c candidate) mayYield(later candidate, body, text []byte) bool {
	if c.lane != later.lane {
		return later.lane
	}
	end := c.shared
	if c.unused {
		end++ // what shares as much comes after c
	}
	from := max(0, end-16)
	return end <= len(body) && end <= len(text) && bytes.Equal(body[from:end], text[from:end])
}

func boolDesc(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func (p *player) wasUsed(i int) bool {
	q := p.queues[i]
	return slices.Index(q.episodes, i) < int(q.used.Load())
}

// commonPrefix is how many bytes two texts share at the beginning, found eight at a
// time.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// A comparison is a question beside an episode.
type comparison struct {
	episode  int
	lane     bool
	url      bool // the same one, or it does not matter
	unused   bool
	messages int // equal ones at the beginning
	differ
}

func (c *comparison) less(o *comparison) int {
	return cmp.Or(boolDesc(c.lane, o.lane), boolDesc(c.url, o.url), cmp.Compare(o.messages, c.messages), cmp.Compare(c.size, o.size), boolDesc(c.unused, o.unused), cmp.Compare(c.episode, o.episode))
}

func (p *player) compare(q *question, i int) *comparison {
	e, err := p.cassette.Episode(i)
	if err != nil {
		return nil // a damaged line is no neighbour; verify reports it
	}
	c := &comparison{episode: i, lane: e.Lane == q.lane, url: q.kind == kindHTTP || e.Request.URL == q.url, unused: !p.wasUsed(i)}
	c.text("lane", e.Lane, q.lane)
	c.text("method", e.Request.Method, q.method)
	c.text("url", e.Request.URL, q.url)
	for _, name := range keyHeaders {
		c.text("header "+name, strings.Join(e.Request.Header[name], ", "), strings.Join(q.header[name], ", "))
	}
	recorded, isJSON := p.keyer.rules.form(e.Request.Body, &memory{}) // masked when it was written
	if isJSON && q.isJSON {
		c.messages = equalMessages(recorded, q.form)
		c.value("", recorded, q.form)
	} else if !bytes.Equal(recorded, q.form) {
		c.add("body", recorded, q.form)
	}
	return c
}

// equalMessages counts the messages that a conversation shares with another from
// the beginning.
func equalMessages(a, b []byte) int {
	am, bm := messages(a), messages(b)
	n := 0
	for n < len(am) && n < len(bm) && bytes.Equal(a[am[n][0]:am[n][1]], b[bm[n][0]:bm[n][1]]) {
		n++
	}
	return n
}

func messages(b []byte) (out [][2]int) {
	eachMember(b, 0, func(name []byte, from, _ int) bool {
		switch string(name) {
		case `"messages"`, `"input"`, `"contents"`:
			out = elements(b, from)
		}
		return out == nil
	})
	return out
}

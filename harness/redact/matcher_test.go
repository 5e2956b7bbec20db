package redact

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// A matcher finds what a search at every byte finds: the first place, and there the
// longest needle, whatever the lengths of needles and wherever the search begins.
func TestMatcherFindsWhatASearchFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	text := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab/c"[rng.IntN(4)]
		}
		return b
	}
	found := 0
	for round := range 3000 {
		var needles []needle
		shortest := 4 + round%20
		for range 1 + rng.IntN(6) {
			needles = append(needles, needle{text: text(shortest + rng.IntN(10)), path: rng.IntN(3) == 0})
		}
		hay := text(rng.IntN(200))
		for range 4 {
			hay = append(hay, needles[rng.IntN(len(needles))].text...)
			hay = append(hay, text(rng.IntN(9))...)
		}
		m := newMatcher(needles)
		from := rng.IntN(len(hay) + 1)
		at, n := m.next(hay, from)
		wantAt, want := searched(m, hay, from)
		if at != wantAt || fmt.Sprint(n) != fmt.Sprint(want) {
			t.Fatalf("round %d, from %d of %q: found %d %v, want %d %v", round, from, hay, at, n, wantAt, want)
		}
		if n != nil {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("only %d rounds had a match", found)
	}
}

func searched(m *matcher, b []byte, from int) (int, *needle) {
	for at := from; at < len(b); at++ {
		var best *needle
		for i := range m.needles {
			n := &m.needles[i]
			if bytes.HasPrefix(b[at:], n.text) && (!n.path || standsAlone(b, at, at+len(n.text))) && (best == nil || len(n.text) > len(best.text)) {
				best = n
			}
		}
		if best != nil {
			return at, best
		}
	}
	return len(b), nil
}

package redact

import "bytes"

// A needle is a text to look for and what to put in its place.
type needle struct {
	text []byte
	with []byte
	path bool // a folder: must stand alone, /home/al is not in /home/alice
	rule string
}

// A matcher finds many needles in one pass. It samples a text: every so many bytes
// it looks whether the block there is one that a needle begins with or has near its
// beginning, so often that no needle falls between two samples. Samples do not depend on
// one another, so that the processor takes several at once. It is immutable.
type matcher struct {
	needles []needle
	min     int                    // length of the shortest needle, at most 16
	blocks  [tableSize / 64]uint64 // a bit for each block within the first min bytes of a needle
	first   [tableSize]int32       // slot to the first needle whose block at min-1 it is, plus 1
	chain   []int32                // needle to the next one of its slot, plus 1
}

const tableSize = 1 << 15

// newMatcher drops needles under minFolder bytes and repeated ones (the first stays).
func newMatcher(needles []needle) *matcher {
	m := &matcher{min: 16}
	seen := map[string]bool{}
	for _, n := range needles {
		if len(n.text) < minFolder || seen[string(n.text)] {
			continue
		}
		seen[string(n.text)] = true
		m.needles = append(m.needles, n)
		m.min = min(m.min, len(n.text))
	}
	m.chain = make([]int32, len(m.needles))
	for i, n := range m.needles {
		for end := block - 1; end < m.min; end++ {
			slot := slot(n.text, end)
			m.blocks[slot/64] |= 1 << (slot % 64)
		}
		slot := slot(n.text, m.min-1)
		m.chain[i], m.first[slot] = m.first[slot], int32(i+1)
	}
	return m
}

// block is how many bytes are hashed together.
const block = 3

// slot hashes the block of b that ends at index end.
func slot(b []byte, end int) uint {
	_ = b[end]
	return (uint(b[end-2])<<10 ^ uint(b[end-1])<<5 ^ uint(b[end])) % tableSize
}

// next finds the first match at or after from, the longest needle where several
// match; its needle is nil when there is none.
func (m *matcher) next(b []byte, from int) (at int, n *needle) {
	if len(m.needles) == 0 {
		return len(b), nil
	}
	every := m.min - block + 1
	for end := from + m.min - 1; end < len(b); end += every {
		slot := slot(b, end)
		if m.blocks[slot/64]&(1<<(slot%64)) == 0 {
			continue
		}
		start := end - m.min + 1 // a needle with this block begins here or soon after
		for ; start <= end-block+1 && start+m.min <= len(b); start++ {
			if n := m.at(b, start); n != nil {
				return start, n
			}
		}
	}
	return len(b), nil
}

// at is the longest needle that begins at b[start], or nil.
func (m *matcher) at(b []byte, start int) (n *needle) {
	for i := m.first[slot(b, start+m.min-1)]; i > 0; i = m.chain[i-1] {
		c := &m.needles[i-1]
		if !bytes.HasPrefix(b[start:], c.text) || c.path && !standsAlone(b, start, start+len(c.text)) {
			continue
		}
		if n == nil || len(c.text) > len(n.text) {
			n = c
		}
	}
	return n
}

// replace puts each needle's placeholder in its place.
func (m *matcher) replace(b []byte, edits *[]Edit) []byte {
	var e editor
	for at := 0; ; {
		i, n := m.next(b, at)
		if n == nil {
			return e.finish(b, edits)
		}
		at = i + len(n.text)
		e.replace(b, i, at, n.with)
	}
}

// standsAlone reports that b[from:to] is a whole folder name: what follows does
// not go on with the last name, and what precedes does not make another path of it.
func standsAlone(b []byte, from, to int) bool {
	return (to == len(b) || !isWord(b[to])) && startsWord(b, from)
}

// isWord reports a byte that a name, a key or URL-safe base64 may hold.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// startsWord reports that no word runs into b[at:]. The letter of an escape (the n
// of \n, the digits of a \u003d, of a %3D) is not part of a word.
func startsWord(b []byte, at int) bool {
	if at == 0 {
		return true
	}
	if !isWord(b[at-1]) {
		return !inBase64(b, at)
	}
	switch {
	case at >= 2 && b[at-2] == '\\' && bytes.IndexByte([]byte("bfnrt"), b[at-1]) >= 0:
		return true
	case at >= 3 && b[at-3] == '%' && isHex(b[at-1]) && isHex(b[at-2]):
		return true
	case at >= 6 && b[at-6] == '\\' && b[at-5] == 'u':
		return isHex(b[at-1]) && isHex(b[at-2]) && isHex(b[at-3]) && isHex(b[at-4])
	}
	return false
}

// inBase64 reports that b[:at] ends in a slash or a plus that is part of base64:
// eight letters, digits, slashes and pluses before it, not all of one lower-case
// word as in a path.
func inBase64(b []byte, at int) bool {
	if c := b[at-1]; c != '/' && c != '+' || at < 9 {
		return false
	}
	upper, lower := false, false
	for _, c := range b[at-9 : at-1] {
		if (!isWord(c) || c == '-' || c == '_') && c != '+' && c != '/' {
			return false
		}
		upper = upper || c >= 'A' && c <= 'Z'
		lower = lower || c >= 'a' && c <= 'z'
	}
	return upper && lower
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

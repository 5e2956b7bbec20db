package sqlite

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// A run is the hash of one, two or three characters that follow one another in a folded
// text, in 20 bits: the upper 8 name its bucket. Two runs may have one hash: what the
// index finds is looked at before it is believed.
type run uint32

const (
	runBits = 20
	buckets = 1 << (runBits - lowBits)
	lowBits = 12
)

func hash(a, b, c rune) run {
	h := (uint64(a)<<42 ^ uint64(b)<<21 ^ uint64(c)) * 0x9e3779b97f4a7c15 // each has 21 bits
	return run((h ^ h<<32) >> (64 - runBits))
}

// none stands for a character that is not there. No text holds it.
const none = utf8.MaxRune + 1

// A marker finds each run of a text once.
type marker struct{ seen [1 << runBits / 64]uint64 }

// add appends the runs of text to list, each once.
func (m *marker) add(list []run, text []byte) []run {
	from := len(list)
	mark := func(r run) {
		if word, bit := r/64, uint64(1)<<(r%64); m.seen[word]&bit == 0 {
			m.seen[word] |= bit
			list = append(list, r)
		}
	}
	var a, b rune = none, none
	for len(text) > 0 {
		c, n := rune(text[0]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRune(text)
		}
		text = text[n:]
		mark(hash(none, none, c))
		if b != none {
			mark(hash(none, b, c))
		}
		if a != none {
			mark(hash(a, b, c))
		}
		a, b = b, c
	}
	for _, r := range list[from:] {
		m.seen[r/64] = 0
	}
	return list
}

// wanted are the runs that a text must hold to hold query: the longest ones that query
// has, at most 64 characters from its beginning.
func wanted(query string) []run {
	var rs []rune
	for _, r := range query {
		if rs = append(rs, r); len(rs) == 64 {
			break
		}
	}
	switch len(rs) {
	case 1:
		return []run{hash(none, none, rs[0])}
	case 2:
		return []run{hash(none, rs[0], rs[1])}
	}
	var list []run
	for i := 2; i < len(rs); i++ {
		if r := hash(rs[i-2], rs[i-1], rs[i]); !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	return list
}

// A posting says that the text of one place in a block holds a run.
type posting uint32

func (p posting) run() run   { return run(p >> 8) }
func (p posting) place() int { return int(p & 0xff) }

// sorted orders postings by run, and by place as they are: by 10 bits of the run at once.
func sorted(list []posting) []posting {
	other := make([]posting, len(list))
	for shift := 8; shift < 8+runBits; shift += runBits / 2 {
		const digits = 1 << (runBits / 2)
		var starts [digits + 1]int
		for _, p := range list {
			starts[(p>>shift)%digits+1]++
		}
		for i := range digits {
			starts[i+1] += starts[i]
		}
		for _, p := range list {
			d := (p >> shift) % digits
			other[starts[d]] = p
			starts[d]++
		}
		list, other = other, list
	}
	return list
}

// pack writes sorted postings as one list a bucket: for each run its low bits, how many
// places less one, and the places.
func pack(list []posting) (packed [buckets][]byte) {
	for len(list) > 0 {
		r, n := list[0].run(), 1
		for n < len(list) && list[n].run() == r {
			n++
		}
		d := packed[r>>lowBits]
		d = binary.LittleEndian.AppendUint16(d, uint16(r%(1<<lowBits)))
		d = append(d, byte(n-1))
		for _, p := range list[:n] {
			d = append(d, byte(p.place()))
		}
		packed[r>>lowBits] = d
		list = list[n:]
	}
	return packed
}

// places are those of r in a bucket's list; false if the list is damaged.
func places(list []byte, r run) ([]byte, bool) {
	low := uint16(r % (1 << lowBits))
	for len(list) > 0 {
		if len(list) < 4 {
			return nil, false
		}
		has, n := binary.LittleEndian.Uint16(list), int(list[2])+1
		if len(list) < 3+n {
			return nil, false
		}
		if has >= low {
			if has > low {
				return nil, true
			}
			return list[3 : 3+n], true
		}
		list = list[3+n:]
	}
	return nil, true
}

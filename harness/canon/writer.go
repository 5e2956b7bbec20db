package canon

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A writer writes the canonical form of a text in one pass. The library needs two, and
// parses all of the text again where it sorts names; a replay does this for every
// request. The writer judges nothing: what it does not take (a mistake, a name that
// occurs twice, a deep nest) is for the library, which names the place.
type writer struct {
	src     []byte
	at      int // bytes of src that are read
	out     []byte
	members []span // of the objects that are open, the innermost's last
	scratch []byte
	plain   bool // the last string is ASCII without escapes
}

// maxWritten is the deepest nest that a writer takes: it is bound by the stack.
const maxWritten = 512

// write appends the canonical form of raw to dst; ok is false where the library has to
// look. A canonical text is never longer than its source: what dst has room for
// behind that serves for sorting.
func write(dst, raw []byte) (out []byte, ok bool) {
	w := writer{src: raw, out: slices.Grow(dst, len(raw)), members: make([]span, 0, 64)}
	most := len(w.out) + len(raw)
	w.scratch = w.out[most:most]
	ok = w.value(0)
	w.space()
	return w.out, ok && w.at == len(raw)
}

// space passes over white space and gives the byte behind it; 0 at the end.
func (w *writer) space() byte {
	for ; w.at < len(w.src); w.at++ {
		if c := w.src[w.at]; c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
	}
	return 0
}

// take passes over white space and c, if it is what comes.
func (w *writer) take(c byte) bool {
	if w.space() != c {
		return false
	}
	w.at++
	w.out = append(w.out, c)
	return true
}

func (w *writer) value(depth int) bool {
	switch c := w.space(); {
	case depth > maxWritten:
		return false
	case c == '"':
		return w.str()
	case c == '{':
		return w.object(depth)
	case c == '[':
		return w.list(depth)
	case c == 't':
		return w.word("true")
	case c == 'f':
		return w.word("false")
	case c == 'n':
		return w.word("null")
	}
	return w.number()
}

func (w *writer) word(text string) bool {
	end := w.at + len(text)
	if end > len(w.src) || string(w.src[w.at:end]) != text {
		return false
	}
	w.at, w.out = end, append(w.out, text...)
	return true
}

func (w *writer) list(depth int) bool {
	w.take('[')
	if w.take(']') {
		return true
	}
	for w.value(depth + 1) {
		if !w.take(',') {
			return w.take(']')
		}
	}
	return false
}

func (w *writer) object(depth int) bool {
	w.take('{')
	if w.take('}') {
		return true
	}
	first, sorted := len(w.members), true
	for {
		if w.space() != '"' {
			return false
		}
		m := span{from: len(w.out)}
		if !w.str() || !w.take(':') {
			return false
		}
		m.nameEnd, m.plain = len(w.out)-1, w.plain
		if !w.value(depth + 1) {
			return false
		}
		m.to = len(w.out)
		if n := len(w.members); n > first && w.compare(w.members[n-1], m) >= 0 {
			sorted = false
		}
		w.members = append(w.members, m)
		if !w.take(',') {
			break
		}
	}
	if !w.take('}') || !sorted && !w.order(w.members[first:]) {
		return false
	}
	w.members = w.members[:first]
	return true
}

// number copies a number as it is written.
func (w *writer) number() bool {
	from := w.at
	if w.is('-') {
		w.at++
	}
	if w.is('0') {
		w.at++
	} else if !w.digits() {
		return false
	}
	if w.is('.') {
		w.at++
		if !w.digits() {
			return false
		}
	}
	if w.is('e') || w.is('E') {
		w.at++
		if w.is('+') || w.is('-') {
			w.at++
		}
		if !w.digits() {
			return false
		}
	}
	w.out = append(w.out, w.src[from:w.at]...)
	return true
}

func (w *writer) is(c byte) bool { return w.at < len(w.src) && w.src[w.at] == c }

// digits passes over digits and reports whether there is one.
func (w *writer) digits() bool {
	from := w.at
	for w.at < len(w.src) && w.src[w.at] >= '0' && w.src[w.at] <= '9' {
		w.at++
	}
	return w.at > from
}

// str copies a string. Its escapes, if it has other ones than the short ones, are the
// library's.
func (w *writer) str() bool {
	from, short := w.at, true
	first := nextSpecial(w.src, from+1)
	for i := first; ; i = nextSpecial(w.src, i) {
		if i >= len(w.src) {
			return false
		}
		switch c := w.src[i]; {
		case c == '"':
			w.at, w.plain = i+1, i == first
			return w.quoted(w.src[from:w.at], short)
		case c == '\\':
			if i+1 == len(w.src) {
				return false
			}
			short = short && w.src[i+1] != 'u' && w.src[i+1] != '/'
			if !escapes[w.src[i+1]] {
				return false
			}
			i += 2
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(w.src[i:])
			if r == utf8.RuneError && n == 1 {
				return false
			}
			i += n
		default: // a control character
			return false
		}
	}
}

func (w *writer) quoted(text []byte, short bool) bool {
	if short {
		w.out = append(w.out, text...)
		return true
	}
	out, err := jsontext.AppendFormat(w.out, text)
	if err != nil {
		return false
	}
	w.out = out
	return true
}

// escapes are the bytes that may stand behind a backslash.
var escapes = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true, 'u': true}

// nextSpecial is where the next byte stands that is not plain within a string: a quote,
// a backslash, a control character, a byte of a longer rune; or len(b). It takes eight
// bytes at a time: a bit is set above each byte that is special, and perhaps above
// others behind the first.
func nextSpecial(b []byte, at int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; at+8 <= len(b); at += 8 {
		x := binary.LittleEndian.Uint64(b[at:])
		quote, back := x^(ones*'"'), x^(ones*'\\')
		special := x | (x-ones*' ')&^x | (quote-ones)&^quote | (back-ones)&^back
		if special &= high; special != 0 {
			return at + bits.TrailingZeros64(special)/8
		}
	}
	for at < len(b) && b[at] >= ' ' && b[at] < utf8.RuneSelf && b[at] != '"' && b[at] != '\\' {
		at++
	}
	return at
}

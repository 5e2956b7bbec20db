package cassette

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// escape rewrites JSON so that a YAML 1.1 reader takes it and reads the same
// strings: DEL, C1 (NEL among them), the byte order mark, U+2028, U+2029,
// U+FFFE and U+FFFF become \u escapes. In JSON they can only stand inside
// strings, so that no string needs to be parsed for it. The control characters
// below U+0020 are escaped by every JSON writer already. Characters above U+FFFF
// stay as they are: YAML does not join a pair of surrogate escapes.
func escape(src []byte) []byte {
	first := nextUnsafe(src)
	if first < 0 {
		return src
	}
	dst := make([]byte, 0, len(src)+64)
	for first >= 0 {
		dst = append(dst, src[:first]...)
		code, size := unsafeAt(src[first:])
		dst = append(dst, '\\', 'u', hexDigits[code>>12], hexDigits[code>>8&15], hexDigits[code>>4&15], hexDigits[code&15])
		src = src[first+size:]
		first = nextUnsafe(src)
	}
	return append(dst, src...)
}

// quote appends the inside of a JSON string, safe as escape makes it.
func quote(dst, b []byte) []byte {
	from := 0
	for i := nextSuspect(b, 0); i < len(b); i = nextSuspect(b, i) {
		short, size := shortEscape(b[i]), 1
		code := uint16(b[i])
		if short == 0 && b[i] >= 0x20 {
			code, size = unsafeAt(b[i:])
		}
		if size == 0 {
			i++
			continue
		}
		dst = append(dst, b[from:i]...)
		if short != 0 {
			dst = append(dst, '\\', short)
		} else {
			dst = append(dst, '\\', 'u', hexDigits[code>>12], hexDigits[code>>8&15], hexDigits[code>>4&15], hexDigits[code&15])
		}
		i += size
		from = i
	}
	return append(dst, b[from:]...)
}

// suspects are the bytes that must be escaped, or with which a character begins
// that must be.
var suspects = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	for _, c := range []byte{'"', '\\', 0x7f, 0xc2, 0xe2, 0xef} {
		t[c] = true
	}
	return t
}()

// nextSuspect is where the next of the suspects stands, or len(b).
func nextSuspect(b []byte, at int) int {
	for at < len(b) && !suspects[b[at]] {
		at++
	}
	return at
}

// quotedLen is the length of what quote appends, or a little more.
func quotedLen(b []byte) int {
	n := len(b)
	for i := nextSuspect(b, 0); i < len(b); i = nextSuspect(b, i+1) {
		if n++; shortEscape(b[i]) == 0 {
			n += 4
		}
	}
	return n
}

// shortEscape is the letter that escapes c, or 0. The pairs go both ways.
func shortEscape(c byte) byte {
	switch c {
	case '"', '\\':
		return c
	case '\n':
		return 'n'
	case '\t':
		return 't'
	case '\r':
		return 'r'
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	}
	return 0
}

// unquote undoes quote up to the quote that ends the string; rest begins with that
// quote, and is nil when there is none. It takes what quote writes and nothing else
// that JSON would allow: what differs was not written here.
func unquote(src []byte) (text, rest []byte, err error) {
	dst := make([]byte, len(src)+wide)
	at, n := 0, 0
	for {
		copied, made := unquoteWide(dst[n:], src[at:])
		at, n = at+copied, n+made
		switch {
		case at == len(src), src[at] == '"':
			return closed(dst[:n:n], src[at:])
		case src[at] >= 0x20 && src[at] != '\\':
			dst[n] = src[at]
			at, n = at+1, n+1
		case at+1 < len(src) && src[at] == '\\' && unescapes[src[at+1]] != 0:
			dst[n] = unescapes[src[at+1]]
			at, n = at+2, n+1
		default:
			r, err := codeEscape(src[at:])
			if err != nil {
				return nil, nil, err
			}
			at, n = at+6, n+utf8.EncodeRune(dst[n:], r)
		}
	}
}

func closed(text, rest []byte) (_, _ []byte, err error) {
	if !utf8.Valid(text) {
		return nil, nil, errors.New("a body is not UTF-8")
	}
	if len(rest) == 0 {
		return text, nil, nil
	}
	return text, rest, nil
}

// wide is what unquoteWide needs of both texts, in bytes.
const wide = 16

// unquoteWide does what unquote does, up to what is neither plain nor a short
// escape, or up to the last bytes of src. It copies eight bytes at a time, further
// than it knows them to be plain: what is wrong of that is written over.
func unquoteWide(dst, src []byte) (at, n int) {
	for at+wide <= len(src) {
		from, to := src[at:at+wide:at+wide], dst[n:n+wide:n+wide]
		w := binary.LittleEndian.Uint64(from)
		binary.LittleEndian.PutUint64(to, w)
		found := special(w)
		if found == 0 {
			at, n = at+8, n+8
			continue
		}
		plain := bits.TrailingZeros64(found) / 8 % 8
		c := unescapes[from[plain+1]]
		if from[plain] != '\\' || c == 0 {
			return at + plain, n + plain
		}
		to[plain] = c
		at, n = at+plain+2, n+plain+1
	}
	return at, n
}

// special has a bit in the lowest of the eight bytes of w that is a quote, a
// backslash or a control character, and perhaps bits above it; 0: there is none.
func special(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quotes, backslashes := w^(ones*'"'), w^(ones*'\\')
	return ((quotes-ones)&^quotes | (backslashes-ones)&^backslashes | (w-ones*0x20)&^w) & highs
}

// unescapes undoes shortEscape, by letter.
var unescapes = func() (t [256]byte) {
	for c := range byte(0x80) {
		if letter := shortEscape(c); letter != 0 {
			t[letter] = c
		}
	}
	return t
}()

// codeEscape is the character of the \u escape, of six bytes, that src begins with.
func codeEscape(src []byte) (rune, error) {
	if src[0] != '\\' || len(src) < 2 {
		return 0, fmt.Errorf("a body holds %q unescaped", src[:1])
	}
	if src[1] == 'u' && len(src) >= 6 && isHex(src[2:6]) {
		if r, err := strconv.ParseUint(string(src[2:6]), 16, 16); err == nil && !utf16.IsSurrogate(rune(r)) {
			return rune(r), nil
		}
	}
	return 0, fmt.Errorf("a body holds the escape %.6q", src)
}

const hexDigits = "0123456789abcdef"

// nextUnsafe is the offset of the first character that must be escaped, or -1.
func nextUnsafe(src []byte) int {
	for i, c := range src {
		if c != 0x7f && c != 0xc2 && c != 0xe2 && c != 0xef {
			continue
		}
		if _, size := unsafeAt(src[i:]); size > 0 {
			return i
		}
	}
	return -1
}

// unsafeAt decodes the unsafe character at the start of src; size 0 means that
// the character there is safe.
func unsafeAt(src []byte) (code uint16, size int) {
	switch {
	case src[0] == 0x7f:
		return 0x7f, 1
	case src[0] == 0xc2 && len(src) > 1 && src[1] >= 0x80 && src[1] <= 0x9f:
		return uint16(src[1]), 2
	case src[0] != 0xe2 && src[0] != 0xef:
		return 0, 0
	case bytes.HasPrefix(src, []byte("\u2028")):
		return 0x2028, 3
	case bytes.HasPrefix(src, []byte("\u2029")):
		return 0x2029, 3
	case bytes.HasPrefix(src, []byte("\ufeff")):
		return 0xfeff, 3
	case bytes.HasPrefix(src, []byte("\ufffe")):
		return 0xfffe, 3
	case bytes.HasPrefix(src, []byte("\uffff")):
		return 0xffff, 3
	}
	return 0, 0
}

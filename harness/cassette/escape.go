package cassette

import (
	"bytes"
	"errors"
	"fmt"
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
	for i := 0; i < len(b); {
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

// quotedLen is the length of what quote appends, or a little more.
func quotedLen(b []byte) int {
	n := len(b)
	for _, c := range b {
		switch {
		case shortEscape(c) != 0:
			n++
		case c < 0x20 || c == 0x7f || c == 0xc2 || c == 0xe2 || c == 0xef:
			n += 5
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

// unquote undoes quote. It takes what quote writes and nothing else that JSON
// would allow: what differs was not written here.
func unquote(src []byte) ([]byte, error) {
	dst := make([]byte, 0, len(src))
	for len(src) > 0 {
		i := plainRun(src)
		dst = append(dst, src[:i]...)
		if i == len(src) {
			break
		}
		var err error
		if dst, src, err = unescape(dst, src[i:]); err != nil {
			return nil, err
		}
	}
	if !utf8.Valid(dst) {
		return nil, errors.New("a body is not UTF-8")
	}
	return dst, nil
}

// plainRun is the length of what stands for itself.
func plainRun(src []byte) int {
	for i, c := range src {
		if c == '\\' || c == '"' || c < 0x20 {
			return i
		}
	}
	return len(src)
}

// unescape takes one escape off src.
func unescape(dst, src []byte) (to, rest []byte, err error) {
	if src[0] != '\\' || len(src) < 2 {
		return nil, nil, fmt.Errorf("a body holds %q unescaped", src[:1])
	}
	switch c := src[1]; c {
	case '"', '\\':
		return append(dst, c), src[2:], nil
	case 'n':
		return append(dst, '\n'), src[2:], nil
	case 't':
		return append(dst, '\t'), src[2:], nil
	case 'r':
		return append(dst, '\r'), src[2:], nil
	case 'b':
		return append(dst, '\b'), src[2:], nil
	case 'f':
		return append(dst, '\f'), src[2:], nil
	}
	if src[1] == 'u' && len(src) >= 6 && isHex(src[2:6]) {
		if r, err := strconv.ParseUint(string(src[2:6]), 16, 16); err == nil && !utf16.IsSurrogate(rune(r)) {
			return utf8.AppendRune(dst, rune(r)), src[6:], nil
		}
	}
	return nil, nil, fmt.Errorf("a body holds the escape %.6q", src)
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

package cassette

import "bytes"

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

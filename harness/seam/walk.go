package seam

import "bytes"

// The functions of this file find their way in JSON text without decoding it. The
// text need not be valid: they never read beyond it, and give -1 where they are
// lost.

func skipSpace(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\n' || b[at] == '\t' || b[at] == '\r') {
		at++
	}
	return at
}

// skipString is the end of the string that begins at b[at].
func skipString(b []byte, at int) int {
	for i := at + 1; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		back := i - 1
		for back > at && b[back] == '\\' {
			back--
		}
		if (i-back)%2 == 1 {
			return i + 1
		}
	}
	return -1
}

// skipValue is the end of the value that begins at b[at].
func skipValue(b []byte, at int) int {
	depth := 0
	for at < len(b) {
		switch b[at] {
		case '"':
			if at = skipString(b, at); at < 0 {
				return -1
			}
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return -1 // no value begins so
			}
			at++
			continue
		default: // a number or a literal
			for at++; at < len(b) && !structural[b[at]]; at++ {
			}
		}
		if depth <= 0 {
			return at
		}
	}
	return -1
}

// structural bytes end a number or a literal.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true, ',': true, ':': true, ' ': true, '\n': true, '\t': true, '\r': true}

// eachMember calls f with the name (quoted, as written) and the value of every
// member of the object at b[at], until f says false.
func eachMember(b []byte, at int, f func(name []byte, from, to int) bool) {
	if at < 0 || at >= len(b) || b[at] != '{' {
		return
	}
	for at = skipSpace(b, at+1); at < len(b) && b[at] == '"'; at = skipSpace(b, at+1) {
		end := skipString(b, at)
		if end < 0 {
			return
		}
		name := b[at:end]
		if at = skipSpace(b, end); at >= len(b) || b[at] != ':' {
			return
		}
		from := skipSpace(b, at+1)
		to := skipValue(b, from)
		if to < 0 || !f(name, from, to) {
			return
		}
		if at = skipSpace(b, to); at >= len(b) || b[at] != ',' {
			return
		}
	}
}

// elements are the values of the array at b[at], as [from, to).
func elements(b []byte, at int) [][2]int {
	if at < 0 || at >= len(b) || b[at] != '[' {
		return nil
	}
	var out [][2]int
	for at = skipSpace(b, at+1); at < len(b) && b[at] != ']'; at = skipSpace(b, at+1) {
		to := skipValue(b, at)
		if to < 0 {
			return out
		}
		out = append(out, [2]int{at, to})
		if at = skipSpace(b, to); at >= len(b) || b[at] != ',' {
			return out
		}
	}
	return out
}

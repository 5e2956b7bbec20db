package store

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// isMark says whether DeriveID drops r without a gap: an accent, an apostrophe.
func isMark(r rune) bool { return unicode.Is(unicode.Mn, r) || r == '\'' || r == '’' }

// Fold makes two spellings that differ only in case equal, by Unicode's simple
// folding: one rune stays one rune, and invalid UTF-8 becomes U+FFFD.
func Fold(s string) string { return string(appendFolded(make([]byte, 0, len(s)), s)) }

// appendFolded appends the folded s to dst.
func appendFolded[T string | []byte](dst []byte, s T) []byte {
	for len(s) > 0 {
		ascii := 0
		for ascii < len(s) && s[ascii] < utf8.RuneSelf {
			ascii++
		}
		// K and S have sisters beyond ASCII (the Kelvin sign, the long s), which fold to
		// these letters in foldRune.
		dst = append(dst, s[:ascii]...)
		for i, c := range dst[len(dst)-ascii:] {
			if 'A' <= c && c <= 'Z' {
				dst[len(dst)-ascii+i] = c + 'a' - 'A'
			}
		}
		if s = s[ascii:]; len(s) > 0 {
			r, n := utf8.DecodeRuneInString(string(s[:min(utf8.UTFMax, len(s))]))
			dst, s = utf8.AppendRune(dst, foldRune(r)), s[n:]
		}
	}
	return dst
}

// foldRune is the smallest rune of the orbit of those that differ only in case, and a
// small letter where that is one of ASCII. r is beyond ASCII.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// SearchText is what a Query's Text is looked for in: the title and every string
// value of the body, unescaped, one a line, folded. Names of fields are left out:
// a search for "name" must not find every piece. Every backend uses it, so that
// all give equal answers.
//
// What a body may be is checked elsewhere: here names may stand twice, and what is not
// JSON from some place on is not searched from there.
func SearchText(title string, body []byte) string {
	text := appendFolded(make([]byte, 0, len(title)+len(body)), title)
	dec := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if dec.PeekKind() != jsontext.KindString {
			if _, err := dec.ReadToken(); err != nil {
				return string(text)
			}
			continue
		}
		in, n := dec.StackIndex(dec.StackDepth())
		name := in == jsontext.KindBeginObject && n%2 == 0
		s, err := dec.ReadValue()
		if err != nil {
			return string(text)
		}
		if !name {
			text = appendString(append(text, '\n'), s)
		}
	}
}

// appendString appends what a JSON string says, folded.
func appendString(text []byte, s jsontext.Value) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return appendFolded(text, []byte(s[1:len(s)-1]))
	}
	said, _ := jsontext.AppendUnquote(nil, s) // invalid UTF-8 is an error, and U+FFFD
	return appendFolded(text, said)
}

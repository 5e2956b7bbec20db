package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
)

// isMark says whether DeriveID drops r without a gap: an accent, an apostrophe.
func isMark(r rune) bool { return unicode.Is(unicode.Mn, r) || r == '\'' || r == '’' }

// Fold makes two spellings that differ only in case equal, by Unicode's simple
// folding: one rune stays one rune, and invalid UTF-8 becomes U+FFFD.
func Fold(s string) string { return strings.Map(foldRune, s) }

// foldRune is the smallest rune of the orbit of those that differ only in case.
func foldRune(r rune) rune {
	if r < 0x80 {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		// K and S have sisters beyond ASCII (the Kelvin sign, the long s), which
		// fold to these letters below.
		return r
	}
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
func SearchText(title string, body []byte) string {
	var b strings.Builder
	b.WriteString(Fold(title))
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	for tok, isKey := range tokens(dec) {
		if s, ok := tok.(string); ok && !isKey {
			b.WriteByte('\n')
			b.WriteString(Fold(s))
		}
	}
	return b.String()
}

// tokens yields the tokens of a JSON text and whether each is a field's name. It
// stops at the first error: what is not JSON is not searched.
func tokens(dec *json.Decoder) func(yield func(json.Token, bool) bool) {
	type frame struct{ object, value bool } // value: the next string is a value
	return func(yield func(json.Token, bool) bool) {
		var stack []frame
		for {
			tok, err := dec.Token()
			if errors.Is(err, io.EOF) || err != nil {
				return
			}
			key := false
			if top := len(stack) - 1; top >= 0 && stack[top].object {
				d, closing := tok.(json.Delim)
				if !(closing && d == '}') {
					key = !stack[top].value
					stack[top].value = !stack[top].value
				}
			}
			if d, ok := tok.(json.Delim); ok {
				switch d {
				case '{', '[':
					stack = append(stack, frame{object: d == '{'})
				default:
					stack = stack[:len(stack)-1]
				}
			}
			if !yield(tok, key) {
				return
			}
		}
	}
}

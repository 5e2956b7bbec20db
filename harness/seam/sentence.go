package seam

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Of two long texts that differ, a person wants to see the sentence in which they part,
// not the 80 characters around it. A prompt is such a text.

// maxSentence is how many characters of a sentence a difference shows.
const maxSentence = 240

// sentences shows two quoted strings by the sentences around their first difference. It
// reports false where that would not say more than the strings themselves.
func sentences(a, b []byte) (from, to string, ok bool) {
	if len(a) < 2 || len(b) < 2 || a[0] != '"' || b[0] != '"' || utf8.RuneCount(a) <= maxClip && utf8.RuneCount(b) <= maxClip {
		return "", "", false
	}
	x, err := jsontext.AppendUnquote(nil, a)
	if err != nil {
		return "", "", false
	}
	y, err := jsontext.AppendUnquote(nil, b)
	if err != nil {
		return "", "", false
	}
	same := commonPrefix(x, y)
	for same > 0 && (same < len(x) && !utf8.RuneStart(x[same]) || same < len(y) && !utf8.RuneStart(y[same])) {
		same--
	}
	start := sentenceStart(x[:same])
	from, to = quoteSentence(x, start, same), quoteSentence(y, start, same)
	if strings.Trim(from, "…") != strings.Trim(to, "…") {
		return from, to, true
	}
	// They part where the sentence ends: what follows is another.
	afterX, afterY := skipBlank(x, same), skipBlank(y, same)
	from, to = quoteSentence(x, afterX, afterX), quoteSentence(y, afterY, afterY)
	return from, to, strings.Trim(from, "…") != strings.Trim(to, "…")
}

// skipBlank is where text goes on after spaces and line ends.
func skipBlank(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n') {
		at++
	}
	return at
}

// sentenceStart is where the sentence begins that goes on at the end of b, or that
// begins there.
func sentenceStart(b []byte) int {
	for i := len(b); i > 0; i-- {
		if endsSentence(b, i) {
			return i
		}
	}
	return 0
}

// endsSentence reports whether a new sentence, or a new line, begins at b[i].
func endsSentence(b []byte, i int) bool {
	if b[i-1] == '\n' {
		return true
	}
	return i >= 2 && b[i-1] == ' ' && bytes.IndexByte([]byte(".!?"), b[i-2]) >= 0
}

// quoteSentence is the part of text from start to the end of the sentence that holds
// text[at], as a JSON string with … for what is left out. Of a long sentence it is what
// is around at.
func quoteSentence(text []byte, start, at int) string {
	end := len(text)
	for i := at + 1; i < len(text); i++ {
		if endsSentence(text, i) {
			end = i
			break
		}
	}
	part := bytes.TrimRight(text[start:end], " \n")
	if n := utf8.RuneCount(part); n > maxSentence {
		if from := backRunes(text, at, maxSentence/3); from > start {
			start = from
		}
		part = text[start:end]
		if r := bytes.Runes(part); len(r) > maxSentence {
			part, end = []byte(string(r[:maxSentence])), start
		}
	}
	out, err := jsontext.AppendQuote(nil, part)
	if err != nil {
		out = part
	}
	before, after := "", ""
	if start > 0 {
		before = "…"
	}
	if end < len(text) {
		after = "…"
	}
	return before + string(out) + after
}

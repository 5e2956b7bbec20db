package route

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/words"
	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// A word is one of a text, as routing sees it.
type word struct {
	text string // NFKC, in lower case
	stem string // Porter2
	stop bool   // says little: an article, a pronoun, please
}

// number reports a word of digits, or the name of a number.
func (w word) number() bool {
	_, named := cardinal([]word{w})
	return named || digits(strings.Replace(w.text, ".", "", 1))
}

// split is a text in words: what UAX #29 says is one, without spaces and punctuation.
func (l lexicon) split(text string) []word {
	var list []word
	for it := words.FromString(strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(text, " ")))); it.Next(); {
		s := it.Value()
		if !strings.ContainsFunc(s, letterOrDigit) {
			continue
		}
		w := word{text: s, stem: s}
		if !strings.ContainsFunc(s, notLetter) {
			w.stem = english.Stem(s, true)
		}
		w.stop = l.stop(w.text) || l.stop(w.stem)
		list = append(list, w)
	}
	return list
}

func letterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
func notLetter(r rune) bool     { return !unicode.IsLetter(r) }

// A lexicon is the words that say little in one story.
type lexicon struct{ more []string }

func (l lexicon) stop(w string) bool {
	return little(w) || slices.Contains(l.more, w)
}

// little are the words that say little in every story. It is short: a word that might be
// a command is not among them.
func little(w string) bool {
	switch w {
	case "a", "an", "the", "and", "or", "but",
		"of", "in", "on", "at", "to", "for", "from", "with", "by",
		"i", "me", "my", "mine", "we", "us", "our", "ours", "you", "your", "yours",
		"he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs",
		"am", "is", "are", "was", "were", "be", "been", "being", "do", "does", "did", "done",
		"this", "that", "these", "those",
		"let", "lets", "let's", "s", "please", "pleas", "just", "only", "onli", "also", "too":
		return true
	}
	return false
}

// stems are the stems of what is said, each once, in the order of the text.
func stems(list []word) []string {
	var out []string
	for _, w := range list {
		if !w.stop && !slices.Contains(out, w.stem) {
			out = append(out, w.stem)
		}
	}
	return out
}

// lead is the stem of the first word that says something: in a command, the verb.
func lead(list []word) string {
	for _, w := range list {
		if !w.stop && !w.number() {
			return w.stem
		}
	}
	return ""
}

// signature is the same for texts that say the same in another order, with other filling
// words and with numbers spelled or in digits; "" for a text that says nothing.
func signature(list []word) string {
	var all []string
	for _, w := range list {
		if w.stop {
			continue
		}
		s := w.stem
		if n, ok := cardinal([]word{w}); ok {
			s = strconv.Itoa(n)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(all), " ")))
	return hex.EncodeToString(sum[:8])
}

// folded is a text as a menu is matched with it: without what ends a sentence.
func folded(s string) string {
	return strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), " "), " .!?")
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Package plain makes text of strangers safe to show to a person.
//
// Names, prompts and replies come from cards and models. Printed as they are, they
// could move the cursor, hide what follows or turn the order of letters round, and so
// forge what a person decides on. This package spells such characters out. It is for
// skins alone: what is stored, sent to a model or printed as JSON stays as it is.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxBlank is how many blanks may follow each other in a line. More could push what
// comes after them to where it looks like a line of its own.
const maxBlank = 7

// Text is s with every character spelled out that a terminal acts on or that cannot
// be seen: \u001b for an escape, \u202e for what turns the order round, \xff for a
// byte that is not UTF-8. Line feeds and tabs stay; a carriage return before a line
// feed goes.
func Text(s string) string {
	if harmless(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case r == '\n', r == '\t', !acts(r):
			b.WriteString(s[i : i+size])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

// Line is Text on one line, at most max characters of s: line ends are ⏎, tabs are
// blanks, and a long run of blanks is counted.
func Line(s string, max int) string {
	s = strings.NewReplacer("\r\n", "⏎", "\n", "⏎", "\t", " ").Replace(Clip(s, max))
	var b strings.Builder
	run := 0
	blanks := func() {
		if run > maxBlank {
			fmt.Fprintf(&b, " ␣×%d ", run)
		} else {
			b.WriteString(strings.Repeat(" ", run))
		}
		run = 0
	}
	for i, r := range s {
		if blank(r) {
			run++
			continue
		}
		blanks()
		_, size := utf8.DecodeRuneInString(s[i:]) // r may stand for a byte that is no rune
		b.WriteString(s[i : i+size])
	}
	blanks()
	return Text(b.String())
}

// Clip is the first max characters of s, with … where something was cut off.
func Clip(s string, max int) string {
	for i := range s {
		if max--; max < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// harmless is the common case: printable ASCII with line feeds and tabs.
func harmless(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// acts reports whether r does something instead of being seen. The two joiners stay:
// scripts and emoji are written with them.
func acts(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return r != nonJoiner && r != joiner && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

// blank reports whether r takes up room and shows nothing.
func blank(r rune) bool {
	switch r {
	case '\u2800', '\u3164', '\u115f', '\u1160', '\uffa0': // an empty Braille cell, Hangul fillers
		return true
	}
	return unicode.Is(unicode.Zs, r)
}

package plain_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/runtime/plain"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"Ada\n\tLovelace":          "Ada\n\tLovelace",
		"é 漢 👩\u200d👧":             "é 漢 👩\u200d👧",
		"a\r\nb":                   "a\nb",
		"a\rb":                     `a\u000db`,
		"\x1b[2J\x07\x00\x7f":      `\u001b[2J\u0007\u0000\u007f`,
		"\u009b31m":                `\u009b31m`,
		"\u202eevil\u202c":         `\u202eevil\u202c`,
		"a\u2028b\u200b\ufeff":     `a\u2028b\u200b\ufeff`,
		"\U000e0041":               `\U000e0041`,
		"\xff\xfea":                `\xff\xfea`,
		"\ufffd":                   "\ufffd",
		"https://example.org/a?b&": "https://example.org/a?b&",
	} {
		if got := plain.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		in   string
		max  int
		want string
	}{
		{"a\nb\r\nc\td", 99, "a⏎b⏎c d"},
		{"a  b       c", 99, "a  b       c"},
		{"a" + strings.Repeat(" ", 80) + "[y] apply", 99, "a ␣×80 [y] apply"},
		{"a" + strings.Repeat("\u00a0\u2800", 8), 99, "a ␣×16 "},
		{"漢字かな", 2, "漢字…"},
		{"\x1b\x1b\x1b", 2, `\u001b\u001b…`},
		{"a\xffb", 9, `a\xffb`},
	} {
		if got := plain.Line(tt.in, tt.max); got != tt.want {
			t.Errorf("Line(%q, %d) = %q, want %q", tt.in, tt.max, got, tt.want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("Ada\x1b[1A\x1b[2K\r[y]\n\u202e\xff", 20)
	f.Fuzz(func(t *testing.T, s string, max int) {
		text, line := plain.Text(s), plain.Line(s, max%1000)
		for _, out := range []string{text, line} {
			if !utf8.ValidString(out) {
				t.Errorf("%q became %q, which is not UTF-8", s, out)
			}
			for _, r := range out {
				if unicode.IsControl(r) && r != '\n' && r != '\t' {
					t.Errorf("%q became %q", s, out)
				}
			}
		}
		if strings.ContainsAny(line, "\n\t") {
			t.Errorf("%q became the line %q", s, line)
		}
		if plain.Text(text) != text {
			t.Errorf("Text is not stable over %q", s)
		}
	})
}

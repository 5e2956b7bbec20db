package seam

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSentences(t *testing.T) {
	before := "You are careful. " + strings.Repeat("Words follow words here. ", 20)
	for _, c := range []struct{ name, a, b, from, to string }{
		{"changed", before + "Never delete a file. And more.", before + "Never delete a folder. And more.", `…"Never delete a file."…`, `…"Never delete a folder."…`},
		{"a line", before + "\n- one thing\n- two", before + "\n- one other thing\n- two", `…"- one thing"…`, `…"- one other thing"…`},
		{"added", before + "Be brief.", before + "Be kind. Be brief.", `…"Be brief."`, `…"Be kind."…`},
		{"added at the end", before, before + "Be kind.", `…""`, `…"Be kind."`},
		{"goes on in a new line", before + "Be kind.", before + "Be kind.\nBe brief.", `…""`, `…"Be brief."`},
		{"goes on", before + "Be kind. Be brief.", before + "Be kind.", `…"Be brief."`, `…""`},
		{"another after it", before + "Be kind.\n\nBe brief.", before + "Be kind. Be quick.", `…"Be brief."`, `…"Be quick."`},
		{"first", "Be kind. " + before, "Be brief. " + before, `"Be kind."…`, `"Be brief."…`},
		{"quotes", before + `Say "no".`, before + `Say "yes".`, `…"Say \"no\"."`, `…"Say \"yes\"."`},
		{"no space after the stop", before + "v1.2.3 of it.", before + "v1.2.4 of it.", `…"v1.2.3 of it."`, `…"v1.2.4 of it."`},
		{"letters of several bytes", before + "Ä ö ü.", before + "Ä ö é.", `…"Ä ö ü."`, `…"Ä ö é."`},
	} {
		a, _ := json.Marshal(c.a)
		b, _ := json.Marshal(c.b)
		from, to, ok := sentences(a, b)
		if !ok || from != c.from || to != c.to {
			t.Errorf("%s: %s and %s (%v), want %s and %s", c.name, from, to, ok, c.from, c.to)
		}
	}
}

// A sentence that has no end is shown around the difference, and not whole.
func TestLongSentence(t *testing.T) {
	long := strings.Repeat("word ", 500)
	from, to, ok := sentences([]byte(`"`+long+`here `+long+`"`), []byte(`"`+long+`there `+long+`"`))
	if !ok || len(from) > 2*maxSentence || !strings.Contains(from, "word here word") || !strings.Contains(to, "word there word") {
		t.Errorf("%v: %s and %s", ok, from, to)
	}
}

func TestShortTextsAreShownWhole(t *testing.T) {
	for _, c := range [][2]string{{`"a. b"`, `"a. c"`}, {`{}`, `"x"`}, {`12`, `13`}, {`"`, `"`}, {`"` + strings.Repeat("word ", 20) + `"`, `"` + strings.Repeat("word ", 20) + ` "`}} {
		if from, to, ok := sentences([]byte(c[0]), []byte(c[1])); ok {
			t.Errorf("%v: %s and %s", c, from, to)
		}
	}
}

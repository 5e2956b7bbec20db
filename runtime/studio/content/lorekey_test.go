package content_test

import (
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

func TestLoreKeySpelling(t *testing.T) {
	for _, tt := range []struct {
		text string
		want content.LoreKey
	}{
		{"lamp", content.LoreKey{Text: "lamp"}},
		{"/st(or|ro)m/i", content.LoreKey{Text: "st(or|ro)m", Regex: true, Flags: "i"}},
		{"/bad(/", content.LoreKey{Text: "bad(", Regex: true}},
		{`/a\/b[\/]\\/gi`, content.LoreKey{Text: `a/b[/]\\`, Regex: true, Flags: "gi"}},
		{"a/b", content.LoreKey{Text: "a/b"}},
		{"/a/b/", content.LoreKey{Text: "/a/b/"}},
		{"/a/v", content.LoreKey{Text: "/a/v"}},
		{"//", content.LoreKey{Text: "//"}},
		{`/a\/`, content.LoreKey{Text: `/a\/`}},
		{"", content.LoreKey{}},
	} {
		got := content.ReadKey(tt.text)
		if got != tt.want {
			t.Errorf("%q is %+v, want %+v", tt.text, got, tt.want)
		}
		if again := got.Spelled(); again != tt.text {
			t.Errorf("%q is spelled %q", tt.text, again)
		}
	}
	if got := (content.LoreKey{Text: `a\/b/c`, Regex: true, Flags: "iv"}).Spelled(); got != `/a\/b\/c/i` {
		t.Errorf("spelled %q", got)
	}
}

func FuzzLoreKey(f *testing.F) {
	f.Add("/a\\/b/gi")
	f.Add("/\\\\/")
	f.Fuzz(func(t *testing.T, text string) {
		if k := content.ReadKey(text); content.ReadKey(k.Spelled()) != k {
			t.Errorf("%q is %+v, is %q, is %+v", text, k, k.Spelled(), content.ReadKey(k.Spelled()))
		}
	})
}

package store_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

func TestDeriveID(t *testing.T) {
	tests := []struct{ title, want string }{
		{"Ada", "ada"},
		{"Ada Lovelace", "ada-lovelace"},
		{"  --Ada__Lovelace!! ", "ada-lovelace"},
		{"Élan Vitál, Ünïted", "elan-vital-united"},
		{"It's Ada’s", "its-adas"},
		{"İstanbul", "istanbul"},
		{"Ⅻ ﬁne ①", "xii-fine-1"},
		{"日本 Ada", "ada"},
		{"日本", "x-f7c2e5ec3d"},
		{"", "x-e3b0c44298"},
		{"../../etc/passwd", "etc-passwd"},
		{strings.Repeat("a", 64), strings.Repeat("a", 64)},
		{strings.Repeat("a", 65), strings.Repeat("a", 64)},
		{strings.Repeat("a", 63) + " b", strings.Repeat("a", 63)},
		{"a\xffb\x00c", "a-b-c"},
	}
	for _, tt := range tests {
		got := store.DeriveID(tt.title)
		if strings.HasPrefix(tt.want, "x-") {
			if !strings.HasPrefix(got, "x-") || len(got) != len(tt.want) || got != store.DeriveID(tt.title) {
				t.Errorf("DeriveID(%q) = %q, want an id from its hash", tt.title, got)
			}
		} else if got != tt.want {
			t.Errorf("DeriveID(%q) = %q, want %q", tt.title, got, tt.want)
		}
		if err := store.CheckID(got); err != nil {
			t.Errorf("DeriveID(%q) = %q is not an id: %v", tt.title, got, err)
		}
	}
	if store.DeriveID("日本") == store.DeriveID("中国") {
		t.Error("two titles without a usable character have one id")
	}
}

func TestCheckID(t *testing.T) {
	good := []string{"a", "9", "ada", "a-b", "a--b", "0-0", strings.Repeat("a", store.MaxID)}
	bad := []string{"", "-", "-a", "a-", "A", "ä", "a b", "a_b", "a.b", "a/b", "..", "a\n", "a\x00", "\xff", strings.Repeat("a", store.MaxID+1)}
	for _, id := range good {
		if err := store.CheckID(id); err != nil {
			t.Errorf("CheckID(%q) = %v", id, err)
		}
	}
	for _, id := range bad {
		if err := store.CheckID(id); fault.CodeOf(err) != store.CodeBadRef {
			t.Errorf("CheckID(%q) = %v, want %s", id, err, store.CodeBadRef)
		}
	}
	if err := store.CheckRef(store.Ref{Kind: "a/b", ID: "c"}); fault.CodeOf(err) != store.CodeBadRef {
		t.Errorf("CheckRef of a bad kind = %v", err)
	}
}

func FuzzDeriveID(f *testing.F) {
	for _, s := range []string{"Ada", "É", "日本", "-", strings.Repeat("ß", 100), "a\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, title string) {
		id := store.DeriveID(title)
		if err := store.CheckID(id); err != nil {
			t.Fatalf("DeriveID(%q) = %q: %v", title, id, err)
		}
		if again := store.DeriveID(title); again != id {
			t.Fatalf("DeriveID(%q) = %q, then %q", title, id, again)
		}
	})
}

func TestFold(t *testing.T) {
	for _, pair := range [][2]string{{"ABC", "abc"}, {"ÄÖÜ", "äöü"}, {"ΣΣ", "σς"}, {"K", "\u212a"}, {"s", "\u017f"}, {"ЁЖ", "ёж"}, {"ǅ", "ǆ"}} {
		if a, b := store.Fold(pair[0]), store.Fold(pair[1]); a != b {
			t.Errorf("Fold(%q) = %q, Fold(%q) = %q, want the same", pair[0], a, pair[1], b)
		}
	}
	if a, b := store.Fold("a"), store.Fold("b"); a == b {
		t.Error("different letters fold together")
	}
}

func FuzzSearchText(f *testing.F) {
	f.Add("T", []byte(`{"a":"B","c":["D",{"e":"F\n"}],"n":1,"x":null,"y":true}`))
	f.Add("\xff", []byte(`{"a":`))
	f.Add("", []byte(`}]`))
	f.Fuzz(func(t *testing.T, title string, body []byte) {
		text := store.SearchText(title, body)
		if !utf8.ValidString(text) || store.Fold(text) != text {
			t.Fatalf("SearchText(%q, %q) = %q is not folded UTF-8", title, body, text)
		}
		if !strings.HasPrefix(text, store.Fold(title)) {
			t.Fatalf("SearchText(%q, %q) = %q does not begin with the title", title, body, text)
		}
	})
}

func TestSearchTextLeavesNamesOut(t *testing.T) {
	got := store.SearchText("Title", []byte(`{"name":"Value","list":["One",{"deep":"Two"}],"empty":{},"n":12,"after":"Three"}`))
	if want := "title\nvalue\none\ntwo\nthree"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

package draft_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

func TestReviewRows(t *testing.T) {
	decl := func(paths ...string) []draft.Op {
		var o draft.Op
		for _, p := range paths {
			o.Changes = append(o.Changes, draft.Change{Path: p, Label: "L" + p})
		}
		return []draft.Op{o}
	}
	tests := []struct {
		name          string
		before, after string
		ops           []draft.Op
		want          []string // path|label|before|after
	}{
		{"declared", `{"n":"a"}`, `{"n":"b"}`, decl("/n"), []string{"/n|L/n|a|b"}},
		{"undeclared too", `{"n":"a","x":1}`, `{"n":"b","x":2}`, decl("/n"), []string{"/n|L/n|a|b", "/x|X|1|2"}},
		{"net nothing", `{"n":"a"}`, `{"n":"a"}`, decl("/n"), nil},
		{"declared order", `{"a":1,"b":1}`, `{"a":2,"b":2}`, decl("/b", "/a"), []string{"/b|L/b|1|2", "/a|L/a|1|2"}},
		{"declared above", `{"g":["a","b"]}`, `{"g":["a","c"]}`, decl("/g"), []string{`/g|L/g|["a","b"]|["a","c"]`}},
		{"list item", `{"g":["a","b"]}`, `{"g":["a","c"]}`, nil, []string{"/g/1|G 2|b|c"}},
		{"list grows", `{"g":["a"]}`, `{"g":["a","b"]}`, nil, []string{`/g|G|["a"]|["a","b"]`}},
		{"added object", `{}`, `{"data":{"first_mes":"hi"}}`, nil, []string{"/data/first_mes|First mes||hi"}},
		{"removed", `{"data":{"n":1}}`, `{}`, nil, []string{"/data/n|N|1|"}},
		{"kind of value", `{"n":"1"}`, `{"n":1}`, nil, []string{"/n|N|1|1"}},
		{"odd name", `{"a/b":1}`, `{"a/b":2}`, nil, []string{"/a~1b|A/b|1|2"}},
		{"create", ``, `{"e":{},"name":"Bob"}`, nil, []string{"/e|E||{}", "/name|Name||Bob"}},
		{"numbers as written", `{"n":1e2}`, `{"n":100}`, nil, []string{"/n|N|1e2|100"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := draft.Draft{ID: "d-1", Baseline: store.Piece{Ref: ada, Body: []byte(tt.before)}, Proposed: store.Piece{Ref: ada, Body: []byte(tt.after)}, Ops: tt.ops}
			var got []string
			for _, c := range draft.ReviewOf(d).Rows {
				got = append(got, strings.Join([]string{c.Path, c.Label, c.Before, c.After}, "|"))
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("rows %q, want %q", got, tt.want)
			}
		})
	}
}

func TestReviewIsBounded(t *testing.T) {
	var before, after []string
	for i := range draft.MaxRows + 5 {
		before = append(before, fmt.Sprintf(`"k%02d":0`, i))
		after = append(after, fmt.Sprintf(`"k%02d":1`, i))
	}
	d := draft.Draft{
		Baseline: store.Piece{Ref: ada, Body: []byte("{" + strings.Join(before, ",") + "}")},
		Proposed: store.Piece{Ref: ada, Body: []byte("{" + strings.Join(after, ",") + "}")},
	}
	if r := draft.ReviewOf(d); len(r.Rows) != draft.MaxRows || r.More != 5 {
		t.Errorf("%d rows and %d more, want %d and 5", len(r.Rows), r.More, draft.MaxRows)
	}
}

func TestReviewClips(t *testing.T) {
	long := strings.Repeat("😀é", 300)
	for _, n := range []int{draft.MaxValue - 1, draft.MaxValue, draft.MaxValue + 1} {
		s := string([]rune(long)[:n])
		d := draft.Draft{Baseline: store.Piece{Ref: ada, Body: []byte(`{"a":""}`)}, Proposed: store.Piece{Ref: ada, Body: []byte(`{"a":"` + s + `"}`)}}
		got := draft.ReviewOf(d).Rows[0].After
		if n <= draft.MaxValue && got != s || n > draft.MaxValue && (utf8.RuneCountInString(got) != draft.MaxValue || !strings.HasSuffix(got, "…")) || !utf8.ValidString(got) {
			t.Errorf("%d characters show as %d: %q", n, utf8.RuneCountInString(got), got)
		}
	}
	d := draft.Draft{
		Baseline: store.Piece{Ref: ada, Body: []byte(`{"a":"` + long + ` cat ` + long + `"}`)},
		Proposed: store.Piece{Ref: ada, Body: []byte(`{"a":"` + long + ` dog ` + long + `"}`)},
	}
	row := draft.ReviewOf(d).Rows[0]
	if !strings.Contains(row.Before, " cat ") || !strings.Contains(row.After, " dog ") {
		t.Errorf("the difference deep in a text is not shown: %q, %q", row.Before, row.After)
	}
	if n := utf8.RuneCountInString(row.Before); n > draft.MaxValue {
		t.Errorf("%d characters, want at most %d", n, draft.MaxValue)
	}
}

func TestReviewGathersWarnings(t *testing.T) {
	b := newBench(t)
	b.mustRename(t, "s-1", "Ada L.")
	d := b.mustRename(t, "s-1", "Ada Lovelace")
	r := b.Review(d)
	if len(r.Warnings) != 1 || len(r.Impact) != 1 {
		t.Errorf("warnings %v, impact %v, want each once", r.Warnings, r.Impact)
	}
	want := draft.Change{Path: "/name", Label: "Name", Before: "Ada", After: "Ada Lovelace"}
	if len(r.Rows) != 1 || r.Rows[0] != want || r.Target != "character/ada" || r.Draft != d.ID {
		t.Errorf("review %+v, want the one row %+v", r, want)
	}
}

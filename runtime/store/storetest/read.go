package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// refs lists what q selects.
func refs(t *testing.T, st store.Store, q store.Query) []string {
	t.Helper()
	list, err := st.List(t.Context(), q)
	if err != nil {
		t.Fatalf("List(%+v): %v", q, err)
	}
	got := []string{}
	for _, s := range list {
		got = append(got, s.Ref.String())
	}
	return got
}

func testList(t *testing.T, st store.Store) {
	for _, name := range []string{"b/x", "a/y", "b/a-b", "b/a", "b/ab", "a/10", "a/9"} {
		kind, id, _ := strings.Cut(name, "/")
		create(t, st, piece(kind, id), 1)
	}
	tests := []struct {
		name string
		q    store.Query
		want []string
	}{
		{"all, in byte order", store.Query{}, []string{"a/10", "a/9", "a/y", "b/a", "b/a-b", "b/ab", "b/x"}},
		{"kind", store.Query{Kind: "a"}, []string{"a/10", "a/9", "a/y"}},
		{"no such kind", store.Query{Kind: "c"}, []string{}},
		{"limit", store.Query{Limit: 2}, []string{"a/10", "a/9"}},
		{"after", store.Query{After: store.Ref{Kind: "a", ID: "y"}, Limit: 2}, []string{"b/a", "b/a-b"}},
		{"after what is not there", store.Query{After: store.Ref{Kind: "b", ID: "aa"}}, []string{"b/ab", "b/x"}},
		{"after in a kind", store.Query{Kind: "a", After: store.Ref{Kind: "a", ID: "9"}}, []string{"a/y"}},
		{"after the last", store.Query{After: store.Ref{Kind: "b", ID: "x"}}, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := refs(t, st, tt.q); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	for _, limit := range []int{-1, store.MaxList + 1} {
		_, err := st.List(t.Context(), store.Query{Limit: limit})
		wantCode(t, fmt.Sprint("limit ", limit), err, fault.Invalid)
	}
	_, err := st.List(t.Context(), store.Query{Text: strings.Repeat("é", store.MaxText+1)})
	wantCode(t, "long text", err, store.CodeTooLarge)
	list, err := st.List(t.Context(), store.Query{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := store.Summary{Ref: store.Ref{Kind: "a", ID: "10"}, Revision: 1, Title: "Title of 10", Size: int64(len(`{"name":"10"}`)), Updated: list[0].Updated}
	if list[0] != want || !list[0].Updated.Equal(store.Instant(stamp(1).At)) {
		t.Errorf("summary %+v, want %+v", list[0], want)
	}
}

func testPages(t *testing.T, st store.Store) {
	const n = 23
	for i := range n {
		create(t, st, piece("k", fmt.Sprintf("p-%02d", i)), 1)
	}
	var got []string
	for s, err := range store.All(t.Context(), st, store.Query{Limit: 5}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s.ID)
	}
	if len(got) != n || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != n {
		t.Errorf("pages give %v, want %d ids, each once and in order", got, n)
	}
}

func testSearch(t *testing.T, st store.Store) {
	bodies := map[string]string{
		"plain":   `{"description":"The quick brown Fox"}`,
		"unicode": `{"text":"ΣΊΣΥΦΟΣ и ЁЖИК, İstanbul, 日本語"}`,
		"percent": `{"text":"100% sure, snake_case and back\\slash"}`,
		"escaped": `{"text":"a \"quoted\" word\nnext line","n":4711}`,
		"nested":  `{"list":[{"deep":["needle"]},{"x":null}]}`,
		"kelvin":  `{"text":"5 \u212a and Ma\u017fs"}`,
		"wild":    `{"text":"1000 sure, snakeXcase"}`,
	}
	for id, body := range bodies {
		p := piece("k", id)
		p.Title, p.Body = "T "+id, []byte(body)
		create(t, st, p, 1)
	}
	p := create(t, st, piece("k", "edited"), 1)
	p.Title, p.Body = "After", []byte(`{"text":"afterwards"}`)
	if _, err := st.Update(t.Context(), p, stamp(2)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		text string
		want []string
	}{
		{"fox", []string{"k/plain"}},
		{"QUICK BROWN", []string{"k/plain"}},
		{"σίσυφοσ", []string{"k/unicode"}},
		{"ёжик", []string{"k/unicode"}},
		{"本", []string{"k/unicode"}},
		{"100%", []string{"k/percent"}},
		{"snake_CASE", []string{"k/percent"}},
		{`back\slash`, []string{"k/percent"}},
		{`"QUOTED"`, []string{"k/escaped"}},
		{"word\nnext", []string{"k/escaped"}},
		{"needle", []string{"k/nested"}},
		{"5 k", []string{"k/kelvin"}},
		{"MASS", []string{"k/kelvin"}},
		{"t wild", []string{"k/wild"}},
		{"4711", []string{}},
		{"description", []string{}},
		{"%", []string{"k/percent"}},
		{"*", []string{}},
		{"after", []string{"k/edited"}},
		{"title of", []string{}},
		{"'; --", []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			if got := refs(t, st, store.Query{Text: tt.text}); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// testAliasing checks that a backend keeps no slice of its caller and gives none
// of its own away.
func testAliasing(t *testing.T, st store.Store) {
	p := piece("character", "ada")
	p.Escrow = []store.Escrow{{Format: "f", Raw: []byte("raw")}}
	want := stored(piece("character", "ada"), 1, stamp(1))
	want.Escrow = []store.Escrow{{Format: "f", Raw: []byte("raw")}}
	made := create(t, st, p, 1)
	p.Body[2], p.Escrow[0].Raw[0] = 'X', 'X'
	made.Body[2], made.Escrow[0].Raw[0] = 'Y', 'Y'
	for range 2 {
		got, err := st.Get(t.Context(), p.Ref, 0)
		if err != nil {
			t.Fatal(err)
		}
		wantPiece(t, got, want)
		got.Body[2], got.Escrow[0].Raw[0], got.Escrow[0].Format = 'Z', 'Z', "Z"
	}
}

func testDump(t *testing.T, st store.Store) {
	b := piece("b", "two")
	b.Escrow = []store.Escrow{{Format: "f", Name: "n", Raw: []byte("abc")}}
	b.Profiles = []byte(`{"p":1}`)
	create(t, st, b, 1)
	a := create(t, st, piece("a", "one"), 2)
	if _, err := st.Update(t.Context(), a, stamp(3)); err != nil {
		t.Fatal(err)
	}
	gone := create(t, st, piece("c", "three"), 4)
	if err := st.Delete(t.Context(), gone.Ref, 1, stamp(5)); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := store.Dump(t.Context(), st, &got); err != nil {
		t.Fatal(err)
	}
	want := `{"body":{"name":"one"},"id":"one","kind":"a","revision":2,"title":"Title of one"}
{"body":{"name":"two"},"escrow":[{"format":"f","name":"n","sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","size":3}],"id":"two","kind":"b","profiles":{"p":1},"revision":1,"title":"Title of two"}
`
	if got.String() != want {
		t.Errorf("dump:\n%s\nwant:\n%s", &got, want)
	}
}

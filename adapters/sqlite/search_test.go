package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/store/memory"
)

// A search by the index finds what looking at every text finds, whatever was written,
// changed and deleted before, and in whatever blocks that is.
func TestSearchIsLiteral(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	path := filepath.Join(t.TempDir(), "studio.db")
	st, plain := open(t, path), memory.New()
	alphabet := []rune("aaaaabbbbcdeé本ſK😀 \x00\n")
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteRune(alphabet[r.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 1100 {
		p := store.Piece{Ref: store.Ref{Kind: "k" + fmt.Sprint(r.IntN(2)), ID: fmt.Sprint("p-", r.IntN(400))}, Title: text(3)}
		p.Body = fmt.Appendf(nil, `{"text":%s}`, quoted(text(r.IntN(60))))
		both(t, st, plain, p, r.IntN(10) == 0)
	}
	queries := []string{"a", "本", "zz", "ss", "k", "\x00", "a\x00b", " ", "\n", "😀😀", strings.Repeat("a", 100)}
	for range 300 {
		queries = append(queries, text(1+r.IntN(6)))
	}
	for i, q := range queries {
		query := store.Query{Text: q, Limit: []int{0, 1, 7}[i%3]}
		if i%4 == 1 {
			query.Kind = "k1"
		}
		if i%5 == 1 {
			query.After = store.Ref{Kind: "k1", ID: "p-200"}
		}
		got, err := st.List(t.Context(), query)
		want, werr := plain.List(t.Context(), query)
		if err != nil || werr != nil {
			t.Fatal(err, werr)
		}
		for _, list := range [][]store.Summary{got, want} {
			for i := range list {
				list[i].Updated = list[i].Updated.UTC()
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %d found, want %d", query, len(got), len(want))
		}
	}
	_ = st.Close() // what is sealed beside the writers is sealed then
	if n := count(t, path, "SELECT count(*) FROM blocks"); n < 3 {
		t.Errorf("%d blocks: the index was not used", n)
	}
}

// A block whose texts were written again goes away, so that the index does not grow with
// each write.
func TestOldBlocksAreDissolved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "studio.db")
	st := open(t, path)
	const pieces, rounds = 130, 4
	for round := range rounds {
		for i := range pieces {
			p := store.Piece{Ref: store.Ref{Kind: "k", ID: fmt.Sprint("p-", i)}, Revision: int64(round), Body: fmt.Appendf(nil, `{"text":"round %d of %d"}`, round, i)}
			var err error
			if round == 0 {
				_, err = st.Create(t.Context(), p, store.Stamp{})
			} else {
				_, err = st.Update(t.Context(), p, store.Stamp{})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for round, want := range []int{rounds - 1: pieces} {
		if list, err := st.List(t.Context(), store.Query{Text: fmt.Sprintf("round %d of", round)}); err != nil || len(list) != want {
			t.Errorf("round %d: %d found, %v, want %d", round, len(list), err, want)
		}
	}
	_ = st.Close() // what is sealed beside the writers is sealed then
	if n := count(t, path, "SELECT count(*) FROM blocks"); n > 2 {
		t.Errorf("%d blocks for %d pieces after %d rounds", n, pieces, rounds)
	}
	if n := count(t, path, "SELECT count(*) FROM runs WHERE block NOT IN (SELECT last FROM blocks)"); n != 0 {
		t.Errorf("%d lists of runs belong to no block", n)
	}
	if n := count(t, path, "SELECT count(*) FROM (SELECT kind, id FROM texts UNION SELECT kind, id FROM behind)"); n != pieces {
		t.Errorf("the index knows of %d pieces, want %d", n, pieces)
	}
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < ' ' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// both writes p to two stores, or deletes it.
func both(t *testing.T, a, b store.Store, p store.Piece, remove bool) {
	t.Helper()
	for _, st := range []store.Store{a, b} {
		has, err := st.Get(t.Context(), p.Ref, 0)
		switch {
		case err == nil && remove:
			err = st.Delete(t.Context(), p.Ref, has.Revision, store.Stamp{})
		case err == nil:
			p.Revision = has.Revision
			_, err = st.Update(t.Context(), p, store.Stamp{})
		case fault.CodeOf(err) == fault.NotFound && !remove:
			_, err = st.Create(t.Context(), p, store.Stamp{})
		case remove:
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// count is one number from outside.
func count(t *testing.T, path, query string) (n int) {
	t.Helper()
	db := outside(t, path)
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Writers are not held up by the index, and a search is right at any moment: while blocks
// are made, before, and after the store was opened anew.
func TestSearchWhileBlocksAreMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "studio.db")
	st := open(t, path)
	for i := range 700 {
		p := store.Piece{Ref: store.Ref{Kind: "k", ID: fmt.Sprintf("p-%03d", i)}, Body: fmt.Appendf(nil, `{"text":"a word, and number %03d"}`, i)}
		if _, err := st.Create(t.Context(), p, store.Stamp{}); err != nil {
			t.Fatal(err)
		}
		if i%20 != 0 {
			continue
		}
		for text, want := range map[string]int{"a word": i + 1, fmt.Sprintf("number %03d", i): 1} {
			if list, err := st.List(t.Context(), store.Query{Text: text}); err != nil || len(list) != want {
				t.Fatalf("after %d pieces %q is found %d times, %v, want %d", i+1, text, len(list), err, want)
			}
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = open(t, path)
	if list, err := st.List(t.Context(), store.Query{Text: "a word"}); err != nil || len(list) != 700 {
		t.Errorf("%d found after it was opened anew, %v", len(list), err)
	}
	if n := count(t, path, "SELECT count(*) FROM behind"); n >= 700 {
		t.Errorf("all %d pieces are behind: nothing was sealed", n)
	}
}

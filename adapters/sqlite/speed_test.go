package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/sqlite"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// vocabulary is how many words the pieces of the benchmarks are made of, often the first
// ones and seldom the last, as in a language.
const vocabulary = 20_000

// wordAt is the same word every time.
func wordAt(i int) string {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	var b strings.Builder
	for range 3 + r.IntN(8) { // letters as often as in English, more or less
		b.WriteByte("eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnssssssshhhhhhrrrrrrddddlllluuucccmmmwwffggyyppbbvk"[r.IntN(100)])
	}
	return b.String()
}

// prose is text of n bytes.
func prose(r *rand.Rand, words []string, n int) string {
	var b strings.Builder
	for b.Len() < n {
		x := r.Float64()
		b.WriteString(words[int(x*x*x*float64(len(words)))])
		b.WriteByte(' ')
	}
	return b.String()
}

// large is the file of a studio of n pieces with bodies of 8 KB.
func large(tb testing.TB, n int) (path string, words []string) {
	tb.Helper()
	words = make([]string, vocabulary)
	for i := range words {
		words[i] = wordAt(i)
	}
	r := rand.New(rand.NewPCG(1, 2))
	path = filepath.Join(tb.TempDir(), "studio.db")
	st := open(tb, path)
	for i := range n {
		p := store.Piece{Ref: store.Ref{Kind: "character", ID: fmt.Sprintf("p-%05d", i)}, Title: fmt.Sprintf("Piece %d", i)}
		extra := ""
		if i == n/2 {
			extra = "the Xylographer of 日本橋"
		}
		p.Body = fmt.Appendf(nil, `{"name":"n%d","text":%q}`, i, prose(r, words, 8000)+extra)
		if _, err := st.Create(tb.Context(), p, store.Stamp{}); err != nil {
			tb.Fatal(err)
		}
	}
	return path, words
}

// BenchmarkSearch is a search over 10,000 pieces of 8 KB.
func BenchmarkSearch(b *testing.B) {
	path, words := large(b, 10_000)
	st := open(b, path)
	for _, bm := range []struct {
		name string
		q    store.Query
	}{
		{"one", store.Query{Text: "xylograph"}},
		{"one/two-letters", store.Query{Text: "日本"}},
		{"one/one-letter", store.Query{Text: "橋"}},
		{"none", store.Query{Text: "zeppelin over the quarry"}},
		{"seldom", store.Query{Text: " " + words[vocabulary-10] + " "}},
		{"often/limit=50", store.Query{Text: words[3], Limit: 50}},
		{"often/limit=1000", store.Query{Text: words[3]}},
		{"everywhere/limit=50", store.Query{Text: "a", Limit: 50}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				list, err := st.List(b.Context(), bm.q)
				if err != nil {
					b.Fatal(err)
				}
				n = len(list)
			}
			b.ReportMetric(float64(n), "found")
		})
	}
}

// BenchmarkOpenLarge is BenchmarkOpen in a studio of 10,000 pieces.
func BenchmarkOpenLarge(b *testing.B) {
	path, _ := large(b, 10_000)
	for b.Loop() {
		st, err := sqlite.Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := st.List(b.Context(), store.Query{Limit: 1}); err != nil {
			b.Fatal(err)
		}
		if err := st.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkApply is the apply of a draft whose piece has 8 KB, and beside it the same
// rows of the piece in one bare transaction of the same driver with the same settings.
// Both are measured in turn.
func BenchmarkApply(b *testing.B) {
	words := make([]string, vocabulary)
	for i := range words {
		words[i] = wordAt(i)
	}
	r := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(b.TempDir(), "studio.db")
	st := open(b, path)
	const pieces = 200
	svc := draft.New(st, st, clock.Real{}, anything{})
	var refs [pieces]store.Ref
	for i := range refs {
		refs[i] = store.Ref{Kind: "character", ID: fmt.Sprintf("p-%05d", i)}
		p := store.Piece{Ref: refs[i], Title: "T", Body: fmt.Appendf(nil, `{"text":%q}`, prose(r, words, 8000))}
		if _, err := st.Create(b.Context(), p, store.Stamp{}); err != nil {
			b.Fatal(err)
		}
	}
	bare := newBare(b, filepath.Join(b.TempDir(), "bare.db"))
	clk := clock.Real{}
	var ours, raw, n int64
	for b.Loop() {
		b.StopTimer()
		basis, err := svc.Base(b.Context(), "s-1", refs[n%pieces])
		if err != nil {
			b.Fatal(err)
		}
		after := basis.Piece
		after.Body = fmt.Appendf(nil, `{"text":%q}`, prose(r, words, 8000))
		d, err := svc.Compose(b.Context(), "s-1", draft.Proposal{Baseline: basis.Piece, Proposed: after})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		start := clk.Now()
		got, err := svc.Apply(b.Context(), "s-1", d.ID, n)
		ours += int64(clk.Now().Sub(start))
		b.StopTimer()
		if err != nil || got.Outcome != draft.Applied {
			b.Fatal(got, err)
		}
		start = clk.Now()
		bare.write(b, after, got.Revision)
		raw += int64(clk.Now().Sub(start))
		n++
		b.StartTimer()
	}
	b.ReportMetric(float64(raw)/float64(n), "bare-ns/op")
	b.ReportMetric(float64(ours)/float64(raw), "ratio")
}

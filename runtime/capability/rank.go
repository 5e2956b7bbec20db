package capability

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// The ranking is BM25 over words with a weight for the field a word stands in.
const (
	k1 = 1.2
	b  = 0.75

	weightID      = 3.0
	weightAlias   = 2.5
	weightKind    = 2.0 // kind, area, action
	weightSummary = 1.0
)

type doc struct {
	tool  tool.Tool
	words map[string]float64 // weighted count
	size  float64
}

// rank gives the tools that share a word with the query, best first, equal ones by
// id, and at most MaxRevealed.
func rank(tools []tool.Tool, query string) []tool.Tool {
	docs := make([]doc, len(tools))
	total := 0.0
	for i, t := range tools {
		docs[i] = docOf(t)
		total += docs[i].size
	}
	type hit struct {
		tool  tool.Tool
		score float64
	}
	var hits []hit
	wanted := slices.Compact(slices.Sorted(slices.Values(words(query))))
	for _, d := range docs {
		score := 0.0
		for _, w := range wanted {
			score += idf(docs, w) * saturate(d.words[w], d.size, total/float64(len(docs)))
		}
		if score > 0 {
			hits = append(hits, hit{d.tool, score})
		}
	}
	slices.SortFunc(hits, func(x, y hit) int {
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.tool.ID, y.tool.ID))
	})
	var best []tool.Tool
	for _, h := range hits[:min(len(hits), MaxRevealed)] {
		best = append(best, h.tool)
	}
	return best
}

func idf(docs []doc, word string) float64 {
	n := 0.0
	for _, d := range docs {
		if d.words[word] > 0 {
			n++
		}
	}
	all := float64(len(docs))
	return math.Log(1 + (all-n+0.5)/(n+0.5))
}

func saturate(count, size, average float64) float64 {
	if count == 0 {
		return 0
	}
	return count * (k1 + 1) / (count + k1*(1-b+b*size/average))
}

func docOf(t tool.Tool) doc {
	d := doc{tool: t, words: map[string]float64{}}
	add := func(text string, weight float64) {
		for _, w := range words(text) {
			d.words[w] += weight
			d.size += weight
		}
	}
	add(t.ID, weightID)
	add(t.Summary, weightSummary)
	for _, a := range t.Aliases {
		add(a, weightAlias)
	}
	add(t.Kind+" "+t.Area+" "+t.Action+" "+t.Domain, weightKind)
	return d
}

// stop are the words that say nothing about a tool.
var stop = map[string]bool{
	"a": true, "an": true, "and": true, "as": true, "for": true, "in": true, "it": true, "my": true, "of": true, "one": true,
	"or": true, "the": true, "this": true, "to": true, "with": true, "s": true, "please": true, "i": true, "want": true,
}

// words are the lower case words of a text without stop words and plurals.
func words(text string) []string {
	var list []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if stop[w] {
			continue
		}
		if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
		list = append(list, w)
	}
	return list
}

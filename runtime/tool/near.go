package tool

import (
	"cmp"
	"slices"
	"strings"
)

// Near returns at most three of names that somebody may have meant by name, the
// nearest first.
func Near(name string, names []string) []string {
	type scored struct {
		name string
		dist int
	}
	// Names are short; a hostile one must not cost a quadratic walk.
	if len(name) > 2*maxName {
		return nil
	}
	var found []scored
	low := strings.ToLower(name)
	for _, n := range names {
		d := distance(low, strings.ToLower(n))
		switch {
		case d <= 1+len(n)/4:
		case len(low) >= 3 && (strings.Contains(n, low) || strings.Contains(low, n)):
			d = 1 + len(n)/4
		default:
			continue
		}
		found = append(found, scored{n, d})
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(a.dist, b.dist) })
	var out []string
	for _, f := range found[:min(3, len(found))] {
		out = append(out, f.name)
	}
	return out
}

// distance is the number of edits between a and b; two letters that changed
// places count as one.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, prev, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(y)]
}

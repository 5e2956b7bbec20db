package diff

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxTable bounds the table of an alignment, in cells. Longer lists are paired in
// order.
const maxTable = 1 << 20

// align pairs two lists of n and m: first what is equal, as much as possible in order;
// then, in each gap between those, what is alike, in order. Each index occurs once; -1
// is beside one that has no other.
func align(n, m int, equal, alike func(i, j int) bool) [][2]int {
	var out [][2]int
	from := 0
	for from < n && from < m && equal(from, from) {
		out = append(out, [2]int{from, from})
		from++
	}
	end := 0
	for end < n-from && end < m-from && equal(n-1-end, m-1-end) {
		end++
	}
	i, j := from, from
	for _, p := range common(from, n-end, from, m-end, equal) {
		out = append(out, gap(i, p[0], j, p[1], alike)...)
		out = append(out, p)
		i, j = p[0]+1, p[1]+1
	}
	out = append(out, gap(i, n-end, j, m-end, alike)...)
	for k := range end {
		out = append(out, [2]int{n - end + k, m - end + k})
	}
	return out
}

// common is a longest common subsequence of two stretches.
func common(i0, i1, j0, j1 int, equal func(i, j int) bool) [][2]int {
	n, m := i1-i0, j1-j0
	if n <= 0 || m <= 0 || n > maxTable/m {
		return nil
	}
	long := make([][]int32, n+1)
	same := make([][]bool, n)
	for i := range long {
		long[i] = make([]int32, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		same[i] = make([]bool, m)
		for j := m - 1; j >= 0; j-- {
			if same[i][j] = equal(i0+i, j0+j); same[i][j] {
				long[i][j] = long[i+1][j+1] + 1
			} else {
				long[i][j] = max(long[i+1][j], long[i][j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case same[i][j]:
			out = append(out, [2]int{i0 + i, j0 + j})
			i, j = i+1, j+1
		case long[i+1][j] >= long[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// gap pairs what is alike in two stretches that share nothing equal.
func gap(i0, i1, j0, j1 int, alike func(i, j int) bool) [][2]int {
	var out [][2]int
	i := i0
	for j := j0; j < j1; j++ {
		k := i
		for k < i1 && !alike(k, j) {
			k++
		}
		if k == i1 {
			out = append(out, [2]int{-1, j})
			continue
		}
		for ; i < k; i++ {
			out = append(out, [2]int{i, -1})
		}
		out = append(out, [2]int{k, j})
		i = k + 1
	}
	for ; i < i1; i++ {
		out = append(out, [2]int{i, -1})
	}
	return out
}

// The bounds of what a change shows, in characters.
const (
	maxShown = 120
	before   = 40 // of them before the first difference
)

// clipPair shows both texts around the first character in which they differ.
func clipPair(a, b string) (string, string) {
	if a == "" || b == "" {
		return quoteClip(a), quoteClip(b)
	}
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	from := 0
	if utf8.RuneCountInString(a) > maxShown || utf8.RuneCountInString(b) > maxShown {
		from = start(a, same)
	}
	return quoteFrom(a, from), quoteFrom(b, from)
}

// start is where the sentence or line begins that holds the first difference, or a
// little before it where that is long.
func start(text string, same int) int {
	from := 0
	for _, end := range []string{"\n", ". ", "! ", "? "} {
		if i := strings.LastIndex(text[:same], end); i >= 0 {
			from = max(from, i+len(end))
		}
	}
	if from < same-before {
		from = same - before
	}
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	return from
}

func quoteFrom(s string, from int) string {
	from = min(from, len(s))
	q := quoteClip(s[from:])
	if from > 0 && q != "" {
		return "…" + q
	}
	return q
}

// quoteClip is a text in quotes, clipped; "" stays "".
func quoteClip(s string) string {
	if s == "" {
		return ""
	}
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		return clip(s)
	}
	if utf8.RuneCountInString(s) <= maxShown {
		return strconv.Quote(s)
	}
	return strconv.Quote(string([]rune(s)[:maxShown])) + "…"
}

func clip(s string) string {
	if utf8.RuneCountInString(s) <= maxShown {
		return s
	}
	return string([]rune(s)[:maxShown]) + "…"
}

// inPieces reports members that are several texts side by side: pieces of a stream, of
// signatures mostly.
func inPieces(extra string) bool { return strings.Contains(extra, "} {") }

// orObject is no members as JSON has them.
func orObject(extra string) string {
	if extra == "" {
		return "{}"
	}
	return extra
}

package draft

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// The bounds of a review.
const (
	MaxRows  = 20  // rows shown; the rest is counted
	MaxValue = 160 // characters (runes) of a value
)

// ReviewOf is the card of a draft: what differs between baseline and proposal, over
// all operations. Changes that no operation declared are rows too: what a person
// decides on is what would be saved.
func ReviewOf(d Draft) Review {
	r := Review{
		Draft: d.ID, Target: d.Proposed.Ref.String(), Title: d.Proposed.Title, Create: d.Create,
		Warnings: unique(d, func(o Op) []string { return o.Warnings }),
		Impact:   unique(d, func(o Op) []Impact { return o.Impact }),
	}
	rows := rowsOf(d)
	if len(rows) > MaxRows {
		rows, r.More = rows[:MaxRows], len(rows)-MaxRows
	}
	r.Rows = rows
	return r
}

// Review is the card of d.
func (s *Service) Review(d Draft) Review { return ReviewOf(d) }

// unique gathers what the operations say, each once, in order.
func unique[T comparable](d Draft, of func(Op) []T) []T {
	var all []T
	seen := map[T]bool{}
	for _, o := range d.Ops {
		for _, v := range of(o) {
			if !seen[v] {
				seen[v] = true
				all = append(all, v)
			}
		}
	}
	return all
}

func rowsOf(d Draft) []Change {
	before, after := tree(d.Baseline.Body), tree(d.Proposed.Body)
	labels := map[string]string{}
	var declared []string
	for _, o := range d.Ops {
		for _, c := range o.Changes {
			if _, ok := labels[c.Path]; !ok && c.Path != "" {
				declared = append(declared, c.Path)
			}
			labels[c.Path] = c.Label
		}
	}
	var paths []string
	differ(before, after, "", func(path string) { paths = append(paths, path) })
	rows := []Change{}
	for _, o := range d.Ops {
		for _, c := range o.Changes {
			if c.Path == "" { // about the whole piece, such as what it is a copy of
				c.Before, c.After = clipPair(c.Before, c.After)
				rows = append(rows, c)
			}
		}
	}
	for _, path := range inOrder(declared, paths) {
		b, a := clipPair(show(before.At(path)), show(after.At(path)))
		label := labels[path]
		if label == "" {
			label = labelOf(path)
		}
		rows = append(rows, Change{Path: path, Label: label, Before: b, After: a})
	}
	if same, err := equalJSON(d.Baseline.Profiles, d.Proposed.Profiles); err != nil || !same {
		b, a := clipPair(string(d.Baseline.Profiles), string(d.Proposed.Profiles))
		rows = append(rows, Change{Path: "profiles", Label: "Platform profiles", Before: b, After: a})
	}
	return rows
}

// tree parses a body; what cannot be parsed is shown as one text, so that it still
// differs.
func tree(body []byte) *canon.Node {
	if len(body) == 0 {
		return canon.NewObject()
	}
	n, err := canon.ParseTree(body)
	if err != nil {
		return canon.NewText(string(body))
	}
	return n
}

// differ calls emit with the pointer of each smallest part that is not equal.
func differ(a, b *canon.Node, path string, emit func(path string)) {
	if canon.Equal(a, b) {
		return
	}
	switch {
	case isObject(a) && isObject(b), a == nil && isObject(b) && b.Len() > 0, b == nil && isObject(a) && a.Len() > 0:
		for name, v := range a.Members() {
			differ(v, b.Field(name), path+canon.JoinPointer(name), emit)
		}
		for name, v := range b.Members() {
			if a.Field(name) == nil {
				differ(nil, v, path+canon.JoinPointer(name), emit)
			}
		}
	case a.Kind() == canon.Array && b.Kind() == canon.Array && a.Len() == b.Len():
		for i, v := range a.Items() {
			differ(v, item(b, i), path+indexPointer(i), emit)
		}
	default:
		emit(path)
	}
}

func isObject(n *canon.Node) bool { return n != nil && n.Kind() == canon.Object }

func item(n *canon.Node, i int) *canon.Node { return n.At(indexPointer(i)) }

// inOrder gives the paths of the rows: those that an operation declared first, in
// the order of declaration, each standing for all that differs below it; then the
// rest.
func inOrder(declared, paths []string) []string {
	var rows, rest []string
	used := map[string]bool{}
	for _, p := range paths {
		row := p
		for _, d := range declared {
			if p == d || strings.HasPrefix(p, d+"/") {
				row = d
				break
			}
		}
		if row == p && !slices.Contains(declared, p) {
			rest = append(rest, p)
			continue
		}
		used[row] = true
	}
	for _, d := range declared {
		if used[d] {
			rows = append(rows, d)
		}
	}
	return append(rows, rest...)
}

// show is a value as a person reads it: a string bare, anything else as JSON,
// nothing as "".
func show(n *canon.Node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind() == canon.String:
		return n.Text()
	}
	return string(n.Bytes())
}

// labelOf makes words of a pointer: "/data/first_mes" is "First mes", and
// "/greetings/2" is "Greetings 3".
func labelOf(path string) string {
	toks, err := canon.SplitPointer(path)
	if err != nil || len(toks) == 0 {
		return "Whole piece"
	}
	label := toks[len(toks)-1]
	if n, ok := ordinal(label); ok && len(toks) > 1 {
		label = toks[len(toks)-2] + " " + n
	}
	label = strings.Join(strings.FieldsFunc(label, func(r rune) bool { return r == '_' || unicode.IsSpace(r) }), " ")
	first, size := utf8.DecodeRuneInString(label)
	return string(unicode.ToUpper(first)) + label[size:]
}

// clipPair shortens two values to MaxValue runes each. Of long texts it shows where
// they begin to differ.
func clipPair(before, after string) (string, string) {
	b, a := []rune(before), []rune(after)
	if len(b) <= MaxValue && len(a) <= MaxValue {
		return before, after
	}
	same := 0
	for same < min(len(b), len(a)) && b[same] == a[same] {
		same++
	}
	const lead = 40 // characters shown before the difference
	from := 0
	if same > MaxValue/2 {
		from = same - lead
	}
	return clipRunes(b, from), clipRunes(a, from)
}

func clipRunes(r []rune, from int) string {
	if len(r) <= MaxValue && from == 0 {
		return string(r)
	}
	head, tail := "", ""
	r = r[min(from, len(r)):]
	room := MaxValue
	if from > 0 {
		head, room = "…", room-1
	}
	if len(r) > room {
		r, tail = r[:room-1], "…"
	}
	return head + string(r) + tail
}

func indexPointer(i int) string { return "/" + strconv.Itoa(i) }

// ordinal is an array index as people count.
func ordinal(tok string) (string, bool) {
	i, err := strconv.Atoi(tok)
	if err != nil || i < 0 {
		return "", false
	}
	return strconv.Itoa(i + 1), true
}

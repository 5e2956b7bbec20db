package load

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// An object reads a mapping key by key, and knows at the end which keys nobody asked for.
type object struct {
	l    *loader
	n    *source.Node
	what string // for findings: "state foyer"
	seen []string
}

// object begins to read a mapping. What is none is a finding, and reads as empty.
func (l *loader) object(n *source.Node, format string, args ...any) *object {
	o := &object{l: l, n: n, what: sprintf(format, args...)}
	if n.IsNull() {
		o.n = &source.Node{Kind: source.Map}
		if n != nil {
			o.n.Pos = n.Pos
		}
	} else if n.Kind != source.Map {
		l.fail(n.Pos, "%s is %s, and not a mapping", o.what, n.What())
		o.n = &source.Node{Kind: source.Map, Pos: n.Pos}
	}
	return o
}

// node is the value under a key, or nil.
func (o *object) node(name string) *source.Node {
	o.seen = append(o.seen, name)
	return o.n.Get(name)
}

func (o *object) has(name string) bool { return o.n.Get(name) != nil }

// pos is where the value of a key stands, or the object itself.
func (o *object) pos(name string) program.Pos {
	if v := o.n.Get(name); v != nil {
		return v.Pos
	}
	return o.n.Pos
}

// text reads a text; a number or a boolean is taken as one.
func (o *object) text(name string) string {
	n := o.node(name)
	if n.IsNull() {
		return ""
	}
	if n.Kind != source.Scalar {
		o.l.fail(n.Pos, "%s: %s is %s, and not a text", o.what, name, n.What())
		return ""
	}
	return n.Scalar.Text()
}

func (o *object) bool(name string) bool {
	n := o.node(name)
	if n.IsNull() {
		return false
	}
	if n.Kind != source.Scalar || n.Scalar.Kind() != value.Bool {
		o.l.fail(n.Pos, "%s: %s is %s, and not true or false", o.what, name, n.What())
	}
	return n.Scalar.Bool()
}

func (o *object) int(name string) int {
	n := o.node(name)
	if n.IsNull() {
		return 0
	}
	i, ok := n.Scalar.Int()
	if n.Kind != source.Scalar || !ok {
		o.l.fail(n.Pos, "%s: %s is %s, and not a whole number", o.what, name, n.What())
	}
	return int(i)
}

func (o *object) float(name string, otherwise float64) float64 {
	n := o.node(name)
	if n.IsNull() {
		return otherwise
	}
	f, ok := n.Scalar.Float()
	if n.Kind != source.Scalar || !ok {
		o.l.fail(n.Pos, "%s: %s is %s, and not a number", o.what, name, n.What())
	}
	return f
}

// texts reads a list of texts.
func (o *object) texts(name string) []string {
	var list []string
	for _, n := range o.list(name) {
		if n.Kind != source.Scalar {
			o.l.fail(n.Pos, "%s: %s has %s, and not a text", o.what, name, n.What())
			continue
		}
		list = append(list, n.Scalar.Text())
	}
	return list
}

// list reads a list.
func (o *object) list(name string) []*source.Node {
	n := o.node(name)
	if n.IsNull() {
		return nil
	}
	if n.Kind != source.List {
		o.l.fail(n.Pos, "%s: %s is %s, and not a list", o.what, name, n.What())
		return nil
	}
	return n.List
}

// entries reads a mapping of things with names.
func (o *object) entries(name string) []*source.Key {
	n := o.node(name)
	if n.IsNull() {
		return nil
	}
	if n.Kind != source.Map {
		o.l.fail(n.Pos, "%s: %s is %s, and not a mapping", o.what, name, n.What())
		return nil
	}
	return n.Keys
}

// oneOf reads a word.
func (o *object) oneOf(name string, words ...string) string {
	w := o.text(name)
	if w != "" && !slices.Contains(words, w) {
		o.l.fail(o.pos(name), "%s: %s is %q, and not one of %s", o.what, name, w, strings.Join(words, ", "))
	}
	return w
}

// done says which keys nobody asked for.
func (o *object) done() { o.extra(o.l.fail) }

func (o *object) extra(say func(at program.Pos, format string, args ...any)) {
	for _, k := range o.n.Keys {
		if !slices.Contains(o.seen, k.Name) {
			say(k.Pos, "%s: unknown key %q%s", o.what, k.Name, perhaps(k.Name, o.seen))
		}
	}
}

// perhaps names a key that was meant.
func perhaps(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return sprintf(" (perhaps %q)", best)
}

// distance is that of Levenshtein.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}

package load

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// An object reads a mapping key by key, and knows at the end which keys nobody asked for.
type object struct {
	l    *loader
	n    *node
	what string // for findings: "state foyer"
	seen []string
}

// object begins to read a mapping. What is none is a finding, and reads as empty.
func (l *loader) object(n *node, format string, args ...any) *object {
	o := &object{l: l, n: n, what: sprintf(format, args...)}
	if n.isNull() {
		o.n = &node{kind: mapNode}
	} else if n.kind != mapNode {
		l.fail(n.pos, "%s is %s, and not a mapping", o.what, n.what())
		o.n = &node{kind: mapNode, pos: n.pos}
	}
	return o
}

// node is the value under a key, or nil.
func (o *object) node(name string) *node {
	o.seen = append(o.seen, name)
	return o.n.get(name)
}

func (o *object) has(name string) bool { return o.n.get(name) != nil }

// pos is where the value of a key stands, or the object itself.
func (o *object) pos(name string) program.Pos {
	if v := o.n.get(name); v != nil {
		return v.pos
	}
	return o.n.pos
}

// text reads a text; a number or a boolean is taken as one.
func (o *object) text(name string) string {
	n := o.node(name)
	if n.isNull() {
		return ""
	}
	if n.kind != scalarNode {
		o.l.fail(n.pos, "%s: %s is %s, and not a text", o.what, name, n.what())
		return ""
	}
	return n.scalar.Text()
}

func (o *object) bool(name string) bool {
	n := o.node(name)
	if n.isNull() {
		return false
	}
	if n.kind != scalarNode || n.scalar.Kind() != value.Bool {
		o.l.fail(n.pos, "%s: %s is %s, and not true or false", o.what, name, n.what())
	}
	return n.scalar.Bool()
}

func (o *object) int(name string) int {
	n := o.node(name)
	if n.isNull() {
		return 0
	}
	i, ok := n.scalar.Int()
	if n.kind != scalarNode || !ok {
		o.l.fail(n.pos, "%s: %s is %s, and not a whole number", o.what, name, n.what())
	}
	return int(i)
}

func (o *object) float(name string, otherwise float64) float64 {
	n := o.node(name)
	if n.isNull() {
		return otherwise
	}
	f, ok := n.scalar.Float()
	if n.kind != scalarNode || !ok {
		o.l.fail(n.pos, "%s: %s is %s, and not a number", o.what, name, n.what())
	}
	return f
}

// texts reads a list of texts.
func (o *object) texts(name string) []string {
	var list []string
	for _, n := range o.list(name) {
		if n.kind != scalarNode {
			o.l.fail(n.pos, "%s: %s has %s, and not a text", o.what, name, n.what())
			continue
		}
		list = append(list, n.scalar.Text())
	}
	return list
}

// list reads a list.
func (o *object) list(name string) []*node {
	n := o.node(name)
	if n.isNull() {
		return nil
	}
	if n.kind != listNode {
		o.l.fail(n.pos, "%s: %s is %s, and not a list", o.what, name, n.what())
		return nil
	}
	return n.list
}

// entries reads a mapping of things with names.
func (o *object) entries(name string) []*key {
	n := o.node(name)
	if n.isNull() {
		return nil
	}
	if n.kind != mapNode {
		o.l.fail(n.pos, "%s: %s is %s, and not a mapping", o.what, name, n.what())
		return nil
	}
	return n.keys
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
func (o *object) done() {
	for _, k := range o.n.keys {
		if !slices.Contains(o.seen, k.name) {
			o.l.fail(k.pos, "%s: unknown key %q%s", o.what, k.name, perhaps(k.name, o.seen))
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

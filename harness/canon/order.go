package canon

import (
	"bytes"
	"slices"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// A span is a member in a writer's out, out[from:to], and where its name ends.
type span struct {
	from, nameEnd, to int
	plain             bool // the name is ASCII without escapes
}

// name is a member's name without its quotes.
func (w *writer) name(m span) []byte { return w.out[m.from+1 : m.nameEnd-1] }

// order writes the members of one object again, sorted, and reports whether their names
// are unique.
func (w *writer) order(members []span) (unique bool) {
	from, to := members[0].from, members[len(members)-1].to
	slices.SortFunc(members, w.compare)
	w.scratch = slices.Grow(w.scratch[:0], to-from)
	for i, m := range members {
		if i > 0 {
			w.scratch = append(w.scratch, ',')
			if bytes.Equal(w.name(m), w.name(members[i-1])) {
				return false
			}
		}
		w.scratch = append(w.scratch, w.out[m.from:m.to]...)
	}
	copy(w.out[from:], w.scratch)
	return true
}

// compare compares names by UTF-16 code units, as RFC 8785 does. Bytes come in the
// same order below U+E000, and names are hardly ever beyond it.
func (w *writer) compare(a, b span) int {
	x, y := w.name(a), w.name(b)
	if a.plain && b.plain || simple(x) && simple(y) {
		return bytes.Compare(x, y)
	}
	return slices.Compare(units(x), units(y))
}

// simple reports a name without escapes and without characters from U+E000 on.
func simple(name []byte) bool {
	for _, c := range name {
		if c == '\\' || c >= 0xee {
			return false
		}
	}
	return true
}

// units are the UTF-16 code units of a name.
func units(name []byte) []uint16 {
	quoted := slices.Concat([]byte{'"'}, name, []byte{'"'})
	plain, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		plain = name // cannot be: the text is valid
	}
	return utf16.Encode([]rune(string(plain)))
}

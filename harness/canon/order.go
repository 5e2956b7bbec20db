package canon

import (
	"bytes"
	"slices"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// A sorter sorts the members of every object of a text, in place. The text is valid
// JSON without spaces and with strings in canonical spelling. The parser can sort too,
// but parses all of the text again for it, which takes most of its time; here quotes and
// brackets are enough.
type sorter struct {
	text     []byte
	members  []span // of the objects that are open, the innermost's last
	scratch  []byte
	repeated bool // an object has a name twice
}

// A span is a member, text[from:to], and where its name ends.
type span struct{ from, nameEnd, to int }

// name is a member's name without its quotes.
func (s *sorter) name(m span) []byte { return s.text[m.from+1 : m.nameEnd-1] }

// sortNames sorts text, with the memory behind it for scratch, and reports whether its
// names are unique.
func sortNames(text []byte) (unique bool) {
	s := sorter{text: text, members: make([]span, 0, 64), scratch: text[len(text):]}
	s.value(0)
	return !s.repeated
}

// value sorts the value that begins at text[at] and gives its end.
func (s *sorter) value(at int) int {
	switch s.text[at] {
	case '"':
		return s.str(at)
	case '{':
		return s.object(at + 1)
	case '[':
		for at++; s.text[at] != ']'; {
			if at = s.value(at); s.text[at] == ',' {
				at++
			}
		}
		return at + 1
	}
	for at < len(s.text) && s.text[at] != ',' && s.text[at] != '}' && s.text[at] != ']' {
		at++
	}
	return at
}

// str is the end of the string that begins at text[at].
func (s *sorter) str(at int) int {
	for i := at + 1; ; i++ {
		i += bytes.IndexByte(s.text[i:], '"')
		back := i
		for s.text[back-1] == '\\' {
			back--
		}
		if (i-back)%2 == 0 {
			return i + 1
		}
	}
}

func (s *sorter) object(at int) int {
	first, sorted := len(s.members), true
	for s.text[at] != '}' {
		m := span{from: at, nameEnd: s.str(at)}
		m.to = s.value(m.nameEnd + 1)
		if at = m.to; s.text[at] == ',' {
			at++
		}
		if n := len(s.members); n > first && s.compare(s.members[n-1], m) >= 0 {
			sorted = false
		}
		s.members = append(s.members, m)
	}
	if !sorted {
		s.order(s.members[first:])
	}
	s.members = s.members[:first]
	return at + 1
}

// order writes the members of one object again, sorted.
func (s *sorter) order(members []span) {
	from, to := members[0].from, members[len(members)-1].to
	slices.SortFunc(members, s.compare)
	s.scratch = slices.Grow(s.scratch[:0], to-from)
	for i, m := range members {
		if i > 0 {
			s.scratch = append(s.scratch, ',')
			s.repeated = s.repeated || bytes.Equal(s.name(m), s.name(members[i-1]))
		}
		s.scratch = append(s.scratch, s.text[m.from:m.to]...)
	}
	copy(s.text[from:], s.scratch)
}

// compare compares names by UTF-16 code units, as RFC 8785 does. Bytes come in the
// same order below U+E000, and names are hardly ever beyond it.
func (s *sorter) compare(a, b span) int {
	x, y := s.name(a), s.name(b)
	if simple(x) && simple(y) {
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

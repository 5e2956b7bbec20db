package seam

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxClip is how many characters of a value a difference shows.
const maxClip = 80

// A differ collects differences between what was recorded and what was sent, both
// in canonical form.
type differ struct {
	found []Difference
	more  int
	size  int // bytes that differ, common beginnings and ends of values left aside: what "nearer" means
}

// add notes one difference. Either side may be nil: absent.
func (d *differ) add(where string, recorded, sent []byte) {
	same := commonPrefix(recorded, sent)
	r, t := recorded[same:], sent[same:]
	for len(r) > 0 && len(t) > 0 && r[len(r)-1] == t[len(t)-1] {
		r, t = r[:len(r)-1], t[:len(t)-1]
	}
	d.size += len(r) + len(t)
	if len(d.found) == maxDifferences {
		d.more++
		return
	}
	from, to := clipPair(recorded, sent)
	d.found = append(d.found, Difference{Where: where, Recorded: from, Sent: to})
}

func (d *differ) text(where, recorded, sent string) {
	if recorded != sent {
		d.add(where, []byte(strconv.Quote(recorded)), []byte(strconv.Quote(sent)))
	}
}

// value compares two values. Objects are compared member by member, arrays element
// by element, what they share at both ends left aside.
func (d *differ) value(pointer string, recorded, sent []byte) {
	switch {
	case bytes.Equal(recorded, sent):
	case recorded[0] == '{' && sent[0] == '{':
		d.object(pointer, recorded, sent)
	case recorded[0] == '[' && sent[0] == '[':
		d.array(pointer, recorded, sent)
	default:
		d.add(orRoot(pointer), recorded, sent)
	}
}

func orRoot(pointer string) string {
	if pointer == "" {
		return "body"
	}
	return pointer
}

func (d *differ) object(pointer string, recorded, sent []byte) {
	old := map[string][]byte{}
	var names []string
	eachMember(recorded, 0, func(name []byte, from, to int) bool {
		old[string(name)] = recorded[from:to]
		names = append(names, string(name))
		return true
	})
	now := map[string][]byte{}
	eachMember(sent, 0, func(name []byte, from, to int) bool {
		now[string(name)] = sent[from:to]
		if old[string(name)] == nil {
			names = append(names, string(name))
		}
		return true
	})
	for _, name := range names {
		at := pointer + "/" + token(name)
		switch a, b := old[name], now[name]; {
		case a == nil || b == nil:
			d.add(at, a, b)
		default:
			d.value(at, a, b)
		}
	}
}

// token is a quoted member name as a part of a JSON pointer.
func token(quoted string) string {
	name, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return quoted
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(string(name))
}

func (d *differ) array(pointer string, recorded, sent []byte) {
	a, b := spans(recorded), spans(sent)
	from := 0
	for from < len(a) && from < len(b) && bytes.Equal(a[from], b[from]) {
		from++
	}
	end := 0
	for end < len(a)-from && end < len(b)-from && bytes.Equal(a[len(a)-1-end], b[len(b)-1-end]) {
		end++
	}
	a, b = a[:len(a)-end], b[:len(b)-end]
	for i := from; i < max(len(a), len(b)); i++ {
		at := pointer + "/" + strconv.Itoa(i)
		switch {
		case i >= len(a):
			d.add(at, nil, b[i])
		case i >= len(b):
			d.add(at, a[i], nil)
		default:
			d.value(at, a[i], b[i])
		}
	}
}

func spans(b []byte) [][]byte {
	var out [][]byte
	for _, e := range elements(b, 0) {
		out = append(out, b[e[0]:e[1]])
	}
	return out
}

// clipPair shows both values around the first character in which they differ, and of
// long texts the sentences in which they do.
func clipPair(a, b []byte) (string, string) {
	if a == nil || b == nil {
		return clipFrom(a, 0), clipFrom(b, 0)
	}
	if from, to, ok := sentences(a, b); ok {
		return from, to
	}
	same := commonPrefix(a, b)
	for same > 0 && (same >= len(a) || !utf8.RuneStart(a[same]) || same >= len(b) || !utf8.RuneStart(b[same])) {
		same--
	}
	from := 0
	if utf8.RuneCount(a) > maxClip || utf8.RuneCount(b) > maxClip {
		from = backRunes(a, same, 24)
	}
	return clipFrom(a, from), clipFrom(b, from)
}

// backRunes is where the n-th rune before b[at] begins.
func backRunes(b []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(b[:at])
		at -= size
	}
	return at
}

func clipFrom(b []byte, from int) string {
	if b == nil {
		return ""
	}
	before := ""
	if from > 0 {
		before = "…"
	}
	text := []rune(string(b[from:]))
	if len(text) > maxClip {
		return before + string(text[:maxClip]) + "…"
	}
	return before + string(text)
}

package card

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// A home is a place for a field in the extension of a program. It counts in cards that
// have the extension, which are that program's.
type home struct {
	bag   string // the extension, seen from the card's data
	ptr   string // in the bag; "" is the bag itself
	codec twin.Codec
	first bool    // it counts before the specification's place; else after it
	only  Version // the version whose cards have it; 0 is 2 and 3
	parts bool    // of what stands there more than the value is written: cleared is written too
	root  bool    // the codec reads and writes the card's data, of which the value is several keys
}

// A spot is one place of a field in a document of a version.
type spot struct {
	ptr   string // from the document's root
	codec twin.Codec
	place
	bag   string // "" for a place of the specification, or of ours
	whole bool   // cleared is written, not deleted
}

// spots are the places of a field, what counts more first. The card's own place is there
// also where its version has none.
func (f field) spots(v Version) []spot {
	main := spot{ptr: v.root() + f.at[v].ptr, codec: f.codec, place: f.at[v]}
	before, after := []spot(nil), []spot{main}
	for _, h := range homes[f.path] {
		if v == V1 || h.only != 0 && h.only != v {
			continue
		}
		s := spot{ptr: v.root() + h.bag + h.ptr, codec: h.codec, place: may(h.bag + h.ptr), bag: v.root() + h.bag, whole: h.parts || h.root}
		if h.root {
			s.ptr = v.root()
		}
		if h.first {
			before = append(before, s)
		} else {
			after = append(after, s)
		}
	}
	return append(before, after...)
}

// is reports a place that the document can have.
func (s spot) is(doc *canon.Node) bool {
	return s.place.ptr != "" && (s.bag == "" || doc.At(s.bag).Kind() == canon.Object)
}

// read is the value at the first place that has one.
func (f field) read(doc *canon.Node, v Version) (val *canon.Node, problems []string) {
	for _, s := range f.spots(v) {
		if !s.is(doc) {
			continue
		}
		val, problem := s.codec.Read(doc.At(s.ptr))
		if problem != "" {
			problems = append(problems, s.ptr+": "+problem)
		}
		if val != nil {
			return val, problems
		}
	}
	return nil, problems
}

// chosen is where a value goes: where it stands, else into the extension of the card's
// own program, else to the place of the version, which may be none. beside are places
// that say the same now.
func (f field) chosen(doc *canon.Node, v Version, was *canon.Node) (to spot, beside []spot) {
	list := f.spots(v)
	found := -1
	for i, s := range list {
		if !s.is(doc) {
			continue
		}
		val, _ := s.codec.Read(doc.At(s.ptr))
		switch {
		case val == nil:
		case found < 0:
			found = i
		case says(s.codec, was, val):
			beside = append(beside, s)
		}
	}
	if found >= 0 {
		return list[found], beside
	}
	for _, s := range list {
		if s.bag != "" && s.is(doc) {
			return s, nil
		}
	}
	for _, s := range list {
		if s.bag == "" {
			to = s
		}
	}
	return to, nil
}

// says reports that the codec writes was as what reads val.
func says(c twin.Codec, was, val *canon.Node) bool {
	if was == nil {
		return false
	}
	again, _ := c.Read(c.Write(was, nil))
	return canon.Equal(again, val)
}

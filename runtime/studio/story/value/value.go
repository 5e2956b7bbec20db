// Package value is what a story's world is made of: sealed values that nobody can change
// behind another's back.
//
// It is a leaf of the story studio. any stands only in codec.go, where a value is handed
// to the languages of a story (expressions, templates, Starlark, YAML) and taken back. It
// knows no types of a world and coerces nothing.
package value

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Kind is what a value is.
type Kind byte

// The kinds.
const (
	Nil Kind = iota
	Bool
	Int
	Float
	String
	List
	Map
)

// String is the kind's name: "nil", "bool", "int", "float", "string", "list", "map".
func (k Kind) String() string {
	return [...]string{"nil", "bool", "int", "float", "string", "list", "map"}[k]
}

// A Value is immutable. The zero Value is nil.
type Value struct {
	kind Kind
	num  int64 // of Bool (1 is true) and Int
	f    float64
	s    string
	box  *box // of List and Map
}

// Of makes a value of a Go value that cannot fail.
func Of[T bool | int | int64 | float64 | string](v T) Value {
	switch v := any(v).(type) { //nolint:forbidigo // of a closed set
	case bool:
		if v {
			return Value{kind: Bool, num: 1}
		}
		return Value{kind: Bool}
	case int:
		return Value{kind: Int, num: int64(v)}
	case int64:
		return Value{kind: Int, num: v}
	case float64:
		return Value{kind: Float, f: v}
	case string:
		return Value{kind: String, s: v}
	}
	return Value{}
}

// NewList is a list of these values, which it copies.
func NewList(items ...Value) Value { return listOf(slices.Clone(items)) }

// NewMap is a map of these members, which it copies.
func NewMap(members map[string]Value) Value {
	return mapOf(maps.Clone(members))
}

// Owned is NewMap without the copy: the caller gives the map away.
func Owned(members map[string]Value) Value { return mapOf(members) }

// Kind says what v is.
func (v Value) Kind() Kind { return v.kind }

// IsNil reports the nil value.
func (v Value) IsNil() bool { return v.kind == Nil }

// Bool is v where it is true; false for everything else.
func (v Value) Bool() bool { return v.kind == Bool && v.num == 1 }

// Int is a whole number: an Int, or a Float without a fraction; ok tells.
func (v Value) Int() (n int64, ok bool) {
	switch v.kind {
	case Int:
		return v.num, true
	case Float:
		n = int64(v.f)
		return n, float64(n) == v.f
	}
	return 0, false
}

// Float is a number; ok tells.
func (v Value) Float() (f float64, ok bool) {
	switch v.kind {
	case Int:
		return float64(v.num), true
	case Float:
		return v.f, true
	}
	return 0, false
}

// Str is the text of a String, and "" of everything else. Text spells any value.
func (v Value) Str() string {
	if v.kind == String {
		return v.s
	}
	return ""
}

// Len is how many items or members v has, or bytes of a String.
func (v Value) Len() int {
	switch v.kind {
	case List, Map:
		return v.box.n
	case String:
		return len(v.s)
	}
	return 0
}

// Items ranges over a list.
func (v Value) Items() iter.Seq2[int, Value] { return slices.All(v.box.items()) }

// Members ranges over a map, by name.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.kind != Map {
			return
		}
		for _, name := range v.box.names() {
			member, _ := v.box.get(name)
			if !yield(name, member) {
				return
			}
		}
	}
}

// Get is a member of a map; nil where there is none.
func (v Value) Get(name string) (Value, bool) {
	return v.box.get(name)
}

// At is an item of a list; nil where there is none.
func (v Value) At(i int) (Value, bool) {
	if v.kind != List || i < 0 || i >= v.box.n {
		return Value{}, false
	}
	return v.box.list[i], true
}

// With is a map with one member more, or another one. v stays as it is.
func (v Value) With(name string, to Value) Value {
	return Value{kind: Map, box: v.box.with(map[string]Value{name: to})}
}

// Merge is a map with the members of more over its own.
func (v Value) Merge(more Value) Value {
	if more.kind != Map || more.box.n == 0 {
		if v.kind == Map {
			return v
		}
		return mapOf(nil)
	}
	return Value{kind: Map, box: v.box.with(more.box.flat(0))}
}

// Equal is as JSON sees it: 1 and 1.0 are one number.
func (v Value) Equal(w Value) bool {
	if a, ok := v.Float(); ok {
		b, ok := w.Float()
		if !ok {
			return false
		}
		if v.kind == Int && w.kind == Int {
			return v.num == w.num
		}
		return a == b
	}
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case Bool:
		return v.num == w.num
	case String:
		return v.s == w.s
	case List:
		return v.box == w.box || slices.EqualFunc(v.box.list, w.box.list, Value.Equal)
	case Map:
		return v.box == w.box || equalMaps(v, w)
	}
	return true
}

func equalMaps(v, w Value) bool {
	if v.box.n != w.box.n {
		return false
	}
	for _, name := range v.box.names() {
		a, _ := v.box.get(name)
		b, ok := w.box.get(name)
		if !ok || !a.Equal(b) {
			return false
		}
	}
	return true
}

// Empty reports what a story calls unset: nil, "", an empty list or map. 0 and false are
// set.
func (v Value) Empty() bool {
	switch v.kind {
	case Nil:
		return true
	case String, List, Map:
		return v.Len() == 0
	}
	return false
}

// Path reads a dotted path with [N] for items: "jobs[0].id". ok is false where nothing
// is there.
func (v Value) Path(path string) (got Value, ok bool) {
	for _, step := range steps(path) {
		if i, err := strconv.Atoi(step.index); step.index != "" {
			if v, ok = v.At(i); err != nil || !ok {
				return Value{}, false
			}
			continue
		}
		if v, ok = v.Get(step.name); !ok {
			return Value{}, false
		}
	}
	return v, true
}

type step struct{ name, index string }

func steps(path string) []step {
	var all []step
	for part := range strings.SplitSeq(path, ".") {
		name, rest, _ := strings.Cut(part, "[")
		if name != "" {
			all = append(all, step{name: name})
		}
		for rest != "" {
			var index string
			index, rest, _ = strings.Cut(rest, "]")
			rest = strings.TrimPrefix(rest, "[")
			all = append(all, step{index: index})
		}
	}
	return all
}

// Floats is v with every Int in it as a Float, and whether there was one.
func (v Value) Floats() (Value, bool) {
	switch v.kind {
	case Int:
		return Of(float64(v.num)), true
	case List:
		var out []Value
		for i, it := range v.box.list {
			if f, ok := it.Floats(); ok {
				if out == nil {
					out = slices.Clone(v.box.list)
				}
				out[i] = f
			}
		}
		if out != nil {
			return listOf(out), true
		}
	case Map:
		var out map[string]Value
		for _, name := range v.box.names() {
			it, _ := v.box.get(name)
			if f, ok := it.Floats(); ok {
				if out == nil {
					out = v.box.flat(0)
				}
				out[name] = f
			}
		}
		if out != nil {
			return mapOf(out), true
		}
	}
	return v, false
}

// Map is the members of a map, in one of the caller's.
func (v Value) Map() map[string]Value {
	if v.kind != Map {
		return map[string]Value{}
	}
	return v.box.flat(0)
}

// Same reports that v and w are one and the same list or map, without looking inside.
func (v Value) Same(w Value) bool { return v.kind == w.kind && v.box == w.box && v.box != nil }

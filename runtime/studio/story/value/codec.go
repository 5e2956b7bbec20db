package value

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The codes of this package.
const (
	CodeType  fault.Code = "VALUE_TYPE"     // a Go value that a world cannot hold
	CodeDepth fault.Code = "VALUE_TOO_DEEP" // nested deeper than MaxDepth
)

// MaxDepth is the deepest nesting of a value.
const MaxDepth = 64

// Go is v as a Go value: nil, bool, int, float64, string, []any, map[string]any. What it
// gives is the caller's.
func (v Value) Go() any {
	switch v.kind {
	case List:
		list := make([]any, v.box.n)
		for i, it := range v.box.list {
			list[i] = it.Go()
		}
		return list
	case Map:
		m := make(map[string]any, v.box.n)
		for name, it := range v.Members() {
			m[name] = it.Go()
		}
		return m
	}
	return v.Shared()
}

// Shared is Go for readers: what it gives is shared with others, and nobody may change
// what is inside.
func (v Value) Shared() any {
	switch v.kind {
	case Bool:
		return v.num == 1
	case Int:
		return int(v.num)
	case Float:
		return v.f
	case String:
		return v.s
	case List, Map:
		return v.box.native(v.kind)
	}
	return nil
}

// A native is a box as the languages see it.
type native struct{ v any }

// native makes that once: worlds share most of what is in them.
func (b *box) native(kind Kind) any {
	if had := b.seen.Load(); had != nil {
		return had.v
	}
	made := &native{}
	switch {
	case kind == List:
		list := make([]any, len(b.list))
		for i, it := range b.list {
			list[i] = it.Shared()
		}
		made.v = list
	case b.base != nil:
		m := maps.Clone(b.base.native(Map).(map[string]any)) //nolint:forcetypeassert // of a map it is one
		for name, it := range b.m {
			m[name] = it.Shared()
		}
		made.v = m
	default:
		m := make(map[string]any, len(b.m))
		for name, it := range b.m {
			m[name] = it.Shared()
		}
		made.v = m
	}
	b.seen.Store(made)
	return made.v
}

// From takes a Go value, by reflection where it must: numbers of any size, maps with text
// keys, slices. What is none of these is an error.
func From(x any) (Value, error) { return from(x, 0) }

func from(x any, depth int) (Value, error) {
	if depth > MaxDepth {
		return Value{}, fault.New(CodeDepth, "story.value", "a value is nested deeper than %d", MaxDepth)
	}
	switch x := x.(type) {
	case nil:
		return Value{}, nil
	case Value:
		return x, nil
	case bool:
		return Of(x), nil
	case int:
		return Of(x), nil
	case int64:
		return Of(x), nil
	case float64:
		return Of(x), nil
	case string:
		return Of(x), nil
	case json.Number:
		return fromNumber(x)
	case []any:
		list := make([]Value, len(x))
		for i, it := range x {
			v, err := from(it, depth+1)
			if err != nil {
				return Value{}, err
			}
			list[i] = v
		}
		return listOf(list), nil
	case map[string]any:
		m := make(map[string]Value, len(x))
		for name, it := range x {
			v, err := from(it, depth+1)
			if err != nil {
				return Value{}, err
			}
			m[name] = v
		}
		return mapOf(m), nil
	}
	return reflected(reflect.ValueOf(x), depth)
}

func fromNumber(n json.Number) (Value, error) {
	if i, err := n.Int64(); err == nil {
		return Of(i), nil
	}
	f, err := n.Float64()
	if err != nil {
		return Value{}, fault.New(CodeType, "story.value", "%q is not a number that a world can hold", n)
	}
	return Of(f), nil
}

func reflected(r reflect.Value, depth int) (Value, error) {
	switch r.Kind() {
	case reflect.Pointer, reflect.Interface:
		if r.IsNil() {
			return Value{}, nil
		}
		return from(r.Elem().Interface(), depth+1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return Of(r.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := r.Uint(); n <= math.MaxInt64 {
			return Of(int64(n)), nil
		}
		return Of(float64(r.Uint())), nil
	case reflect.Float32, reflect.Float64:
		return Of(r.Float()), nil
	case reflect.String:
		return Of(r.String()), nil
	case reflect.Bool:
		return Of(r.Bool()), nil
	case reflect.Slice, reflect.Array:
		list := make([]Value, r.Len())
		for i := range list {
			v, err := from(r.Index(i).Interface(), depth+1)
			if err != nil {
				return Value{}, err
			}
			list[i] = v
		}
		return listOf(list), nil
	case reflect.Map:
		m := make(map[string]Value, r.Len())
		for _, k := range r.MapKeys() {
			v, err := from(r.MapIndex(k).Interface(), depth+1)
			if err != nil {
				return Value{}, err
			}
			m[fmt.Sprint(k.Interface())] = v
		}
		return mapOf(m), nil
	}
	return Value{}, fault.New(CodeType, "story.value", "a world cannot hold a %s", r.Type())
}

// Parse reads JSON. Numbers without a fraction are Ints.
func Parse(raw []byte) (Value, error) {
	n, err := canon.ParseTree(raw)
	if err != nil {
		return Value{}, err
	}
	return fromTree(n)
}

func fromTree(n *canon.Node) (Value, error) {
	switch n.Kind() {
	case canon.Bool:
		return Of(n.Raw() == "true"), nil
	case canon.Number:
		return fromNumber(json.Number(n.Raw()))
	case canon.String:
		return Of(n.Text()), nil
	case canon.Array:
		list := make([]Value, 0, n.Len())
		for _, it := range n.Items() {
			v, err := fromTree(it)
			if err != nil {
				return Value{}, err
			}
			list = append(list, v)
		}
		return listOf(list), nil
	case canon.Object:
		m := make(map[string]Value, n.Len())
		for name, it := range n.Members() {
			v, err := fromTree(it)
			if err != nil {
				return Value{}, err
			}
			m[name] = v
		}
		return mapOf(m), nil
	}
	return Value{}, nil
}

// MarshalJSON writes v with names sorted.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.Shared()) }

// UnmarshalJSON is Parse.
func (v *Value) UnmarshalJSON(raw []byte) error {
	got, err := Parse(raw)
	*v = got
	return err
}

// JSON is v as JSON text, with names sorted.
func (v Value) JSON() string {
	raw, err := json.Marshal(v.Shared())
	if err != nil {
		return "null" // NaN and infinities have no JSON
	}
	return string(raw)
}

// Text spells v as the effect templates do: nil is "", lists and maps are JSON, the rest
// as Go's %v.
func (v Value) Text() string {
	switch v.kind {
	case Nil:
		return ""
	case List, Map:
		return v.JSON()
	}
	return fmt.Sprint(v.Shared())
}

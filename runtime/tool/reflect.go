package tool

import (
	"encoding"
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// schemaFor makes the schema of an input or output struct. Fields of an input are
// described. It is our own walk, since it is made for every tool at every start, and a
// client waits for it.
func schemaFor(t reflect.Type, input bool) (*schema, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v is not a struct", t)
	}
	w := walk{input: input}
	s, err := w.schema(t)
	if err != nil {
		return nil, err
	}
	if s.fields == nil {
		s.fields = []property{} // some clients drop a tool that names no properties at all
	}
	return s, nil
}

// A walk is on its way through a type.
type walk struct {
	input bool
	at    place
	above []reflect.Type // the named types that this one is in
}

// A place is the names that lead to a part of a schema.
type place []string

func (p place) String() string {
	if len(p) == 0 {
		return ""
	}
	return "/" + strings.Join(p, "/")
}

// below is what a part of the type says, found under name.
func (w *walk) below(name string, t reflect.Type) (*schema, error) {
	w.at = append(w.at, name)
	s, err := w.schema(t)
	w.at = w.at[:len(w.at)-1]
	return s, err
}

func (w *walk) schema(t reflect.Type) (*schema, error) {
	switch t {
	case reflect.TypeFor[Object]():
		return &schema{typ: "object"}, nil
	case reflect.TypeFor[[]byte](), reflect.TypeFor[time.Time]():
		return &schema{typ: "string"}, nil // base64 and RFC 3339, as encoding/json does it
	case reflect.TypeFor[stdjson.RawMessage](), reflect.TypeFor[jsontext.Value]():
		return nil, fmt.Errorf("%s is raw JSON: use a struct or tool.Object", w.at)
	}
	if t.Name() == "" {
		return w.kind(t)
	}
	if slices.Contains(w.above, t) {
		return nil, fmt.Errorf("%s: %v contains itself", w.at, t)
	}
	w.above = append(w.above, t)
	s, err := w.kind(t)
	w.above = w.above[:len(w.above)-1]
	return s, err
}

func (w *walk) kind(t reflect.Type) (*schema, error) {
	switch t.Kind() {
	case reflect.Pointer: // no schema of ours allows null, so it is what it points to
		return w.schema(t.Elem())
	case reflect.Struct:
		return w.structure(t)
	case reflect.String:
		if e, ok := reflect.Zero(t).Interface().(enumerated); ok {
			return &schema{typ: "string", enum: e.Enum()}, nil
		}
		return &schema{typ: "string"}, nil
	case reflect.Bool:
		return &schema{typ: "boolean"}, nil
	case reflect.Slice:
		items, err := w.below("items", t.Elem())
		return &schema{typ: "array", items: items}, err
	case reflect.Map:
		if k := t.Key(); k.Kind() != reflect.String && !k.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return nil, fmt.Errorf("%s is %v, and only texts are names", w.at, t)
		}
		values, err := w.below("*", t.Elem())
		return &schema{typ: "object", values: values}, err
	case reflect.Interface:
		return nil, fmt.Errorf("%s is an interface, which has no schema", w.at)
	case reflect.Array:
		return nil, fmt.Errorf("%s is %v, a tuple: use a slice", w.at, t)
	default:
		return w.number(t)
	}
}

// number says how large a number may be, where its type is small enough for that to be
// exact.
func (w *walk) number(t reflect.Type) (*schema, error) {
	between := func(low, high float64) *schema {
		return &schema{typ: "integer", min: &low, max: &high}
	}
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		return &schema{typ: "number"}, nil
	case reflect.Int, reflect.Int64:
		return &schema{typ: "integer"}, nil
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return &schema{typ: "integer", min: new(float64)}, nil
	case reflect.Int8, reflect.Int16, reflect.Int32:
		half := float64(int64(1) << (t.Bits() - 1))
		return between(-half, half-1), nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return between(0, float64(int64(1)<<t.Bits()-1)), nil
	default:
		return nil, fmt.Errorf("%s is %v, which has no schema", w.at, t)
	}
}

func (w *walk) structure(t reflect.Type) (*schema, error) {
	if t.Implements(reflect.TypeFor[stdjson.Marshaler]()) {
		return nil, fmt.Errorf("%s is %v, which encodes itself and so has no schema", w.at, t)
	}
	s := &schema{typ: "object", closed: true}
	list := visible(t)
	if len(list) > 0 {
		s.fields = make([]property, 0, len(list))
	}
	for _, f := range list {
		made, err := w.field(t, f)
		if err != nil {
			return nil, err
		}
		if made.is == nil {
			continue
		}
		if s.find(made.name).is != nil {
			return nil, fmt.Errorf("%s: two fields have the json name %s", w.at, made.name)
		}
		s.fields = append(s.fields, made)
	}
	return s, nil
}

// visible are the fields of t and of what it embeds. The library's walk is for types
// that embed: it costs more than all the rest here.
func visible(t reflect.Type) []reflect.StructField {
	list := make([]reflect.StructField, t.NumField())
	for i := range list {
		if list[i] = t.Field(i); list[i].Anonymous {
			return reflect.VisibleFields(t)
		}
	}
	return list
}

// field is one property of t, or none for what is not encoded.
func (w *walk) field(t reflect.Type, f reflect.StructField) (property, error) {
	tag := f.Tag.Get("json")
	if f.Anonymous && tag != "-" && !embeds(f.Type) {
		return property{}, fmt.Errorf("%s: %s is embedded and has no fields: give it a name", w.at, f.Name)
	}
	if tag == "-" || !f.IsExported() || f.Anonymous {
		return property{}, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	if name == "" {
		return property{}, fmt.Errorf("%s: field %s has no json name", w.at, f.Name)
	}
	optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
	if f.Type.Kind() == reflect.Pointer && !optional {
		return property{}, fmt.Errorf("%s/%s is a pointer and not omitempty: no schema of ours allows null", w.at, name)
	}
	about, has := f.Tag.Lookup("jsonschema")
	if word := strings.IndexAny(about, " \t\n="); has && about == "" || word >= 0 && about[word] == '=' {
		return property{}, fmt.Errorf("%s: field %s of %v has the jsonschema tag %q, want a sentence", w.at, f.Name, t, about)
	}
	if w.input && !has {
		return property{}, fmt.Errorf("%s/%s has no description: add a jsonschema tag", w.at, name)
	}
	is, err := w.below(name, f.Type)
	if err != nil {
		return property{}, err
	}
	is.description = about
	return property{name: name, required: !optional, is: is}, nil
}

// embeds says whether the fields of t become those of what it is embedded in.
func embeds(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

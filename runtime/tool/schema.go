package tool

import (
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// An Object is an input or output field that holds any JSON object: the input of
// another tool, or the body of a piece. It is kept as the bytes that came.
type Object []byte

// MarshalJSON is the object, or {} for the zero Object.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("{}"), nil
	}
	return o, nil
}

// UnmarshalJSON keeps b, which must be an object.
func (o *Object) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() != '{' {
		return fault.New(fault.Invalid, "tool", "want an object, got %s", kindOf(b))
	}
	*o = slices.Clone(b)
	return nil
}

// enumerated is what a string type has whose values are few.
type enumerated interface{ Enum() []string }

// schemaFor makes the schema of an input or output struct, in the small part of
// draft-07 that every client reads: one type each, no unions, no references.
func schemaFor(t reflect.Type, input bool) (*jsonschema.Schema, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v is not a struct", t)
	}
	known := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Object](): {Type: "object"},
		reflect.TypeFor[[]byte](): {Type: "string"}, // base64, as encoding/json does it
	}
	if err := survey(t, "", known, nil); err != nil {
		return nil, err
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, err
	}
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	if err := narrow(s, "", input); err != nil {
		return nil, err
	}
	return s, nil
}

// survey walks a type, refuses what has no plain schema and notes the enums.
func survey(t reflect.Type, path string, known map[reflect.Type]*jsonschema.Schema, above []reflect.Type) error {
	if known[t] != nil || t == reflect.TypeFor[time.Time]() {
		return nil
	}
	if slices.Contains(above, t) && t.Name() != "" {
		return fmt.Errorf("%s: %v contains itself", path, t)
	}
	above = append(above, t)
	if e, ok := reflect.Zero(t).Interface().(enumerated); ok && t.Kind() == reflect.String {
		known[t] = enumSchema(e.Enum())
		return nil
	}
	switch t.Kind() {
	case reflect.Interface:
		return fmt.Errorf("%s is an interface, which has no schema", path)
	case reflect.Array:
		return fmt.Errorf("%s is %v, a tuple: use a slice", path, t)
	case reflect.Slice:
		if t == reflect.TypeFor[stdjson.RawMessage]() || t == reflect.TypeFor[jsontext.Value]() {
			return fmt.Errorf("%s is raw JSON: use a struct or tool.Object", path)
		}
		return survey(t.Elem(), path+"/items", known, above)
	case reflect.Map:
		return survey(t.Elem(), path+"/*", known, above)
	case reflect.Pointer:
		return survey(t.Elem(), path, known, above)
	case reflect.Struct:
		return surveyStruct(t, path, known, above)
	default:
		return nil
	}
}

func surveyStruct(t reflect.Type, path string, known map[reflect.Type]*jsonschema.Schema, above []reflect.Type) error {
	if t.Implements(reflect.TypeFor[stdjson.Marshaler]()) {
		return fmt.Errorf("%s is %v, which encodes itself and so has no schema", path, t)
	}
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() || f.Anonymous {
			continue
		}
		if name == "" {
			return fmt.Errorf("%s: field %s has no json name", path, f.Name)
		}
		optional := strings.Contains(opts, "omitempty") || strings.Contains(opts, "omitzero")
		if f.Type.Kind() == reflect.Pointer && !optional {
			return fmt.Errorf("%s/%s is a pointer and not omitempty: no schema of ours allows null", path, name)
		}
		if err := survey(f.Type, path+"/"+name, known, above); err != nil {
			return err
		}
	}
	return nil
}

func enumSchema(values []string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

// narrow takes the nulls out of unions and checks that inputs are described.
func narrow(s *jsonschema.Schema, path string, input bool) error {
	if len(s.Types) > 0 {
		s.Types = slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
		if len(s.Types) != 1 {
			return fmt.Errorf("%s has types %q", path, s.Types)
		}
		s.Type, s.Types = s.Types[0], nil
	}
	for name, p := range s.Properties {
		at := path + "/" + name
		if input && p.Description == "" {
			return fmt.Errorf("%s has no description: add a jsonschema tag", at)
		}
		if err := narrow(p, at, input); err != nil {
			return err
		}
	}
	if s.Items != nil {
		if err := narrow(s.Items, path+"/items", input); err != nil {
			return err
		}
	}
	// The schema that forbids every further field is {"not":{}} here, false on the wire.
	if a := s.AdditionalProperties; a != nil && a.Not == nil {
		return narrow(a, path+"/*", input)
	}
	return nil
}

// mustJSON encodes a schema, so that no bad one can be wired.
func mustJSON(s *jsonschema.Schema) []byte {
	raw, err := encodeSchema(nil, s, "", 0)
	if err == nil && len(raw) > maxSchemaBytes {
		err = fmt.Errorf("schema has %d bytes, more than %d", len(raw), maxSchemaBytes)
	}
	if err != nil {
		panic(fmt.Sprintf("tool: schema: %v", err))
	}
	return raw
}

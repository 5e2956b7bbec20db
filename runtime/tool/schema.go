package tool

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

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

// A schema says what a tool takes or gives, in the small part of draft-07 that every
// client reads: one type each, no unions, no references.
type schema struct {
	typ         string // one of plainTypes
	description string
	fields      []property // of an object, in order; nil where it names none
	closed      bool       // an object with no fields but these
	values      *schema    // of what stands under any name, in an object that closes none out
	items       *schema    // of an array
	enum        []string   // of a string; nil is any
	min, max    *float64   // of a number
}

// A property is one field of an object.
type property struct {
	name     string
	required bool
	is       *schema
}

// find returns the field of a name, or the zero one where there is none.
func (s *schema) find(name string) property {
	for _, f := range s.fields {
		if f.name == name {
			return f
		}
	}
	return property{}
}

// names are those of the fields, in order.
func (s *schema) names() []string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return names
}

// enumerated is what a string type has whose values are few.
type enumerated interface{ Enum() []string }

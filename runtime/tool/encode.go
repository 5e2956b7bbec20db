package tool

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// encodeSchema appends the JSON of a schema as its own MarshalJSON would, but at once:
// that one encodes each level again for every level above it, which was a quarter of
// the time in which a server is ready. It refuses what [Lint] would.
func encodeSchema(b []byte, s *jsonschema.Schema, path string, depth int) ([]byte, error) {
	if err := plain(s, path, depth); err != nil {
		return nil, err
	}
	b = append(b, `{"type":`...)
	b = quote(b, s.Type)
	var err error
	if s.Properties != nil {
		if b, err = encodeProperties(b, s, path, depth); err != nil {
			return nil, err
		}
	}
	if s.Items != nil {
		if b, err = encodeSchema(append(b, `,"items":`...), s.Items, path+"/items", depth+1); err != nil {
			return nil, err
		}
	}
	if s.Description != "" {
		b = quote(append(b, `,"description":`...), s.Description)
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, v.(string)) // plain looked
		}
		b = quoteAll(append(b, `,"enum":`...), values)
	}
	for _, n := range []struct {
		name  string
		value *float64
	}{{"minimum", s.Minimum}, {"maximum", s.Maximum}} {
		if n.value != nil {
			b = strconv.AppendFloat(append(b, `,"`+n.name+`":`...), *n.value, 'f', -1, 64)
		}
	}
	if len(s.Required) > 0 {
		b = quoteAll(append(b, `,"required":`...), s.Required)
	}
	switch a := s.AdditionalProperties; {
	case a == nil:
	case a.Not != nil:
		b = append(b, `,"additionalProperties":false`...)
	default:
		if b, err = encodeSchema(append(b, `,"additionalProperties":`...), a, path+"/*", depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func encodeProperties(b []byte, s *jsonschema.Schema, path string, depth int) ([]byte, error) {
	b = append(b, `,"properties":{`...)
	for i, name := range s.PropertyOrder {
		if !propertyName(name) {
			return nil, fmt.Errorf("%s: property name %q is not accepted by every provider", path, name)
		}
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = encodeSchema(append(quote(b, name), ':'), s.Properties[name], path+"/"+name, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// plain refuses a schema that says something which this encoder does not write, or
// which not every client reads.
func plain(s *jsonschema.Schema, path string, depth int) error {
	rest := *s
	rest.Type, rest.Properties, rest.PropertyOrder, rest.Items, rest.Description, rest.Enum = "", nil, nil, nil, "", nil
	rest.Minimum, rest.Maximum, rest.Required, rest.AdditionalProperties = nil, nil, nil, nil
	switch {
	case depth > maxSchemaDepth:
		return fmt.Errorf("%s is deeper than %d", path, maxSchemaDepth)
	case !slices.Contains(plainTypes, s.Type):
		return fmt.Errorf("%s: type is not one of %v", path, plainTypes)
	case !reflect.ValueOf(rest).IsZero():
		return fmt.Errorf("%s: a keyword that is not read by every client", path)
	case len(s.PropertyOrder) != len(s.Properties):
		return fmt.Errorf("%s: %d properties, and %d in order", path, len(s.Properties), len(s.PropertyOrder))
	case (s.Type == "array") != (s.Items != nil):
		return fmt.Errorf("%s: items and type %q", path, s.Type)
	case len(s.Enum) > 0 && s.Type != "string":
		return fmt.Errorf("%s: enum is not of strings", path)
	}
	for _, v := range s.Enum {
		if text, ok := v.(string); !ok || text == "" {
			return fmt.Errorf("%s: enum value %v is not a string with content", path, v)
		}
	}
	return nil
}

func quote(b []byte, s string) []byte {
	b, err := jsontext.AppendQuote(b, s)
	if err != nil {
		panic("tool: a schema's text is not UTF-8: " + err.Error()) // a literal of ours
	}
	return b
}

func quoteAll(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = quote(b, s)
	}
	return append(b, ']')
}

package tool

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// parseInput decodes an input that must be a JSON object; nothing is {}.
func parseInput(id string, input []byte) (map[string]any, []byte, error) {
	if len(input) > MaxInput {
		return nil, nil, fault.New(fault.TooLarge, id, "input has %d bytes, more than %d", len(input), MaxInput).
			WithHint("Send less at once.")
	}
	if len(bytes.TrimSpace(input)) == 0 {
		input = []byte("{}")
	}
	v, err := canon.JSON(input)
	if err != nil {
		return nil, nil, fault.Wrap(err, fault.Invalid, id, "input is not valid JSON").
			WithHint("Send one JSON object.")
	}
	if jsontext.Value(v).Kind() != '{' {
		return nil, nil, fault.New(fault.Invalid, id, "input is %s, want an object", kindOf(v)).
			WithHint("Send one JSON object, not a string that holds one.")
	}
	d := stdjson.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		return nil, nil, fault.Wrap(err, fault.Invalid, id, "input is not valid JSON").WithHint("Send one JSON object.")
	}
	return m, v, nil
}

// checkInput validates an input against a schema of ours and returns it canonical,
// without the nulls that models write for optional fields.
func checkInput(id string, s *schema, input []byte) ([]byte, error) {
	m, v, err := parseInput(id, input)
	if err != nil {
		return nil, err
	}
	c := checker{op: id}
	if err := c.object(s, m, ""); err != nil {
		return nil, err
	}
	if !c.dropped {
		return v, nil
	}
	raw, err := stdjson.Marshal(m)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, id, "encode the input")
	}
	return canon.JSON(raw)
}

// A checker walks an input beside its schema. The library's own validator speaks
// of keywords; a model needs the field, the value and the way out.
type checker struct {
	op      string
	dropped bool // a null was removed
}

func (c *checker) bad(path, format string, args ...any) *fault.Error {
	if path == "" {
		path = "/"
	}
	return fault.New(fault.Invalid, c.op, "%s: %s", path, fmt.Sprintf(format, args...))
}

func (c *checker) object(s *schema, m map[string]any, path string) error {
	if s.fields == nil && !s.closed && s.values == nil { // an Object
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		f := s.find(name)
		is := f.is
		switch {
		case is == nil && s.values != nil:
			is = s.values
		case is == nil:
			return c.unknown(s, name, path)
		case m[name] == nil && !f.required:
			delete(m, name)
			c.dropped = true
			continue
		}
		if err := c.value(is, m[name], path+"/"+name); err != nil {
			return err
		}
	}
	for _, f := range s.fields {
		if _, ok := m[f.name]; f.required && !ok {
			return c.bad(path, "field %q is missing", f.name).
				WithHint("Give %s: %s", f.name, firstOr(f.is.description, "it is required"))
		}
	}
	return nil
}

func (c *checker) unknown(s *schema, name, path string) error {
	names := s.names()
	e := c.bad(path, "unknown field %q", clip(name, 80))
	switch near := Near(name, names); {
	case len(names) == 0:
		return e.WithHint("It takes no fields.")
	case len(near) > 0:
		return e.WithHint("Did you mean %s? The fields are %s.", quoted(near), strings.Join(names, ", "))
	default:
		return e.WithHint("The fields are %s.", strings.Join(names, ", "))
	}
}

func (c *checker) value(s *schema, v any, path string) error {
	got := typeOf(v)
	if got != s.typ && (got != "integer" || s.typ != "number") {
		return c.bad(path, "want %s, got %s", article(s.typ), showValue(got, v)).
			WithHint("Send %s.", article(s.typ))
	}
	switch v := v.(type) {
	case map[string]any:
		return c.object(s, v, path)
	case []any:
		for i, e := range v {
			if err := c.value(s.items, e, fmt.Sprintf("%s/%d", path, i)); err != nil {
				return err
			}
		}
	case string:
		if s.enum != nil && !slices.Contains(s.enum, v) {
			return c.notInEnum(s, v, path)
		}
	case stdjson.Number:
		f, err := v.Float64()
		if err != nil || math.IsInf(f, 0) {
			return c.bad(path, "%s is too large a number", clip(string(v), 40))
		}
		if s.min != nil && f < *s.min {
			return c.bad(path, "%s is less than %v", v, *s.min)
		}
		if s.max != nil && f > *s.max {
			return c.bad(path, "%s is more than %v", v, *s.max)
		}
	}
	return nil
}

func (c *checker) notInEnum(s *schema, v, path string) error {
	e := c.bad(path, "%q is not one of %s", clip(v, 80), strings.Join(s.enum, ", "))
	if near := Near(v, s.enum); len(near) > 0 {
		return e.WithHint("Did you mean %s?", quoted(near))
	}
	return e.WithHint("Choose one of %s.", strings.Join(s.enum, ", "))
}

// typeOf is the JSON Schema type of a decoded value.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case stdjson.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return "number"
		}
		return "integer"
	case []any:
		return "array"
	default:
		return "object"
	}
}

func showValue(typ string, v any) string {
	switch typ {
	case "string":
		return fmt.Sprintf("the string %q", clip(v.(string), 80))
	case "integer", "number", "boolean":
		return fmt.Sprintf("%v", v)
	default:
		return article(typ)
	}
}

func article(typ string) string {
	switch typ {
	case "null":
		return "null"
	case "integer":
		return "a whole number"
	case "array", "object":
		return "an " + typ
	default:
		return "a " + typ
	}
}

// kindOf names the kind of a JSON text.
func kindOf(b []byte) string {
	switch jsontext.Value(b).Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "an array"
	case '{':
		return "an object"
	default:
		return "no JSON"
	}
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}

func firstOr(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(q, " or ")
}

package tool

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// mustJSON encodes a schema, so that no bad one can be wired.
func mustJSON(s *schema) []byte {
	e := encoder{b: make([]byte, 0, 1<<10)}
	err := e.schema(s)
	if err == nil && len(e.b) > maxSchemaBytes {
		err = fmt.Errorf("schema has %d bytes, more than %d", len(e.b), maxSchemaBytes)
	}
	if err != nil {
		panic(fmt.Sprintf("tool: schema: %v", err))
	}
	return e.b
}

// An encoder appends the JSON of a schema. It refuses what [Lint] would, and writes the
// keywords in the order in which clients have always had them.
type encoder struct {
	b  []byte
	at place
}

func (e *encoder) schema(s *schema) error {
	if err := e.check(s); err != nil {
		return err
	}
	e.text(`{"type":`)
	e.quote(s.typ)
	if err := e.properties(s); err != nil {
		return err
	}
	if s.items != nil {
		if err := e.below(`,"items":`, "items", s.items); err != nil {
			return err
		}
	}
	if s.description != "" {
		e.text(`,"description":`)
		e.quote(s.description)
	}
	if len(s.enum) > 0 {
		e.list(`,"enum":[`, s.enum)
	}
	e.bound(`,"minimum":`, s.min)
	e.bound(`,"maximum":`, s.max)
	e.required(s)
	switch {
	case s.closed:
		e.text(`,"additionalProperties":false`)
	case s.values != nil:
		if err := e.below(`,"additionalProperties":`, "*", s.values); err != nil {
			return err
		}
	}
	e.text(`}`)
	return nil
}

// check refuses what not every client reads.
func (e *encoder) check(s *schema) error {
	if len(e.at) > maxSchemaDepth {
		return fmt.Errorf("%s is deeper than %d", e.at, maxSchemaDepth)
	}
	if !slices.Contains(plainTypes, s.typ) {
		return fmt.Errorf("%s: type is not one of %v", e.at, plainTypes)
	}
	if slices.Contains(s.enum, "") {
		return fmt.Errorf("%s: enum value %v is not a string with content", e.at, "")
	}
	return nil
}

func (e *encoder) properties(s *schema) error {
	if s.fields == nil {
		return nil
	}
	e.text(`,"properties":{`)
	for i, f := range s.fields {
		if !propertyName(f.name) {
			return fmt.Errorf("%s: property name %q is not accepted by every provider", e.at, f.name)
		}
		if i > 0 {
			e.text(`,`)
		}
		e.quote(f.name)
		if err := e.below(`:`, f.name, f.is); err != nil {
			return err
		}
	}
	e.text(`}`)
	return nil
}

// below writes a part, after what leads to it.
func (e *encoder) below(lead, name string, s *schema) error {
	e.text(lead)
	e.at = append(e.at, name)
	err := e.schema(s)
	e.at = e.at[:len(e.at)-1]
	return err
}

func (e *encoder) required(s *schema) {
	var names []string
	for _, f := range s.fields {
		if f.required {
			names = append(names, f.name)
		}
	}
	if len(names) > 0 {
		e.list(`,"required":[`, names)
	}
}

func (e *encoder) list(lead string, texts []string) {
	e.text(lead)
	for i, s := range texts {
		if i > 0 {
			e.text(`,`)
		}
		e.quote(s)
	}
	e.text(`]`)
}

func (e *encoder) bound(lead string, value *float64) {
	if value != nil {
		e.text(lead)
		e.b = strconv.AppendFloat(e.b, *value, 'f', -1, 64)
	}
}

func (e *encoder) text(s string) { e.b = append(e.b, s...) }

func (e *encoder) quote(s string) {
	b, err := jsontext.AppendQuote(e.b, s)
	if err != nil {
		panic("tool: a schema's text is not UTF-8: " + err.Error()) // a literal of ours
	}
	e.b = b
}

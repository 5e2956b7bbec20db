package tool

import (
	stdjson "encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// plainKeywords are the keywords that every client we know reads the same way.
var plainKeywords = []string{
	"additionalProperties", "default", "description", "enum", "format", "items", "maxItems", "maxLength", "maximum",
	"minItems", "minLength", "minimum", "pattern", "properties", "required", "title", "type",
}

// plainTypes are the values of "type". Null is not among them.
var plainTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// propertyName says whether s is what every provider accepts as a property's name.
func propertyName(s string) bool {
	return s != "" && len(s) <= 64 && strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && r != '.' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// The bounds of a schema.
const (
	maxSchemaDepth = 10
	maxSchemaBytes = 32_000
)

// Lint says what is wrong with a schema for the pickiest of clients: at the root
// something else than an object with properties, a union, a tuple, a reference, a
// boolean in the place of a schema, a keyword beyond draft-07. An empty answer is a
// schema that all take.
func Lint(schema []byte) []string {
	if len(schema) > maxSchemaBytes {
		return []string{fmt.Sprintf("schema has %d bytes, more than %d", len(schema), maxSchemaBytes)}
	}
	if !jsontext.Value(schema).IsValid() {
		return []string{"schema is not valid JSON"}
	}
	var root any
	if err := stdjson.Unmarshal(schema, &root); err != nil {
		return []string{"schema is not valid JSON: " + err.Error()}
	}
	l := linter{}
	if m, ok := root.(map[string]any); ok {
		if m["type"] != "object" {
			l.add("/", "type is not \"object\"")
		}
		if _, ok := m["properties"].(map[string]any); !ok {
			l.add("/", "has no \"properties\"")
		}
	}
	l.schema(root, "", 0)
	return l.found
}

type linter struct{ found []string }

func (l *linter) add(path, format string, args ...any) {
	if path == "" {
		path = "/"
	}
	l.found = append(l.found, path+": "+fmt.Sprintf(format, args...))
}

func (l *linter) schema(v any, path string, depth int) {
	m, ok := v.(map[string]any)
	if !ok {
		l.add(path, "is %T, not a schema object", v)
		return
	}
	if depth > maxSchemaDepth {
		l.add(path, "is deeper than %d", maxSchemaDepth)
		return
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(plainKeywords, k) {
			l.add(path, "keyword %q is not read by every client", k)
		}
	}
	typ, ok := m["type"].(string)
	if !ok || !slices.Contains(plainTypes, typ) {
		l.add(path, "type is not one of %v", plainTypes)
	}
	if typ == "array" || m["items"] != nil {
		l.schema(m["items"], path+"/items", depth+1)
	}
	l.enum(m, typ, path)
	l.properties(m, path, depth)
}

func (l *linter) enum(m map[string]any, typ, path string) {
	e, ok := m["enum"]
	if !ok {
		return
	}
	values, _ := e.([]any)
	if len(values) == 0 || typ != "string" {
		l.add(path, "enum is empty, or not of strings")
	}
	for _, v := range values {
		if s, ok := v.(string); !ok || s == "" {
			l.add(path, "enum value %v is not a string with content", v)
		}
	}
}

func (l *linter) properties(m map[string]any, path string, depth int) {
	props, _ := m["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if !propertyName(name) {
			l.add(path, "property name %q is not accepted by every provider", name)
		}
		l.schema(props[name], path+"/"+name, depth+1)
	}
	required, _ := m["required"].([]any)
	for _, r := range required {
		name, _ := r.(string)
		if _, ok := props[name]; !ok {
			l.add(path, "required %v is no property", r)
		}
	}
	switch a := m["additionalProperties"].(type) {
	case nil:
	case bool:
		if a {
			l.add(path, "additionalProperties is true: leave it out")
		}
	default:
		l.schema(a, path+"/*", depth+1)
	}
}

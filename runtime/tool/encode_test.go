package tool

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

type hue string

func (hue) Enum() []string { return []string{"red", "blue"} }

// rich has one of everything that a schema of ours can say.
type rich struct {
	Name  string            `json:"name" jsonschema:"a name: é, \"quoted\", a\\b, line and tab"`
	Hue   hue               `json:"hue,omitempty" jsonschema:"a hue"`
	N     int               `json:"n" jsonschema:"a number"`
	Small uint8             `json:"small" jsonschema:"from 0 to 255"`
	F     float64           `json:"f,omitempty" jsonschema:"a fraction"`
	On    bool              `json:"on" jsonschema:"a switch"`
	At    time.Time         `json:"at" jsonschema:"when"`
	Any   Object            `json:"any,omitempty" jsonschema:"an object"`
	Tags  []string          `json:"tags" jsonschema:"words"`
	Map   map[string]int    `json:"map,omitempty" jsonschema:"counts"`
	In    *inner            `json:"in,omitempty" jsonschema:"what is inside"`
	List  []inner           `json:"list" jsonschema:"many of it"`
	Deep  map[string][]hue  `json:"deep,omitempty" jsonschema:"nested"`
	None  struct{}          `json:"none" jsonschema:"nothing"`
	Names map[string]string `json:"names,omitempty" jsonschema:"texts"`
}

type inner struct {
	A string `json:"a" jsonschema:"a"`
	B []hue  `json:"b,omitempty" jsonschema:"b"`
}

// The encoder writes what the library's own would, byte by byte.
func TestEncodeSchemaAsTheLibrary(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[rich](), reflect.TypeFor[inner](), reflect.TypeFor[struct{}]()} {
		s, err := schemaFor(typ, true)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		got := mustJSON(s)
		if string(got) != string(want) {
			t.Errorf("%v:\ngot  %s\nwant %s", typ, got, want)
		}
		if bad := Lint(got); len(bad) > 0 {
			t.Errorf("%v: %v", typ, bad)
		}
	}
}

func TestEncodeSchemaRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		s    jsonschema.Schema
		want string
	}{
		"keyword":  {jsonschema.Schema{Type: "string", Pattern: "x"}, "keyword"},
		"boolean":  {jsonschema.Schema{}, "type is not one of"},
		"union":    {jsonschema.Schema{Types: []string{"string", "null"}}, "type is not one of"},
		"order":    {jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"a": {Type: "string"}}}, "1 properties, and 0 in order"},
		"items":    {jsonschema.Schema{Type: "array"}, "items"},
		"enum":     {jsonschema.Schema{Type: "integer", Enum: []any{1}}, "not of strings"},
		"no value": {jsonschema.Schema{Type: "string", Enum: []any{""}}, "with content"},
		"name": {jsonschema.Schema{
			Type: "object", PropertyOrder: []string{"a b"}, Properties: map[string]*jsonschema.Schema{"a b": {Type: "string"}},
		}, "not accepted"},
	} {
		if _, err := encodeSchema(nil, &c.s, "/", 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	deep := &jsonschema.Schema{Type: "string"}
	for range maxSchemaDepth + 1 {
		deep = &jsonschema.Schema{Type: "array", Items: deep}
	}
	if _, err := encodeSchema(nil, deep, "", 0); err == nil {
		t.Error("too deep, and taken")
	}
}

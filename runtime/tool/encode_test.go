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

// An embedding has fields of another type among its own.
type embedding struct {
	First string `json:"first" jsonschema:"its own"`
	*inner
	Last string `json:"last,omitzero" jsonschema:"its own too"`
}

// bounded has all whole numbers.
type bounded struct {
	A int8    `json:"a" jsonschema:"a"`
	B int16   `json:"b" jsonschema:"b"`
	C int32   `json:"c" jsonschema:"c"`
	D int64   `json:"d" jsonschema:"d"`
	E uint16  `json:"e" jsonschema:"e"`
	F uint32  `json:"f" jsonschema:"f"`
	G uint64  `json:"g" jsonschema:"g"`
	H uintptr `json:"h" jsonschema:"h"`
	I *uint   `json:"i,omitempty" jsonschema:"i"`
	J float32 `json:"j" jsonschema:"j"`
	K []byte  `json:"k" jsonschema:"k"`
	L string  `json:"-"`
}

type coder struct{}

func (coder) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

type loop struct {
	A []loop `json:"a" jsonschema:"a"`
}

// The walk and the encoder write what the library would, byte by byte, but for its nulls.
func TestSchemaAsTheLibrary(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[rich](), reflect.TypeFor[inner](), reflect.TypeFor[struct{}](), reflect.TypeFor[embedding](), reflect.TypeFor[bounded](),
	} {
		s, err := schemaFor(typ, true)
		if err != nil {
			t.Fatal(err)
		}
		got := mustJSON(s)
		if want := byLibrary(t, typ); string(got) != want {
			t.Errorf("%v:\ngot  %s\nwant %s", typ, got, want)
		}
		if bad := Lint(got); len(bad) > 0 {
			t.Errorf("%v: %v", typ, bad)
		}
	}
}

func byLibrary(t *testing.T, typ reflect.Type) string {
	t.Helper()
	known := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Object](): {Type: "object"},
		reflect.TypeFor[[]byte](): {Type: "string"},
		reflect.TypeFor[hue]():    {Type: "string", Enum: []any{"red", "blue"}},
	}
	s, err := jsonschema.ForType(typ, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		t.Fatal(err)
	}
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	denull(s)
	want, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(want)
}

func denull(s *jsonschema.Schema) {
	if len(s.Types) > 0 {
		s.Type, s.Types = s.Types[1], nil // null is the first of two
	}
	for _, p := range s.Properties {
		denull(p)
	}
	if s.Items != nil {
		denull(s.Items)
	}
	if a := s.AdditionalProperties; a != nil && a.Not == nil {
		denull(a)
	}
}

func TestSchemaRefuses(t *testing.T) {
	for want, typ := range map[string]reflect.Type{
		"/a is an interface, which has no schema": reflect.TypeFor[struct {
			A any `json:"a" jsonschema:"a"`
		}](),
		"/a/items/b is an interface": reflect.TypeFor[struct {
			A []struct {
				B any `json:"b" jsonschema:"b"`
			} `json:"a" jsonschema:"a"`
		}](),
		"/a is raw JSON": reflect.TypeFor[struct {
			A json.RawMessage `json:"a" jsonschema:"a"`
		}](),
		"/a/* is [2]string, a tuple: use a slice": reflect.TypeFor[struct {
			A map[string][2]string `json:"a" jsonschema:"a"`
		}](),
		"/a is chan int, which has no schema": reflect.TypeFor[struct {
			A chan int `json:"a" jsonschema:"a"`
		}](),
		"/a is map[int]string, and only texts are names": reflect.TypeFor[struct {
			A map[int]string `json:"a" jsonschema:"a"`
		}](),
		"/a is tool.coder, which encodes itself": reflect.TypeFor[struct {
			A coder `json:"a" jsonschema:"a"`
		}](),
		"/a/a/items: tool.loop contains itself": reflect.TypeFor[struct {
			A loop `json:"a" jsonschema:"a"`
		}](),
		"/a is a pointer and not omitempty": reflect.TypeFor[struct {
			A *string `json:"a" jsonschema:"a"`
		}](),
		": field A has no json name": reflect.TypeFor[struct {
			A string `jsonschema:"a"`
		}](),
		"/a has no description: add a jsonschema tag": reflect.TypeFor[struct {
			A string `json:"a"`
		}](),
		`: field A of struct`: reflect.TypeFor[struct {
			A string `json:"a" jsonschema:""`
		}](),
		`has the jsonschema tag "required=a b"`: reflect.TypeFor[struct {
			A string `json:"a" jsonschema:"required=a b"`
		}](),
		": two fields have the json name a": reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeFor[string](), Tag: `json:"a" jsonschema:"a"`},
			{Name: "B", Type: reflect.TypeFor[string](), Tag: `json:"a" jsonschema:"b"`},
		}),
		": hue is embedded and has no fields": reflect.TypeFor[struct{ hue }](),
		"[]string is not a struct":            reflect.TypeFor[[]string](),
	} {
		if _, err := schemaFor(typ, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", typ, err, want)
		}
	}
}

func TestEncoderRefuses(t *testing.T) {
	deep := &schema{typ: "string"}
	for range maxSchemaDepth + 1 {
		deep = &schema{typ: "array", items: deep}
	}
	for name, c := range map[string]struct {
		s    *schema
		want string
	}{
		"no type":  {&schema{}, "type is not one of"},
		"no value": {&schema{typ: "string", enum: []string{""}}, "with content"},
		"name":     {&schema{typ: "object", fields: []property{{name: "a b", is: &schema{typ: "string"}}}}, `"a b" is not accepted`},
		"deep":     {deep, "/items is deeper than 10"},
	} {
		if err := new(encoder).schema(c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// What a tool's two schemas cost: a server makes those of every tool before a client has
// its list. This tool is richer than any that there is.
func BenchmarkSchemas(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for _, input := range []bool{true, false} {
			s, err := schemaFor(reflect.TypeFor[rich](), input)
			if err != nil {
				b.Fatal(err)
			}
			mustJSON(s)
		}
	}
}

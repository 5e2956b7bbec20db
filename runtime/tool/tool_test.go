package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

type shade string

func (shade) Enum() []string { return []string{"light", "dark"} }

type paint struct {
	Piece string            `json:"piece" jsonschema:"the piece to paint"`
	Shade shade             `json:"shade,omitempty" jsonschema:"how bright"`
	Coats *int              `json:"coats,omitempty" jsonschema:"how many coats"`
	Tags  []string          `json:"tags,omitempty" jsonschema:"words for it"`
	Names map[string]string `json:"names,omitempty" jsonschema:"names by language"`
	Raw   tool.Object       `json:"raw,omitempty" jsonschema:"passed on as it is"`
	Size  float64           `json:"size,omitempty" jsonschema:"in metres"`
	Inner *struct {
		Deep bool `json:"deep,omitempty" jsonschema:"whether it goes deep"`
	} `json:"inner,omitempty" jsonschema:"more of it"`
}

type painted struct {
	Piece string   `json:"piece"`
	Tags  []string `json:"tags"`
	Coats int      `json:"coats"`
}

func spec(id string) tool.Spec {
	return tool.Spec{ID: id, Summary: "Paints a piece.", Effect: tool.Draft, Exposure: tool.Direct}
}

func paintTool(id string) tool.Tool {
	s := spec(id)
	s.Concurrency = "piece:{piece}"
	return tool.New(s, func(_ context.Context, _ tool.Call, in paint) (tool.Reply[painted], error) {
		out := painted{Piece: in.Piece, Tags: in.Tags}
		if in.Coats != nil {
			out.Coats = *in.Coats
		}
		return tool.Reply[painted]{Out: out}, nil
	})
}

func TestSchemaIsPlain(t *testing.T) {
	p := paintTool("studio.paint")
	for name, schema := range map[string][]byte{"input": p.Input(), "output": p.Output()} {
		if bad := tool.Lint(schema); len(bad) > 0 {
			t.Errorf("%s schema %s: %q", name, schema, bad)
		}
	}
	const want = `{"type":"object","properties":{"piece":{"type":"string","description":"the piece to paint"},` +
		`"shade":{"type":"string","description":"how bright","enum":["light","dark"]},` +
		`"coats":{"type":"integer","description":"how many coats"},` +
		`"tags":{"type":"array","items":{"type":"string"},"description":"words for it"},` +
		`"names":{"type":"object","description":"names by language","additionalProperties":{"type":"string"}},` +
		`"raw":{"type":"object","description":"passed on as it is"},"size":{"type":"number","description":"in metres"},` +
		`"inner":{"type":"object","properties":{"deep":{"type":"boolean","description":"whether it goes deep"}},` +
		`"description":"more of it","additionalProperties":false}},"required":["piece"],"additionalProperties":false}`
	if string(p.Input()) != want {
		t.Errorf("input schema\n got %s\nwant %s", p.Input(), want)
	}
}

func TestSchemaOfNothing(t *testing.T) {
	s := spec("studio.ping")
	p := tool.New(s, func(context.Context, tool.Call, struct{}) (tool.Reply[struct{}], error) {
		return tool.Reply[struct{}]{Text: "pong"}, nil
	})
	if want := `{"type":"object","properties":{},"additionalProperties":false}`; string(p.Input()) != want {
		t.Errorf("input schema = %s, want %s", p.Input(), want)
	}
	if p.Output() != nil {
		t.Errorf("output schema = %s, want none", p.Output())
	}
	res, err := p.Run(t.Context(), tool.Call{}, nil)
	if err != nil || res.Text != "pong" || res.Structured != nil {
		t.Errorf("Run(nil) = %+v, %v", res, err)
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name, input string
		want        string // canonical, or "" for an error
		message     string // contained in the error
		hint        string // contained in the hint
	}{
		{name: "sorted, spaces dropped, numbers kept", input: ` {"size": 1.50, "piece":"a"}`, want: `{"piece":"a","size":1.50}`},
		{name: "an optional null is absent", input: `{"piece":"a","coats":null,"shade":null}`, want: `{"piece":"a"}`},
		{name: "an integer is a number", input: `{"piece":"a","size":2}`, want: `{"piece":"a","size":2}`},
		{name: "an open object takes all", input: `{"piece":"a","raw":{"x":[1,null]}}`, want: `{"piece":"a","raw":{"x":[1,null]}}`},
		{name: "a map takes any name", input: `{"names":{"en":"b"},"piece":"a"}`, want: `{"names":{"en":"b"},"piece":"a"}`},
		{name: "empty", input: "", message: `field "piece" is missing`, hint: "the piece to paint"},
		{name: "blank", input: " \n", message: `field "piece" is missing`},
		{name: "unknown field", input: `{"peice":"a"}`, message: `unknown field "peice"`, hint: `Did you mean "piece"?`},
		{name: "unknown and far", input: `{"piece":"a","zzz":1}`, message: `unknown field "zzz"`, hint: "The fields are piece, shade, coats"},
		{name: "unknown below", input: `{"piece":"a","inner":{"dep":true}}`, message: `/inner: unknown field "dep"`, hint: `"deep"`},
		{name: "case counts", input: `{"Piece":"a"}`, message: `unknown field "Piece"`, hint: `"piece"`},
		{name: "wrong type", input: `{"piece":7}`, message: `/piece: want a string, got 7`},
		{name: "a required null", input: `{"piece":null}`, message: `/piece: want a string, got null`},
		{name: "not whole", input: `{"piece":"a","coats":1.5}`, message: `/coats: want a whole number, got 1.5`},
		{name: "wrong item", input: `{"piece":"a","tags":["x",2]}`, message: `/tags/1: want a string, got 2`},
		{name: "wrong in a map", input: `{"piece":"a","names":{"en":2}}`, message: `/names/en: want a string, got 2`},
		{name: "enum", input: `{"piece":"a","shade":"drak"}`, message: `"drak" is not one of light, dark`, hint: `Did you mean "dark"?`},
		{name: "not an object", input: `["piece"]`, message: "input is an array, want an object"},
		{name: "a string that holds JSON", input: `"{}"`, message: "input is a string, want an object", hint: "not a string"},
		{name: "cut", input: `{"piece":`, message: "input is not valid JSON"},
		{name: "twice", input: `{"piece":"a","piece":"b"}`, message: "input is not valid JSON"},
		{name: "more after it", input: `{"piece":"a"} {}`, message: "input is not valid JSON"},
	}
	p := paintTool("studio.paint")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := p.Check([]byte(tt.input))
			if tt.message == "" {
				if err != nil || string(got) != tt.want {
					t.Fatalf("Check(%s) = %s, %v, want %s", tt.input, got, err, tt.want)
				}
				return
			}
			if fault.CodeOf(err) != fault.Invalid {
				t.Fatalf("Check(%s) = %s, %v, want code %s", tt.input, got, err, fault.Invalid)
			}
			if !strings.Contains(err.Error(), tt.message) || !strings.Contains(fault.HintOf(err), tt.hint) || fault.HintOf(err) == "" {
				t.Errorf("Check(%s): %q, hint %q; want %q and %q", tt.input, err, fault.HintOf(err), tt.message, tt.hint)
			}
		})
	}
}

func TestCheckBound(t *testing.T) {
	p := paintTool("studio.paint")
	frame := len(`{"piece":""}`)
	for n, want := range map[int]fault.Code{tool.MaxInput: "", tool.MaxInput + 1: fault.TooLarge} {
		in := `{"piece":"` + strings.Repeat("x", n-frame) + `"}`
		if _, err := p.Check([]byte(in)); fault.CodeOf(err) != want {
			t.Errorf("%d bytes: %v, want code %q", n, err, want)
		}
	}
}

func TestRunEncodesCanonicallyWithoutNulls(t *testing.T) {
	p := paintTool("studio.paint")
	res, err := p.Run(t.Context(), tool.Call{}, []byte(`{"piece":"a<b","coats":3}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"coats":3,"piece":"a<b","tags":[]}`
	if string(res.Structured) != want || res.Text != want {
		t.Errorf("structured %s, text %s, want %s", res.Structured, res.Text, want)
	}
}

func TestRunKeepsTheHandlersError(t *testing.T) {
	boom := fault.New(fault.Stale, "x", "boom")
	p := tool.New(spec("a.b"), func(context.Context, tool.Call, struct{}) (tool.Reply[painted], error) {
		return tool.Reply[painted]{}, boom
	})
	if _, err := p.Run(t.Context(), tool.Call{}, nil); !errors.Is(err, boom) {
		t.Errorf("Run = %v, want the handler's own error", err)
	}
}

func TestDescriptionBeginsWithTheSummary(t *testing.T) {
	s := spec("a.b")
	s.Description = "It dries in an hour."
	if got, want := paintToolWith(s).Description, "Paints a piece. It dries in an hour."; got != want {
		t.Errorf("description = %q, want %q", got, want)
	}
	if got, want := paintTool("a.b").Title, "A b"; got != want {
		t.Errorf("title = %q, want %q", got, want)
	}
}

func paintToolWith(s tool.Spec) tool.Tool {
	return tool.New(s, func(context.Context, tool.Call, struct{}) (tool.Reply[struct{}], error) {
		return tool.Reply[struct{}]{}, nil
	})
}

func fieldTool[In any](s tool.Spec) func() {
	return func() {
		tool.New(s, func(context.Context, tool.Call, In) (tool.Reply[struct{}], error) {
			return tool.Reply[struct{}]{}, nil
		}).Input()
	}
}

type loop struct {
	Next *loop `json:"next,omitempty" jsonschema:"the next"`
}

func TestNewRefusesAtWiring(t *testing.T) {
	with := func(change func(*tool.Spec)) func() {
		s := spec("a.b")
		change(&s)
		return fieldTool[struct{}](s)
	}
	type described struct {
		A []struct {
			B string `json:"b"`
		} `json:"a" jsonschema:"some"`
	}
	tests := map[string]func(){
		"any": fieldTool[struct {
			A any `json:"a" jsonschema:"a"`
		}](spec("a.b")),
		"any in a slice": fieldTool[struct {
			A []any `json:"a" jsonschema:"a"`
		}](spec("a.b")),
		"any in a map": fieldTool[struct {
			A map[string]any `json:"a" jsonschema:"a"`
		}](spec("a.b")),
		"raw": fieldTool[struct {
			A json.RawMessage `json:"a" jsonschema:"a"`
		}](spec("a.b")),
		"tuple": fieldTool[struct {
			A [2]string `json:"a" jsonschema:"a"`
		}](spec("a.b")),
		"null": fieldTool[struct {
			A *string `json:"a" jsonschema:"a"`
		}](spec("a.b")),
		"no description": fieldTool[struct {
			A string `json:"a"`
		}](spec("a.b")),
		"no description below": fieldTool[described](spec("a.b")),
		"no name": fieldTool[struct {
			A string `jsonschema:"a"`
		}](spec("a.b")),
		"recursive":               fieldTool[loop](spec("a.b")),
		"not a struct":            fieldTool[[]string](spec("a.b")),
		"map of ints":             fieldTool[map[string]int](spec("a.b")),
		"no summary":              with(func(s *tool.Spec) { s.Summary = " " }),
		"long summary":            with(func(s *tool.Spec) { s.Summary = strings.Repeat("x", 241) }),
		"long description":        with(func(s *tool.Spec) { s.Description = strings.Repeat("x", 2001) }),
		"id without a dot":        with(func(s *tool.Spec) { s.ID = "list" }),
		"id in capitals":          with(func(s *tool.Spec) { s.ID = "Studio.list" }),
		"id with a dash in front": with(func(s *tool.Spec) { s.ID = "studio.-list" }),
		"id too long":             with(func(s *tool.Spec) { s.ID = "a." + strings.Repeat("x", 63) }),
		"no effect":               with(func(s *tool.Spec) { s.Effect = "" }),
		"no exposure":             with(func(s *tool.Spec) { s.Exposure = "" }),
		"deferred and applies":    with(func(s *tool.Spec) { s.Effect, s.Exposure = tool.Apply, tool.Deferred }),
		"key without a field":     with(func(s *tool.Spec) { s.Concurrency = "piece:{piece}" }),
		"open without an object": func() {
			tool.NewOpen(spec("a.b"), []byte(`true`), nil)
		},
	}
	for name, wire := range tests {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			wire()
		})
	}
}

func TestLint(t *testing.T) {
	tests := []struct {
		name, schema string
		want         string // contained in the one finding
	}{
		{"boolean property", `{"type":"object","properties":{"a":true}}`, "/a: is bool"},
		{"no type", `{"type":"object","properties":{"a":{"description":"x"}}}`, "/a: type"},
		{"union", `{"type":"object","properties":{"a":{"type":["null","string"]}}}`, "/a: type"},
		{"anyOf", `{"type":"object","properties":{"a":{"type":"string","anyOf":[]}}}`, `"anyOf"`},
		{"reference", `{"type":"object","properties":{"a":{"type":"object","$ref":"#"}}}`, `"$ref"`},
		{"tuple", `{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}]}}}`, "/a/items: is"},
		{"array of nothing", `{"type":"object","properties":{"a":{"type":"array"}}}`, "/a/items: is"},
		{"empty enum", `{"type":"object","properties":{"a":{"type":"string","enum":[]}}}`, "/a: enum"},
		{"no properties", `{"type":"object"}`, `no "properties"`},
		{"not an object", `{"type":"array","properties":{},"items":{"type":"string"}}`, `not "object"`},
		{"required of nothing", `{"type":"object","properties":{},"required":["a"]}`, "required a"},
		{"open by a boolean", `{"type":"object","properties":{},"additionalProperties":true}`, "additionalProperties"},
		{"bad name", `{"type":"object","properties":{"a b":{"type":"string"}}}`, `"a b"`},
		{"not JSON", `{`, "not valid JSON"},
		{"deep", strings.Repeat(`{"type":"object","properties":{"a":`, 11) + `{"type":"string"}` + strings.Repeat(`}}`, 11), "deeper than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tool.Lint([]byte(tt.schema))
			if len(got) != 1 || !strings.Contains(got[0], tt.want) {
				t.Errorf("Lint(%s) = %q, want one finding with %q", tt.schema, got, tt.want)
			}
		})
	}
	if got := tool.Lint([]byte(`{"type":"object","properties":{},"x":"` + strings.Repeat("y", 32_000) + `"}`)); len(got) != 1 {
		t.Errorf("a schema over the bound: %q", got)
	}
}

func TestFoldGivesTheBeltsNames(t *testing.T) {
	for id, want := range map[string]string{
		"studio.graveyard_bury": "studio_graveyard_bury", "capability.find": "capability_find",
		"studio.piece.duplicate": "studio_piece_duplicate", "studio_list": "studio_list",
	} {
		if got := tool.Fold(id); got != want {
			t.Errorf("Fold(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestRegistry(t *testing.T) {
	hidden := spec("z.hidden")
	hidden.Exposure = tool.Hidden
	later := spec("m.later")
	later.Exposure = tool.Deferred
	gone := spec("m.gone")
	gone.Available = func() bool { return false }
	mcpOnly := spec("m.only")
	mcpOnly.Skins = []tool.Skin{tool.MCP}
	r := tool.NewRegistry(paintTool("z.a_b"), paintTool("b.c"), paintToolWith(hidden), paintToolWith(later), paintToolWith(gone), paintToolWith(mcpOnly))
	if got, want := strings.Join(r.Names(), " "), "b.c m.gone m.later m.only z.a_b z.hidden"; got != want {
		t.Errorf("Names() = %q, want %q", got, want)
	}
	for name, want := range map[string]bool{"z.a_b": true, "z_a_b": true, "z.a.b": false, "b_c": true, "": false, "b": false} {
		if _, ok := r.Get(name); ok != want {
			t.Errorf("Get(%q) = %v, want %v", name, ok, want)
		}
	}
	belt := func(skin tool.Skin, revealed ...string) string {
		var ids []string
		for _, b := range r.Belt(skin, revealed) {
			ids = append(ids, b.ID)
		}
		return strings.Join(ids, " ")
	}
	if got, want := belt(tool.Loop), "b.c z.a_b"; got != want {
		t.Errorf("belt = %q, want %q", got, want)
	}
	if got, want := belt(tool.MCP, "m.later", "z.hidden"), "b.c m.later m.only z.a_b"; got != want {
		t.Errorf("belt = %q, want %q", got, want)
	}
	if got := r.On(tool.Loop).Len(); got != 5 {
		t.Errorf("On(loop).Len() = %d, want 5", got)
	}
	joined, dropped := r.Join(paintTool("z.a.b"), paintTool("b.c"), paintTool("n.ew"), tool.Tool{Spec: spec("no.new")})
	if got, want := strings.Join(dropped, " "), "z.a.b b.c no.new"; got != want {
		t.Errorf("dropped %q, want %q", got, want)
	}
	if _, ok := joined.Get("n.ew"); !ok || joined.Len() != 7 || r.Len() != 6 {
		t.Errorf("joined has %d, the old one %d", joined.Len(), r.Len())
	}
	only := r.Only(func(s tool.Spec) bool { return s.ID == "b.c" })
	if _, ok := only.Get("z.a_b"); ok || only.Len() != 1 {
		t.Error("a filtered tool is still there")
	}
}

func TestRegistryPanicsOnAClash(t *testing.T) {
	for name, pair := range map[string][2]string{"same id": {"a.b", "a.b"}, "same folded name": {"a.b_c", "a.b.c"}} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			tool.NewRegistry(paintTool(pair[0]), paintTool(pair[1]))
		})
	}
}

func TestKey(t *testing.T) {
	s := tool.Spec{Concurrency: "piece:{kind}/{id}"}
	for input, want := range map[string]string{
		`{"id":"ada","kind":"character"}`: "piece:character/ada",
		`{"id":7,"x":{"kind":"no"}}`:      "piece:/7",
		`{"id":"a\"b","kind":"k"}`:        `piece:k/a"b`,
		`{}`:                              "piece:/",
	} {
		if got := tool.Key(s, []byte(input)); got != want {
			t.Errorf("Key(%s) = %q, want %q", input, got, want)
		}
	}
	if got := tool.Key(tool.Spec{}, []byte(`{}`)); got != "" {
		t.Errorf("Key without a key = %q", got)
	}
}

func TestNear(t *testing.T) {
	names := []string{"studio.list", "studio.read", "studio.search", "capability.find"}
	for name, want := range map[string]string{
		"studio.lsit": "studio.list", "list": "studio.list", "find": "capability.find", "zzzz": "", "": "",
		strings.Repeat("studio", 100): "",
	} {
		if got := strings.Join(tool.Near(name, names), " "); got != want {
			t.Errorf("Near(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	p := paintTool("studio.paint")
	for _, s := range []string{``, `{"piece":"a"}`, `{"piece":"a","coats":null}`, `{"piece":"a","raw":{"x":1e99}}`, `[`, `{"piece":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		once, err := p.Check(input)
		if err != nil {
			if fault.HintOf(err) == "" {
				t.Fatalf("Check(%q): no hint in %v", input, err)
			}
			return
		}
		twice, err := p.Check(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("Check is not stable: %q then %q, %v", once, twice, err)
		}
	})
}

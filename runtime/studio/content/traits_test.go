package content

import (
	"reflect"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

func TestTraits(t *testing.T) {
	for _, c := range []struct {
		name, kind, text, of, again string // again is the text as we write it
		want                        map[string][]string
		code                        fault.Code
	}{
		{
			name: "wpp", kind: "wpp", text: "[Character(\"Ada\") {\nSpecies(\"human\")\n hair ( \"red\" + \"long\" )\n}]", of: "Ada",
			want: map[string][]string{"Species": {"human"}, "hair": {"red", "long"}}, again: "[character(\"Ada\") {\nSpecies(\"human\")\nhair(\"red\" + \"long\")\n}]",
		},
		{name: "wpp of nothing", kind: "wpp", text: `[character("Ada") {}]`, of: "Ada", want: map[string][]string{}, again: "[character(\"Ada\") {\n}]"},
		{
			name: "sbf", kind: "sbf", text: `[ character: "Ada"; species: "human"; hair: "red", "lo;ng"; ]`, of: "Ada",
			want: map[string][]string{"species": {"human"}, "hair": {"red", "lo;ng"}}, again: `[ character: "Ada"; hair: "red", "lo;ng"; species: "human" ]`,
		},
		{
			name: "quotes and backslashes", kind: "wpp", text: `[character("A") {says("\"Hm\" \\ C:\x")}]`, of: "A",
			want: map[string][]string{"says": {`"Hm" \ C:\x`}}, again: "[character(\"A\") {\nsays(\"\\\"Hm\\\" \\\\ C:\\\\x\")\n}]",
		},
		{name: "boostyle", kind: "boostyle", text: "tall +kind+  ", want: map[string][]string{"traits": {"tall", "kind"}}, again: "tall + kind"},
		{name: "plain", kind: "text", text: " as it is ", want: map[string][]string{"text": {" as it is "}}, again: " as it is "},
		{name: "one name twice", kind: "sbf", text: `[c: "A"; x: "1"; x: "2"]`, of: "A", want: map[string][]string{"x": {"1", "2"}}, again: `[ character: "A"; x: "1", "2" ]`},
		{name: "cut", kind: "wpp", text: `[character("Ada") { species("hum`, code: CodeTraits},
		{name: "no brackets", kind: "sbf", text: `species: "human"`, code: CodeTraits},
		{name: "no text", kind: "attributes", text: `x`, code: CodeTraits},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, of, err := ReadTraits(c.kind, c.text)
			if fault.CodeOf(err) != c.code {
				t.Fatalf("%v, want %q", err, c.code)
			}
			if err != nil {
				return
			}
			if !reflect.DeepEqual(got.Attributes, c.want) || of != c.of || got.Kind != c.kind {
				t.Errorf("%v of %q", got, of)
			}
			if text, err := got.Spell(c.of); err != nil || text != c.again {
				t.Errorf("%q, %v, want %q", text, err, c.again)
			}
		})
	}
}

// What a spelling has no place for is refused, and never written so that it reads as
// something else.
func TestTraitsThatCannotBeSpelled(t *testing.T) {
	for _, tr := range []Traits{
		{Kind: "wpp", Attributes: map[string][]string{"a(b": {"x"}}},
		{Kind: "sbf", Attributes: map[string][]string{"a": {}}},
		{Kind: "boostyle", Attributes: map[string][]string{"hair": {"red"}}},
		{Kind: "boostyle", Attributes: map[string][]string{"traits": {"a+b"}}},
		{Kind: "text", Attributes: map[string][]string{"text": {"a", "b"}}},
		{Kind: "attributes", Attributes: map[string][]string{"a": {"b"}}},
	} {
		if text, err := tr.Spell("Ada"); fault.CodeOf(err) != CodeTraits {
			t.Errorf("%v is spelled %q, %v", tr, text, err)
		}
	}
}

// FuzzTraits: what is read is written, and what is written reads as the same.
func FuzzTraits(f *testing.F) {
	for _, s := range []string{`[character("Ada") {a("b" + "c")}]`, `[ character: "N"; k: "a", "b" ]`, "a + b", `[character("\\\"") {}]`, ""} {
		f.Add("wpp", s)
		f.Add("sbf", s)
		f.Add("boostyle", s)
		f.Add("text", s)
	}
	f.Fuzz(func(t *testing.T, kind, text string) {
		got, of, err := ReadTraits(kind, text)
		if err != nil {
			return
		}
		out, err := got.Spell(of)
		if err != nil {
			return // a name that we do not write
		}
		again, name, err := ReadTraits(kind, out)
		if err != nil || name != of || !reflect.DeepEqual(again, got) {
			t.Errorf("%q: %v of %q, again %v of %q: %v", text, got, of, again, name, err)
		}
	})
}

// TestVariantFields: every field that a variant can have can be inherited by name.
func TestVariantFields(t *testing.T) {
	var from, to Fields
	fill(reflect.ValueOf(&from).Elem())
	for _, f := range variantFields {
		before := to
		f.copy(&to, &from)
		if reflect.DeepEqual(before, to) {
			t.Errorf("%s copies nothing", f.name)
		}
	}
	if !reflect.DeepEqual(from, to) {
		t.Errorf("a field has no name: %+v", to)
	}
}

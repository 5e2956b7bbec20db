package canon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

func TestJSON(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"names sorted at every level", `{"b":{"z":1,"a":2},"a":[{"y":1,"x":2}]}`, `{"a":[{"x":2,"y":1}],"b":{"a":2,"z":1}}`},
		{"spaces go", " { \"a\" : [ 1 ,\n2 ] }\t\n", `{"a":[1,2]}`},
		{"numbers stay as written", `[1.0,1e2,100,1E+2,-0,-0.0,12345678901234567890,0.1e-7]`, `[1.0,1e2,100,1E+2,-0,-0.0,12345678901234567890,0.1e-7]`},
		{"escapes that need none go", `["\u0041\/\u00e9\u2028","\u0001\n\""]`, `["A/é` + "\u2028" + `","\u0001\n\""]`},
		{"array order is kept", `[3,1,2]`, `[3,1,2]`},
		{"names that differ only in escapes sort by what they are", `{"\u0062":1,"a":2}`, `{"a":2,"b":1}`},
		{"scalars", ` "x" `, `"x"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := []byte(tt.in)
			got, err := canon.JSON(in)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("JSON(%s) = %s, want %s", tt.in, got, tt.want)
			}
			if string(in) != tt.in {
				t.Errorf("the input became %s", in)
			}
		})
	}
}

func TestJSONRefuses(t *testing.T) {
	tests := []struct {
		name, in string
		code     fault.Code
	}{
		{"empty", "", canon.CodeJSON},
		{"cut", `{"a":`, canon.CodeJSON},
		{"trailing data", `{"a":1} x`, canon.CodeJSON},
		{"two values", `1 2`, canon.CodeJSON},
		{"duplicate name", `{"a":1,"b":{"x":1,"\u0078":2}}`, canon.CodeJSON},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", canon.CodeJSON},
		{"lone surrogate", `["\ud800"]`, canon.CodeJSON},
		{"byte order mark", "\ufeff{}", canon.CodeJSON},
		{"too deep", strings.Repeat("[", canon.MaxDepth+1) + strings.Repeat("]", canon.MaxDepth+1), canon.CodeDepth},
		{"too large", `"` + strings.Repeat("a", canon.MaxBytes) + `"`, canon.CodeSize},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := canon.JSON([]byte(tt.in))
			if fault.CodeOf(err) != tt.code {
				t.Errorf("code %q, want %q (%v); gave %.80s", fault.CodeOf(err), tt.code, err, got)
			}
		})
	}
	deep := strings.Repeat("[", canon.MaxDepth) + strings.Repeat("]", canon.MaxDepth)
	if _, err := canon.JSON([]byte(deep)); err != nil {
		t.Errorf("depth of exactly %d: %v", canon.MaxDepth, err)
	}
	_, err := canon.JSON([]byte(`{"a":{"b":[1,2,tru]}}`))
	if err == nil || !strings.Contains(err.Error(), "/a/b/2") {
		t.Errorf("the error does not name the place: %v", err)
	}
}

func TestMarshal(t *testing.T) {
	type row struct {
		Zed  int            `json:"zed"`
		Name string         `json:"name,omitempty"`
		Raw  []byte         `json:"raw"`
		Map  map[string]int `json:"map"`
		HTML string         `json:"html"`
	}
	got, err := canon.Marshal(row{Zed: 1, Raw: []byte("hi"), Map: map[string]int{"b": 1, "a": 2}, HTML: "<&>"})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"html":"<&>","map":{"a":2,"b":1},"raw":"aGk=","zed":1}`; string(got) != want {
		t.Errorf("Marshal = %s, want %s", got, want)
	}
	for name, v := range map[string]any{"not UTF-8": "\xff", "no JSON form": func() {}} {
		if _, err := canon.Marshal(v); fault.CodeOf(err) != canon.CodeEncode {
			t.Errorf("%s: %v, want code %s", name, err, canon.CodeEncode)
		}
	}
}

// FuzzJSON holds that a canonical form is its own, means the same, and is given
// exactly when encoding/json takes the text (which is laxer about names and
// UTF-8).
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[1e2,-0,{"x":null}]}`, `"\ud83d\ude00"`, `[]`, `{"":{"":0}}`, "1 2", `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		one, err := canon.JSON(raw)
		if !bytes.Equal(before, raw) {
			t.Fatalf("input changed from %q to %q", before, raw)
		}
		if err != nil {
			if c := fault.CodeOf(err); c != canon.CodeJSON && c != canon.CodeDepth {
				t.Fatalf("code %q for %q: %v", c, raw, err)
			}
			if own, err := libraryForm(raw); err == nil {
				t.Fatalf("refused %q, of which the parser makes %q", raw, own)
			}
			return
		}
		two, err := canon.JSON(one)
		if err != nil || !bytes.Equal(one, two) {
			t.Fatalf("JSON(%q) = %q, whose own form is %q, %v", raw, one, two, err)
		}
		if !json.Valid(raw) {
			t.Fatalf("took %q, which encoding/json does not", raw)
		}
		if want := parsersOwn(t, raw); !bytes.Equal(one, want) {
			t.Fatalf("JSON(%q) = %q, want %q", raw, one, want)
		}
		if a, b := meaning(t, raw), meaning(t, one); a != b {
			t.Fatalf("meaning of %q changed: %s, %s", raw, a, b)
		}
	})
}

// parsersOwn is the canonical form that the parser makes when it sorts.
func parsersOwn(t *testing.T, raw []byte) []byte {
	t.Helper()
	out, err := libraryForm(raw)
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return out
}

func libraryForm(raw []byte) ([]byte, error) {
	return jsontext.AppendFormat(nil, raw, jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false), jsontext.ReorderRawObjects(true))
}

// The order of names is that of UTF-16 code units, at any length and with any escapes.
func TestJSONSortsAsTheParserDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "A", "\\u0062", "\\\"", "\\\\", "\\n", "!", "é", "\ud7ff", "\ue000", "\uffff", "😀", "\U0010ffff", " ", ":", "{", ","}
	var value func(depth int) string
	value = func(depth int) string {
		n := rng.IntN(7)
		switch kind := rng.IntN(6); {
		case depth == 0 || kind == 0:
			return []string{"1", "-0.0", "null", `""`, `"\\"`, `"}]\","`, "[]", "{}"}[rng.IntN(8)]
		case kind == 1:
			var list []string
			for range n {
				list = append(list, value(depth-1))
			}
			return "[" + strings.Join(list, ",") + "]"
		}
		var list []string
		names := map[string]bool{}
		for range n {
			name := ""
			for range rng.IntN(4) {
				name += pieces[rng.IntN(len(pieces))]
			}
			if !names[strings.ReplaceAll(name, "\\u0062", "b")] {
				names[strings.ReplaceAll(name, "\\u0062", "b")] = true
				list = append(list, `"`+name+`": `+value(depth-1))
			}
		}
		return "{" + strings.Join(list, " ,") + "}"
	}
	for range 5000 {
		raw := []byte(value(4))
		got, err := canon.JSON(raw)
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		if want := parsersOwn(t, raw); !bytes.Equal(got, want) {
			t.Fatalf("JSON(%q) = %q, want %q", raw, got, want)
		}
	}
}

// meaning decodes with numbers as text and encodes again with sorted names.
func meaning(t *testing.T, raw []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode %q: %v", raw, err)
	}
	return fmt.Sprintf("%#v", v)
}

func BenchmarkJSON21KB(b *testing.B) {
	var sb strings.Builder
	sb.WriteString(`{"model":"m","max_tokens":1024,"messages":[`)
	for i := range 60 {
		if i > 0 {
			sb.WriteByte(',')
		}
		fmt.Fprintf(&sb, `{"role":"user","content":[{"type":"text","text":"%s %d"}]}`, strings.Repeat("some words and more ", 14), i)
	}
	sb.WriteString(`]}`)
	raw := []byte(sb.String())
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := canon.JSON(raw); err != nil {
			b.Fatal(err)
		}
	}
}

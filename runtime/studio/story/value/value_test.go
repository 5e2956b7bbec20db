package value_test

import (
	"math"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

func parsed(t testing.TB, raw string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPath(t *testing.T) {
	v := parsed(t, `{"jobs":[{"id":"a"},{"id":"b","n":[[1,2]]}],"x":{"":1}}`)
	for path, want := range map[string]string{
		"jobs[1].id": `"b"`, "jobs[1].n[0][1]": "2", "jobs[2].id": "", "jobs.id": "", "jobs[x]": "", "x": `{"":1}`, "missing.deep": "",
	} {
		got, ok := v.Path(path)
		if ok != (want != "") || ok && got.JSON() != want {
			t.Errorf("%s: %s, %v; want %q", path, got.JSON(), ok, want)
		}
	}
}

func TestEqualIsThatOfJSON(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"1", "1.0", true},
		{"1", `"1"`, false},
		{"[1,{}]", "[1,{}]", true},
		{"null", "false", false},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{`{"a":1}`, `{"a":1,"b":null}`, false},
		{"9007199254740993", "9007199254740992", false},
	} {
		if parsed(t, tt.a).Equal(parsed(t, tt.b)) != tt.same {
			t.Errorf("%s and %s: want equal %v", tt.a, tt.b, tt.same)
		}
	}
}

// What a caller was given, or gave, never reaches back into a value.
func TestValuesAreSealed(t *testing.T) {
	items := []value.Value{value.Of(1)}
	v := value.NewMap(map[string]value.Value{"l": value.NewList(items...)})
	items[0] = value.Of(2)
	out := v.Go().(map[string]any)
	out["l"].([]any)[0] = "changed"
	out["new"] = true
	w := v.With("l", value.Of("other"))
	if v.JSON() != `{"l":[1]}` || w.JSON() != `{"l":"other"}` {
		t.Errorf("%s, %s", v.JSON(), w.JSON())
	}
}

func TestText(t *testing.T) {
	for raw, want := range map[string]string{
		"null": "", "true": "true", "3": "3", "1.50": "1.5", `"a b"`: "a b", `["a",1]`: `["a",1]`, `{"b":1,"a":null}`: `{"a":null,"b":1}`,
	} {
		if got := parsed(t, raw).Text(); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestFrom(t *testing.T) {
	v, err := value.From(map[any]any{"n": uint8(3), 4: []string{"x"}, "p": (*int)(nil), "f": float32(0.5), "big": uint64(math.MaxUint64)})
	if err != nil || v.JSON() != `{"4":["x"],"big":18446744073709552000,"f":0.5,"n":3,"p":null}` {
		t.Errorf("%s, %v", v.JSON(), err)
	}
	if _, err := value.From(make(chan int)); fault.CodeOf(err) != value.CodeType {
		t.Errorf("a channel: %v", err)
	}
	var deep any
	for range value.MaxDepth + 2 {
		deep = []any{deep}
	}
	if _, err := value.From(deep); fault.CodeOf(err) != value.CodeDepth {
		t.Errorf("too deep: %v", err)
	}
}

func TestEmpty(t *testing.T) {
	for raw, want := range map[string]bool{"null": true, `""`: true, "[]": true, "{}": true, "0": false, "false": false, `" "`: false} {
		if parsed(t, raw).Empty() != want {
			t.Errorf("%s: want %v", raw, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"a":[1,2.5,"x",null,true]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		v, err := value.Parse([]byte(raw))
		if err != nil {
			return
		}
		if again := parsed(t, v.JSON()); !again.Equal(v) && !strings.Contains(raw, "\\u") {
			t.Errorf("%s is %s, and read again %s", raw, v.JSON(), again.JSON())
		}
	})
}

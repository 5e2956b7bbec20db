package source_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

func TestEverythingKnowsItsPlace(t *testing.T) {
	var r source.Reader
	n := r.Parse("app.yaml", []byte("\uFEFFapp: { id: inn }\nstates:\n  bar:\n    on:\n      - go: \"ä\"\n"))
	if found := r.Problems(); n == nil || len(found) > 0 {
		t.Fatal(found)
	}
	for name, c := range map[string]struct {
		n            *source.Node
		line, column int
	}{
		"a member":  {n.Get("app").Get("id"), 1, 12},
		"a mapping": {n.Get("states").Get("bar"), 4, 5},
		"an item":   {n.Get("states").Get("bar").Get("on").Items()[0].Get("go"), 5, 13},
	} {
		if c.n == nil || c.n.Pos.File != "app.yaml" || c.n.Pos.Line != c.line || c.n.Pos.Column != c.column {
			t.Errorf("%s stands at %+v, want line %d, column %d", name, c.n, c.line, c.column)
		}
	}
	if n.Get("nothing").Get("in").Items() != nil || !n.Get("nothing").IsNull() {
		t.Error("what is not there is something")
	}
}

func TestWhatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		code fault.Code
		line int
		said string
	}{
		"no YAML":         {"a: b\nc: [", "", 2, "not YAML"},
		"two documents":   {"a: 1\n---\nb: 2\n", "", 1, "2 YAML documents"},
		"no UTF-8":        {"a: 1\nb: \xff\n", "", 2, "not UTF-8"},
		"no anchor":       {"a: *b\n", source.CodeAlias, 1, ""},
		"an alias bomb":   {bomb(), source.CodeLarge, 0, ""},
		"brackets":        {"a: " + strings.Repeat("[", 600), source.CodeLarge, 1, "brackets"},
		"a large file":    {strings.Repeat("#", source.MaxFile+1), source.CodeLarge, 1, "bytes"},
		"deep mappings":   {deep(source.MaxDepth + 2), source.CodeLarge, 0, ""},
		"an empty one is": {"", "", 0, ""},
	} {
		var r source.Reader
		r.Parse("app.yaml", []byte(c.raw))
		found := r.Problems()
		if name == "an empty one is" {
			if len(found) > 0 {
				t.Errorf("an empty file: %v", found)
			}
			continue
		}
		if len(found) == 0 {
			t.Errorf("%s: nothing is said", name)
			continue
		}
		if p := found[0]; p.Code != c.code || c.line > 0 && p.Line != c.line || !strings.Contains(p.Message, c.said) {
			t.Errorf("%s: %+v, want %q in line %d, saying %q", name, p, c.code, c.line, c.said)
		}
	}
}

// bomb is a few lines that stand for a billion.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		prev := "*a" + string(rune('0'+i-1))
		b.WriteString("a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat(prev+", ", 9) + prev + "]\n")
	}
	return b.String()
}

func deep(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

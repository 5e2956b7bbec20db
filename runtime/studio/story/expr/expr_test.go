package expr_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

func env(t testing.TB) *expr.Env {
	world, err := value.Parse([]byte(`{"money":3,"name":"Ada","tags":["a","b"],"job":{"id":"j1","n":1.5},"none":null,"t":true,"rows":[{"id":"x","n":1},{"id":"y","n":2}]}`))
	if err != nil {
		t.Fatal(err)
	}
	slots, err := value.Parse([]byte(`{"direction":"south"}`))
	if err != nil {
		t.Fatal(err)
	}
	menu, err := value.Parse([]byte(`{"primary":[{"intent":"bf__go"}],"blocked":[{"intent":"stop","reason":"not yet"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return expr.NewEnv().With(expr.World, world).With(expr.Slots, slots).With(expr.Menu, menu).Named(func(s string) string {
		if s == "go" {
			return "bf__go"
		}
		return s
	})
}

func TestEval(t *testing.T) {
	tests := []struct {
		src, want string
		code      fault.Code
	}{
		{src: "world.money + 1", want: "4"},
		{src: "slots.direction == 'south' && world.t", want: "true"},
		{src: "world.missing == nil", want: "true"},
		{src: "len(world.missing)", want: "0"},
		{src: "len(world.tags) > 1", want: "true"},
		{src: "world.missing ?? 'x'", want: `"x"`},
		{src: "world.job.n * 2", want: "3"},
		{src: "world.tags[1]", want: `"b"`},
		{src: "'a' in world.tags", want: "true"},
		{src: "available('go')", want: "true"},
		{src: "available('stop') || blocked('stop')", want: "true"},
		{src: "blocked_reason('stop')", want: `"not yet"`},
		{src: "upper(world.name)", want: `"ADA"`},
		{src: "world.t ? 1 : 2", want: "1"},
		{src: "unknown", want: "null"},
		{src: "world.job.id.deeper", code: expr.CodeRuntime},
		{src: "filter(world.tags, # == 'a')", code: expr.CodeBarred},
		{src: "let x = 1; x", code: expr.CodeBarred},
		{src: "{a: 1}", code: expr.CodeBarred},
		{src: "env.HOME", code: expr.CodeBarred},
		{src: "repeat('a', 5)", code: expr.CodeBarred},
		{src: "world.money +", code: expr.CodeSyntax},
		{src: strings.Repeat("(", 100) + "1", code: expr.CodeSyntax},
	}
	for _, tt := range tests {
		e, err := expr.Compile(tt.src)
		var v value.Value
		if err == nil {
			v, err = e.Eval(env(t))
		}
		if fault.CodeOf(err) != tt.code || err == nil && v.JSON() != tt.want {
			t.Errorf("%s: %s, %v; want %s %s", tt.src, v.JSON(), err, tt.want, tt.code)
		}
	}
}

func TestReads(t *testing.T) {
	e, err := expr.CompileBool("world.money > 1 && slots.direction == world.job.id")
	if err != nil || strings.Join(e.Reads(), " ") != "slots.direction world.job world.money" {
		t.Errorf("%v, %v", e.Reads(), err)
	}
}

func TestSmall(t *testing.T) {
	tests := []struct {
		src, want string // as JSON
		code      fault.Code
	}{
		{src: "plain", want: `"plain"`},
		{src: "{{ world.money }}", want: "3"},
		{src: " {{ world.t }} ", want: "true"},
		{src: "{{ world.money }} gold", want: `"3 gold"`},
		{src: "{{ world.tags }}", want: `["a","b"]`},
		{src: "x{{ world.tags }}", want: `"x[\"a\",\"b\"]"`},
		{src: "{{ world.none }}x", want: `"x"`},
		{src: "{{ if world.money > 2 }}rich{{ else }}poor{{ end }}", want: `"rich"`},
		{src: "{{ if not world.t }}a{{ end }}", want: `""`},
		{src: "{{ range world.rows }}{{ .id }}={{ .n + 1 }};{{ end }}", want: `"x=2;y=3;"`},
		{src: "{{ range world.rows }}{{ if .n > 1 }}{{ world.name }}{{ end }}{{ end }}", want: `"Ada"`},
		{src: "{{ world.money }}{{ world.money }}", want: `"33"`},
		{src: "{{ world.job.n }}!", want: `"1.5!"`},
		{src: "{{ world.money", code: expr.CodeTemplate},
		{src: "{{ if world.t }}a", code: expr.CodeTemplate},
		{src: "{{ end }}", code: expr.CodeTemplate},
		{src: "{{ range world.name }}{{ end }}", code: expr.CodeTemplate},
		{src: "{{ world.money|upper }}", code: expr.CodeSyntax},
	}
	for _, tt := range tests {
		tpl, err := expr.Small(tt.src)
		var v value.Value
		if err == nil {
			v, err = tpl.Value(env(t))
		}
		if fault.CodeOf(err) != tt.code || err == nil && v.JSON() != tt.want {
			t.Errorf("%s: %s, %v; want %s %s", tt.src, v.JSON(), err, tt.want, tt.code)
		}
	}
}

func TestPage(t *testing.T) {
	pages := expr.NewPages(func(name string) ([]byte, error) {
		if name == "base.pongo" {
			return []byte("<{% block body %}none{% endblock %}>"), nil
		}
		return nil, fault.New(fault.NotFound, "test", "no %q", name)
	})
	tests := []struct {
		src, want string
		code      fault.Code
	}{
		{src: "no {delimiters}", want: "no {delimiters}"},
		{src: "{{ world.name|upper }} & <b>", want: "ADA & <b>"},
		{src: `{{ world.missing ?? "none?? {{" }}`, want: "none?? {{"},
		{src: "really?? {{ world.money }}", want: "really?? 3"},
		{src: "{% for r in world.rows|reverse %}{{ r.id }}{% endfor %}", want: "yx"},
		{src: "[{{ world.name|col:5 }}][{{ world.name|rcol:2 }}]", want: "[Ada  ][Ad]"},
		{src: `{{ "aa bb cc"|wordwrap:5 }}`, want: "aa bb\ncc"},
		{src: `{% if available("go") %}y{% endif %}`, want: "y"},
		{src: `{% extends "base.pongo" %}{% block body %}{{ world.name }}{% endblock %}`, want: "<Ada>"},
		{src: `{% ssi "/etc/passwd" %}`, code: expr.CodeTemplate},
		{src: `{% include "other" %}`, code: expr.CodeTemplate},
		{src: "{% if %}", code: expr.CodeTemplate},
		{src: "{{ world.x|nosuch }}", code: expr.CodeTemplate},
	}
	for _, tt := range tests {
		tpl, err := pages.Page(tt.src)
		got := ""
		if err == nil {
			got, err = tpl.Text(env(t))
		}
		if fault.CodeOf(err) != tt.code || err == nil && got != tt.want {
			t.Errorf("%s: %q, %v; want %q %s", tt.src, got, err, tt.want, tt.code)
		}
	}
}

func FuzzExpr(f *testing.F) {
	for _, s := range []string{"world.money + 1", "len(world.x) > 0 ? slots.a : nil", "a.b[1].c ?? 'x'", "{{ range world.rows }}{{ .id }}{{ end }}", "{% for x in world.rows %}{{ x|reverse }}{% endfor %}"} {
		f.Add(s)
	}
	e, pages := env(f), expr.NewPages(nil)
	f.Fuzz(func(t *testing.T, src string) {
		if x, err := expr.Compile(src); err == nil {
			_, _ = x.Eval(e)
		}
		if x, err := expr.Small(src); err == nil {
			_, _ = x.Value(e)
		}
		if x, err := pages.Page(src); err == nil {
			_, _ = x.Text(e)
		}
	})
}

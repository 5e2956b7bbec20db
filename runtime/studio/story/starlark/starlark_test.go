package starlark_test

import (
	"context"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/starlark"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

type web struct{}

func (web) Do(_ context.Context, r starlark.Request) (starlark.Response, error) {
	if r.URL == "https://x/none" {
		return starlark.Response{Status: 404, Body: "no"}, nil
	}
	return starlark.Response{Status: 200, Body: `{"got":"` + r.Method + r.Body + `"}`, Headers: map[string]string{"A": "b"}}, nil
}

func run(t *testing.T, source, inputs string, d starlark.Doors) (value.Value, error) {
	t.Helper()
	side, problems := starlark.ParseSidecar("s.star.yaml", []byte("inputs:\n  n: { type: int, required: true }\n  s: { type: string }\noutputs:\n  out: { type: any }\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	in, err := value.Parse([]byte(inputs))
	if err != nil {
		t.Fatal(err)
	}
	world := value.NewMap(map[string]value.Value{"gold": value.Of(3)})
	return starlark.Run(t.Context(), starlark.Script{Name: "s.star", Source: source, Sidecar: side}, in, world, d)
}

func TestRun(t *testing.T) {
	tests := []struct {
		name, source, in, want string
		code                   fault.Code
	}{
		{name: "inputs", source: "def main(ctx):\n  return {'out': ctx.inputs['n'] + 1}", in: `{"n":2.0}`, want: `{"out":3}`},
		{name: "world", source: "def main(ctx):\n  return {'out': [ctx.world.get('gold'), ctx.world.get('x')]}", in: `{"n":1}`, want: `{"out":[3,null]}`},
		{name: "json and math", source: "def main(ctx):\n  return {'out': json.decode('[1.5]')[0] + math.floor(2.7)}", in: `{"n":1}`, want: `{"out":3.5}`},
		{
			name: "requests", source: "def main(ctx):\n  a = ctx.http.post('https://x/y', body='b')\n  b = ctx.http.get('https://x/none')\n  return {'out': [a.json()['got'], a.headers['a'], bool(b), b.status, b.text()]}", in: `{"n":1}`,
			want: `{"__http_exchanges":[{"method":"POST","status":200,"url":"https://x/y"},{"method":"GET","status":404,"url":"https://x/none"}],"out":["POSTb","b",false,404,"no"]}`,
		},
		{name: "missing input", source: "def main(ctx):\n  return {'out': 1}", in: `{}`, code: starlark.CodeShape},
		{name: "wrong input", source: "def main(ctx):\n  return {'out': 1}", in: `{"n":"x"}`, code: starlark.CodeShape},
		{name: "undeclared output", source: "def main(ctx):\n  return {'out': 1, 'more': 2}", in: `{"n":1}`, code: starlark.CodeShape},
		{name: "no output", source: "def main(ctx):\n  return {}", in: `{"n":1}`, code: starlark.CodeShape},
		{name: "no main", source: "x = 1", in: `{"n":1}`, code: starlark.CodeScript},
		{name: "fails", source: "def main(ctx):\n  return {'out': 1 // 0}", in: `{"n":1}`, code: starlark.CodeScript},
		{name: "does not parse", source: "def main(", in: `{"n":1}`, code: starlark.CodeScript},
		{name: "endless", source: "def main(ctx):\n  x = 0\n  for i in range(100000000):\n    x += i\n  return {'out': x}", in: `{"n":1}`, code: starlark.CodeSteps},
		{name: "a closed door", source: "def main(ctx):\n  return {'out': ctx.fs.read('x')}", in: `{"n":1}`, code: starlark.CodeDoor},
		{name: "load", source: "load('x.star', 'y')\ndef main(ctx):\n  return {'out': 1}", in: `{"n":1}`, code: starlark.CodeScript},
		{name: "inputs are frozen", source: "def main(ctx):\n  ctx.inputs['n'] = 2\n  return {'out': 1}", in: `{"n":1}`, code: starlark.CodeScript},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := run(t, tt.source, tt.in, starlark.Doors{HTTP: web{}})
			if fault.CodeOf(err) != tt.code || err == nil && out.JSON() != tt.want {
				t.Errorf("%s, %v; want %s %s", out.JSON(), err, tt.want, tt.code)
			}
		})
	}
}

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
		{name: "endless", source: "def main(ctx):\n  x = 0\n  for i in range(10000):\n    for j in range(10000):\n      x += i\n  return {'out': x}", in: `{"n":1}`, code: starlark.CodeSteps},
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

// What one step can make without a bound on memory is refused before it is made.
func TestMemory(t *testing.T) {
	for body, code := range map[string]fault.Code{
		"for i in range(100):\n    s += s":                                       starlark.CodeMemory,
		"for i in range(100):\n    s = s + s":                                    starlark.CodeMemory,
		"s = s * 1000000000":                                                     starlark.CodeMemory,
		"s = 1000000000 * s":                                                     starlark.CodeMemory,
		"s *= 1000000000":                                                        starlark.CodeMemory,
		"l = list(range(1000000000))":                                            starlark.CodeMemory,
		"l = sorted(range(1000000000))":                                          starlark.CodeMemory,
		"for i in range(100):\n    l = l + l":                                    starlark.CodeMemory,
		"for i in range(100):\n    l += l":                                       starlark.CodeMemory,
		"for i in range(100):\n    l.extend(l)":                                  starlark.CodeMemory,
		"for i in range(100):\n    d['l'] += d['l']":                             starlark.CodeMemory,
		"for i in range(100):\n    x = x * x":                                    starlark.CodeMemory,
		"for i in range(100):\n    x *= x":                                       starlark.CodeMemory,
		"for i in range(60):\n    l = [l, l]\n  s = str(l)":                      starlark.CodeMemory,
		"for i in range(60):\n    l = [l, l]\n  s = '%s' % (l,)":                 starlark.CodeMemory,
		"for i in range(60):\n    l = [l, l]\n  s = '{}'.format(l)":              starlark.CodeMemory,
		"for i in range(60):\n    l = [l, l]\n  s = json.encode(l)":              starlark.CodeMemory,
		"for i in range(60):\n    l = [l, l]\n  s = l":                           starlark.CodeLarge,
		"for i in range(60):\n    x = (x, x)":                                    starlark.CodeMemory,
		"s = (s * 1000000).replace('a', s * 1000)":                               starlark.CodeMemory,
		"s = (s * 1000).join([s] * 1000000)":                                     starlark.CodeMemory,
		"j = s.join\n  s = j([s * 1000000] * 1000)":                              starlark.CodeMemory,
		"s = ('{0}' * 100000).format(s * 100000)":                                starlark.CodeMemory,
		"l = list((s * 100000000).elems())":                                      starlark.CodeMemory,
		"for i in range(1000):\n    l.append((s * 1000000)[1:])":                 starlark.CodeMemory,
		"l[len([0]) - 1] += 'x'":                                                 starlark.CodeScript,
		"s = ''.join(['%d' % i for i in range(2000)]) and 'ok'":                  "",
		"for i in range(2000):\n    s += 'line %d\\n' % i\n  s = 'ok'":           "",
		"d['l'] += [1]\n  l += d['l']\n  s = 'ok' if l == [0, 0, 1] else str(l)": "",
		"a, b = (1, 2)\n  (l + [b, a])[0]\n  s = {a: 'ok' for a in [1]}[1]":      "",
		"s = sorted(['ok', 'x'], key=lambda v, n=1: len(v) * -n)[0]":             "",
		"s = [p for p in zip([1], ['ok']) if p[0] + 0 == 1][0][1]":               "",
		"f = lambda *a, **k: a[0] + k['b']\n  s = f(*['o'], **{'b': 'k'})":       "",
		"if 5 * 2 == 10 and not (3 % 2 == 0):\n    s = 'ok'[0:2:1]":              "",
	} {
		source := "def main(ctx):\n  s, l, x, d = 'a', [0], 3, {'l': [0]}\n  " + body + "\n  return {'out': s}\n"
		out, err := run(t, source, `{"n":1}`, starlark.Doors{})
		if fault.CodeOf(err) != code || err == nil && out.JSON() != `{"out":"ok"}` {
			t.Errorf("%s: %.100s, %v, want %q", body, out.JSON(), err, code)
		}
	}
}

// FuzzRun runs anything: it ends, and what it gives can be held by a world.
func FuzzRun(f *testing.F) {
	for _, body := range []string{"return {'out': [x for x in range(3)]}", "s = 'a'\n  s += s * 3\n  return {'out': '%s' % s}", "d = {1: (2, 3)}\n  d[1] += (4,)\n  return {'out': str(d)}", "f = lambda a, *b: b\n  return {'out': f(1, *[2, 3])[1:]}"} {
		f.Add("def main(ctx):\n  " + body + "\n")
	}
	f.Fuzz(func(t *testing.T, source string) {
		if out, err := run(t, source, `{"n":1}`, starlark.Doors{}); err == nil && out.Kind() != value.Map {
			t.Errorf("%q gives %s", source, out.JSON())
		} else if err != nil && fault.CodeOf(err) == "" {
			t.Errorf("%q: %v has no code", source, err)
		}
	})
}

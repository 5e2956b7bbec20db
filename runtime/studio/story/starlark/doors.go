package starlark

import (
	"context"
	"strings"

	sjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A call is one run of a script, as the script sees it: ctx.
type call struct {
	ctx       context.Context //nolint:containedctx // lives as long as Run
	doors     Doors
	exchanges []value.Value
	room      int // bytes that doors may still give
}

func (c *call) value(inputs, world value.Value) (starlark.Value, error) {
	in := toStarlark(inputs)
	in.Freeze()
	w := toStarlark(world)
	w.Freeze()
	members := func(name string, m starlark.StringDict) starlark.Value {
		return starlarkstruct.FromStringDict(starlark.String(name), m)
	}
	return members("ctx", starlark.StringDict{
		"inputs": in,
		"world": members("world", starlark.StringDict{"get": builtin("ctx.world.get", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			var key string
			var otherwise starlark.Value = starlark.None
			if err := starlark.UnpackArgs(b.Name(), args, kw, "key", &key, "default?", &otherwise); err != nil {
				return nil, err
			}
			d, ok := w.(*starlark.Dict)
			if !ok {
				return otherwise, nil
			}
			v, found, err := d.Get(starlark.String(key))
			if err != nil || !found {
				return otherwise, err
			}
			return v, nil
		})}),
		"http":  members("http", starlark.StringDict{"get": builtin("ctx.http.get", c.get), "post": builtin("ctx.http.post", c.post)}),
		"fs":    members("fs", starlark.StringDict{"read": builtin("ctx.fs.read", c.read), "exists": builtin("ctx.fs.exists", c.exists), "glob": builtin("ctx.fs.glob", c.glob)}),
		"probe": builtin("ctx.probe", c.probe),
	}), nil
}

type function = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

func builtin(name string, f function) starlark.Value { return starlark.NewBuiltin(name, f) }

// take counts what a door gives.
func (c *call) take(n int) error {
	if c.room -= n; c.room < 0 {
		return fault.New(CodeLarge, "story.script", "a script is given more than %d bytes", MaxText)
	}
	return nil
}

func (c *call) get(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var url string
	var headers *starlark.Dict
	if err := starlark.UnpackArgs(b.Name(), args, kw, "url", &url, "headers?", &headers); err != nil {
		return nil, err
	}
	return c.do(Request{Method: "GET", URL: url, Headers: texts(headers)})
}

func (c *call) post(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var url string
	var body starlark.Value = starlark.None
	var headers *starlark.Dict
	if err := starlark.UnpackArgs(b.Name(), args, kw, "url", &url, "body?", &body, "headers?", &headers); err != nil {
		return nil, err
	}
	r := Request{Method: "POST", URL: url, Headers: texts(headers)}
	switch body := body.(type) {
	case starlark.NoneType:
	case starlark.String:
		r.Body = string(body)
	default:
		v, err := toValue(body, 0)
		if err != nil {
			return nil, err
		}
		r.Body = v.JSON()
	}
	return c.do(r)
}

func texts(d *starlark.Dict) map[string]string {
	m := map[string]string{}
	if d == nil {
		return m
	}
	for _, it := range d.Items() {
		name, _ := starlark.AsString(it[0])
		text, ok := starlark.AsString(it[1])
		if !ok {
			text = it[1].String()
		}
		m[name] = text
	}
	return m
}

func (c *call) do(r Request) (starlark.Value, error) {
	if c.doors.HTTP == nil {
		return nil, fault.New(CodeDoor, "story.script", "%s %s: this run makes no requests", r.Method, r.URL).WithHint("give the flow a starlark_http_cassette")
	}
	res, err := c.doors.HTTP.Do(c.ctx, r)
	if err != nil {
		return nil, err
	}
	if err := c.take(len(res.Body)); err != nil {
		return nil, err
	}
	c.exchanges = append(c.exchanges, value.NewMap(map[string]value.Value{
		"method": value.Of(r.Method), "url": value.Of(r.URL), "status": value.Of(res.Status),
	}))
	return response{res}, nil
}

// A response is what a request gives a script. It is true where it worked.
type response struct{ r Response }

// String implements starlark.Value.
func (r response) String() string { return "http.response" }

// Type implements starlark.Value.
func (r response) Type() string { return "http.response" }

// Freeze implements starlark.Value.
func (r response) Freeze() {}

// Truth implements starlark.Value.
func (r response) Truth() starlark.Bool { return r.r.Status >= 200 && r.r.Status < 300 }

// Hash implements starlark.Value.
func (r response) Hash() (uint32, error) {
	return 0, fault.New(CodeScript, "story.script", "a response cannot be a key")
}

// AttrNames implements starlark.HasAttrs.
func (r response) AttrNames() []string { return []string{"headers", "json", "status", "text"} }

// Attr implements starlark.HasAttrs.
func (r response) Attr(name string) (starlark.Value, error) {
	switch name {
	case "status":
		return starlark.MakeInt(r.r.Status), nil
	case "headers":
		d := starlark.NewDict(len(r.r.Headers))
		for k, v := range r.r.Headers {
			_ = d.SetKey(starlark.String(strings.ToLower(k)), starlark.String(v)) // a text can always be a key
		}
		return d, nil
	case "text":
		return builtin("http.response.text", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
			return starlark.String(r.r.Body), nil
		}), nil
	case "json":
		return builtin("http.response.json", func(t *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return starlark.Call(t, sjson.Module.Members["decode"], starlark.Tuple{starlark.String(r.r.Body)}, nil)
		}), nil
	}
	return nil, nil
}

func (c *call) inspector(what string) (Inspector, error) {
	if c.doors.Inspect == nil {
		return nil, fault.New(CodeDoor, "story.script", "%s: this run looks at no files", what).WithHint("give the flow a starlark_inspect_cassette")
	}
	return c.doors.Inspect, nil
}

// asked is the one argument of a call, and whom to ask.
func (c *call) asked(param string, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (name string, in Inspector, err error) {
	if err := starlark.UnpackArgs(b.Name(), args, kw, param, &name); err != nil {
		return "", nil, err
	}
	in, err = c.inspector(b.Name() + " " + name)
	return name, in, err
}

func (c *call) read(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	path, in, err := c.asked("path", b, args, kw)
	if err != nil {
		return nil, err
	}
	text, err := in.Read(c.ctx, path)
	if err != nil {
		return nil, err
	}
	if len(text) > MaxFile {
		return nil, fault.New(CodeLarge, "story.script", "%q has %d bytes, the bound is %d", path, len(text), MaxFile)
	}
	return starlark.String(text), c.take(len(text))
}

func (c *call) exists(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	path, in, err := c.asked("path", b, args, kw)
	if err != nil {
		return nil, err
	}
	ok, err := in.Exists(c.ctx, path)
	return starlark.Bool(ok), err
}

func (c *call) glob(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	pattern, in, err := c.asked("pattern", b, args, kw)
	if err != nil {
		return nil, err
	}
	names, err := in.Glob(c.ctx, pattern)
	if err != nil {
		return nil, err
	}
	items := make([]starlark.Value, len(names))
	n := 0
	for i, name := range names {
		items[i] = starlark.String(name)
		n += len(name)
	}
	return starlark.NewList(items), c.take(n)
}

func (c *call) probe(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var name string
	var list *starlark.List
	if err := starlark.UnpackArgs(b.Name(), args, kw, "name", &name, "args?", &list); err != nil {
		return nil, err
	}
	in, err := c.inspector(b.Name() + " " + name)
	if err != nil {
		return nil, err
	}
	var words []string
	if list != nil {
		for i := range list.Len() {
			word, ok := starlark.AsString(list.Index(i))
			if !ok {
				word = list.Index(i).String()
			}
			words = append(words, word)
		}
	}
	exit, out, err := in.Probe(c.ctx, name, words)
	if err != nil {
		return nil, err
	}
	d := starlark.NewDict(2)
	for name, v := range map[string]starlark.Value{"exit": starlark.MakeInt(exit), "out": starlark.String(out)} {
		_ = d.SetKey(starlark.String(name), v) // a text can always be a key
	}
	return d, c.take(len(out))
}

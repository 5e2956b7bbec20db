package flow

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/host"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// CodeMiss says that a cassette of a flow holds no answer.
const CodeMiss fault.Code = "STORY_CASSETTE_MISS"

// A cassette holds answers of handlers, played in order.
type cassette struct {
	episodes []*episode
	phase    *regexp.Regexp // what of a state is its phase; nil: its first part
}

type episode struct {
	id     string
	match  value.Value
	stub   *Stub
	again  bool
	played int
}

func readCassette(name string, raw []byte) (*cassette, error) {
	n, err := document(name, raw)
	if err != nil {
		return nil, err
	}
	c := &cassette{}
	if from := n.Get("phase_from").Value().Text(); from != "" {
		if c.phase, err = regexp.Compile(from); err != nil {
			return nil, fault.New(CodeFlow, "story.test", "%s: phase_from: %s", name, err)
		}
	}
	f := &Fixture{}
	for _, it := range list(n.Get("episodes")) {
		e := &episode{id: it.Get("id").Value().Text(), match: it.Get("match").Value(), again: it.Get("replay").Value().Text() == "any"}
		e.stub = f.stub(it.Get("response"), "episode "+e.id, true)
		if len(f.Findings) > 0 {
			at := f.Findings[0]
			return nil, fault.New(CodeFlow, "story.test", "%s:%d:%d: %s", name, at.Line, at.Column, at.Message).WithHint("a response has data, error, infra_error")
		}
		if d := it.Get("delay").Value().Text(); d != "" {
			if e.stub.Delay, err = load.Duration(d); err != nil {
				return nil, err
			}
		}
		c.episodes = append(c.episodes, e)
	}
	return c, nil
}

func document(name string, raw []byte) (*source.Node, error) {
	var r source.Reader
	n := r.Parse(name, raw)
	if p := r.Problems(); len(p) > 0 {
		return nil, fault.New(CodeFlow, "story.test", "%s:%d:%d: %s", p[0].File, p[0].Line, p[0].Column, p[0].Message)
	}
	if n == nil || n.Kind != source.Map {
		return nil, fault.New(CodeFlow, "story.test", "%q is no mapping, and so neither a cassette nor a recording", name).WithHint("name a file that begins with kind:")
	}
	return n, nil
}

func list(n *source.Node) []*source.Node {
	if n == nil {
		return nil
	}
	return n.List
}

// has is the handler under which the cassette answers calls of a name, and which operation
// of it that is; "" where it answers none.
func (c *cassette) has(name string) (handler, op string) {
	knows := func(name string) bool {
		return name != "" && slices.ContainsFunc(c.episodes, func(e *episode) bool {
			h, _ := e.match.Get("handler")
			return h.Str() == name
		})
	}
	if knows(name) {
		return name, ""
	}
	if whole, op := host.Whole(name); knows(whole) {
		return whole, op
	}
	return "", ""
}

// call is the next answer to a call. state is where the turn began.
func (c *cassette) call(handler string, r engine.Request, state string) (*Stub, error) {
	schema, _ := r.Args.Get("schema")
	known := map[string]value.Value{
		"handler": value.Of(handler), "phase": value.Of(c.phaseOf(state)), "schema_name": value.Of(path.Base(schema.Text())),
	}
	for _, e := range c.episodes {
		if e.played > 0 && !e.again || !e.fits(known, r.Args) {
			continue
		}
		e.played++
		return e.stub, nil
	}
	var left []string
	for _, e := range c.episodes {
		if e.played == 0 || e.again {
			left = append(left, e.id)
		}
	}
	return nil, fault.New(CodeMiss, "story.test", "cassette miss: no episode matched handler=%s args=%s; left are %v", handler, r.Args.JSON(), left)
}

func (c *cassette) phaseOf(state string) string {
	if c.phase != nil {
		m := c.phase.FindStringSubmatch(state)
		if len(m) > 1 {
			return m[1]
		}
		if len(m) == 1 {
			return m[0]
		}
		return ""
	}
	first, _, _ := strings.Cut(state, ".")
	return first
}

func (e *episode) fits(known map[string]value.Value, args value.Value) bool {
	for name, want := range e.match.Members() {
		got, ok := known[name]
		if !ok {
			got, _ = args.Get(name)
		}
		if !got.Equal(want) && got.Text() != want.Text() {
			return false
		}
	}
	return true
}

// left are the episodes that were never played.
func (c *cassette) left() []string {
	var ids []string
	for _, e := range c.episodes {
		if e.played == 0 && !e.again {
			ids = append(ids, e.id)
		}
	}
	return ids
}

// A web answers the requests of scripts out of a cassette.
type web struct {
	exchanges []*exchange
	repeats   bool
}

type exchange struct {
	method, url string
	pattern     *regexp.Regexp
	status      int
	body        string
	headers     map[string]string
	played      bool
}

func readWeb(name string, raw []byte) (*web, error) {
	n, err := document(name, raw)
	if err != nil {
		return nil, err
	}
	w := &web{repeats: n.Get("allow_playback_repeats").Value().Bool()}
	for _, it := range slices.Concat(list(n.Get("exchanges")), list(n.Get("episodes"))) {
		req, res := it.Get("request"), it.Get("response")
		if m := it.Get("match"); !m.IsNull() {
			req = m
		}
		status, _ := res.Get("status").Value().Int()
		e := &exchange{
			method: strings.ToUpper(req.Get("method").Value().Text()), url: req.Get("url").Value().Text(), status: int(status),
			body: res.Get("body").Value().Text(), headers: map[string]string{},
		}
		if p := req.Get("url_pattern").Value().Text(); p != "" {
			if e.pattern, err = regexp.Compile(p); err != nil {
				return nil, fault.New(CodeFlow, "story.test", "%s: url_pattern: %s", name, err)
			}
		}
		for k, v := range res.Get("headers").Value().Members() {
			e.headers[k] = v.Text()
		}
		w.exchanges = append(w.exchanges, e)
	}
	return w, nil
}

// find is the next exchange that answers a request.
func (w *web) find(method, url string) *exchange {
	for _, e := range w.exchanges {
		if (!e.played || w.repeats) && (e.method == "" || e.method == method) && (e.pattern != nil && e.pattern.MatchString(url) || e.pattern == nil && e.url == url) {
			e.played = true
			return e
		}
	}
	return nil
}

// An inspection answers what scripts look at out of a cassette.
type inspection struct{ list []*source.Node }

func readInspection(name string, raw []byte) (*inspection, error) {
	n, err := document(name, raw)
	if err != nil {
		return nil, err
	}
	return &inspection{list(n.Get("interactions"))}, nil
}

func (i *inspection) find(op, target string) (*source.Node, error) {
	for _, n := range i.list {
		if n.Get("op").Value().Text() == op && n.Get("target").Value().Text() == target {
			return n, nil
		}
	}
	return nil, fault.New(CodeMiss, "story.test", "the inspect cassette holds no %s of %q", op, target)
}

// Read implements starlark.Inspector.
func (i *inspection) Read(_ context.Context, name string) (string, error) {
	n, err := i.find("read", name)
	if err != nil {
		return "", err
	}
	return n.Get("out").Value().Text(), nil
}

// Exists implements starlark.Inspector.
func (i *inspection) Exists(_ context.Context, name string) (bool, error) {
	n, err := i.find("exists", name)
	if err != nil {
		return false, err
	}
	return n.Get("out").Value().Text() == "true", nil
}

// Glob implements starlark.Inspector.
func (i *inspection) Glob(_ context.Context, pattern string) ([]string, error) {
	n, err := i.find("glob", pattern)
	if err != nil {
		return nil, err
	}
	return strings.Fields(n.Get("out").Value().Text()), nil
}

// Probe implements starlark.Inspector.
func (i *inspection) Probe(_ context.Context, name string, _ []string) (int, string, error) {
	n, err := i.find("probe", name)
	if err != nil {
		return 0, "", err
	}
	exit, _ := n.Get("exit").Value().Int()
	return int(exit), n.Get("out").Value().Text(), nil
}

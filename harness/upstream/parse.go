package upstream

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"time"

	"gopkg.in/yaml.v3"
)

// Parse reads a script. The name is used in messages only.
func Parse(name string, data []byte) (*Script, error) {
	if len(data) > MaxScript {
		return nil, tooLong(name, int64(len(data)))
	}
	r := source{name: name}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := d.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, r.errorf(&doc, "the script is empty: it needs turns")
		}
		return nil, r.errorf(&doc, "not YAML: %v", err)
	}
	if err := d.Decode(&next); !errors.Is(err, io.EOF) {
		return nil, r.errorf(&next, "a script is one YAML document")
	}
	s := &Script{name: name}
	if err := r.script(doc.Content[0], s); err != nil {
		return nil, err
	}
	if err := r.check(s); err != nil {
		return nil, err
	}
	return s, nil
}

func (r source) script(n *yaml.Node, s *Script) error {
	err := r.fields(n, "a script", map[string]field{
		"lanes": func(n *yaml.Node) error { return r.lanes(n, s) },
		"turns": func(n *yaml.Node) error {
			return r.each(n, "turns", MaxTurns, func(n *yaml.Node) error {
				t, err := r.turn(n)
				t.number = len(s.turns) + 1
				s.turns = append(s.turns, t)
				return err
			})
		},
	})
	if err == nil && len(s.turns) == 0 {
		return r.errorf(n, "a script needs at least one turn")
	}
	return err
}

func (r source) lanes(n *yaml.Node, s *Script) error {
	return r.each(n, "lanes", MaxTurns, func(n *yaml.Node) error {
		var l lane
		err := r.fields(n, "a lane", map[string]field{
			"name":   r.str("name", &l.name),
			"system": r.str("system", &l.system),
		})
		if err == nil && (l.name == "" || l.system == "") {
			err = r.errorf(n, "a lane needs name and system")
		}
		if err == nil && slices.ContainsFunc(s.lanes, func(o lane) bool { return o.name == l.name }) {
			err = r.errorf(n, "lane %q stands twice", l.name)
		}
		s.lanes = append(s.lanes, l)
		return err
	})
}

func (r source) turn(n *yaml.Node) (turn, error) {
	t := turn{line: n.Line, expect: expect{anyResults: true}}
	err := r.fields(n, "a turn", map[string]field{
		"lane":   r.str("lane", &t.lane),
		"expect": func(n *yaml.Node) error { return r.expect(n, &t.expect) },
		"let":    func(n *yaml.Node) error { return r.lets(n, &t) },
		"say":    func(n *yaml.Node) error { t.say = &say{}; return r.say(n, t.say) },
		"fail":   func(n *yaml.Node) error { t.fail = &failure{}; return r.failure(n, t.fail) },
	})
	if err == nil && (t.say == nil) == (t.fail == nil) {
		err = r.errorf(n, "a turn needs either say or fail")
	}
	return t, err
}

func (r source) expect(n *yaml.Node, e *expect) error {
	return r.fields(n, "expect", map[string]field{
		"user":   r.strs("user", &e.user),
		"system": r.strs("system", &e.system),
		"model":  r.str("model", &e.model),
		"tools":  r.strs("tools", &e.tools),
		"absent": r.strs("absent", &e.absent),
		"rounds": func(n *yaml.Node) error { e.rounds = new(int); return r.num("rounds", 0, MaxTurns, e.rounds)(n) },
		"stream": func(n *yaml.Node) error { e.stream = new(bool); return r.flag("stream", e.stream)(n) },
		"results": func(n *yaml.Node) error {
			e.anyResults = false
			return r.each(n, "results", MaxCalls, func(n *yaml.Node) error {
				w, err := r.wanted(n)
				e.results = append(e.results, w)
				return err
			})
		},
	})
}

func (r source) wanted(n *yaml.Node) (wanted, error) {
	var w wanted
	err := r.fields(n, "a result", map[string]field{
		"tool":     r.str("tool", &w.tool),
		"contains": r.strs("contains", &w.contains),
		"error":    func(n *yaml.Node) error { w.failed = new(bool); return r.flag("error", w.failed)(n) },
	})
	if err == nil && w.tool == "" {
		err = r.errorf(n, "a result needs tool")
	}
	return w, err
}

func (r source) lets(n *yaml.Node, t *turn) error {
	if err := r.plain(n); err != nil {
		return err
	}
	if n.Kind != yaml.MappingNode {
		return r.errorf(n, "let must be a mapping of names to regular expressions")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		l := let{name: n.Content[i].Value}
		if !letName().MatchString(l.name) {
			return r.errorf(n.Content[i], "%q is no name: use a-z, 0-9 and _", l.name)
		}
		if slices.ContainsFunc(t.lets, func(o let) bool { return o.name == l.name }) {
			return r.errorf(n.Content[i], "name %q stands twice in let", l.name)
		}
		var expr string
		if err := r.str("let "+l.name, &expr)(n.Content[i+1]); err != nil {
			return err
		}
		var err error
		if l.find, err = regexp.Compile(expr); err != nil || l.find.NumSubexp() > 1 {
			return r.errorf(n.Content[i+1], "let %s: %q must be a regular expression with at most one group", l.name, expr)
		}
		t.lets = append(t.lets, l)
	}
	return nil
}

func (r source) say(n *yaml.Node, s *say) error {
	var why string
	err := r.fields(n, "say", map[string]field{
		"text":      r.tmpl("text", &s.text),
		"reasoning": r.tmpl("reasoning", &s.reasoning),
		"refusal":   r.tmpl("refusal", &s.refusal),
		"stop":      r.str("stop", &why),
		"usage":     func(n *yaml.Node) error { return r.usage(n, &s.usage) },
		"cut_after": r.num("cut_after", 1, 1_000_000, &s.cutAfter),
		"calls": func(n *yaml.Node) error {
			return r.each(n, "calls", MaxCalls, func(n *yaml.Node) error {
				c, err := r.call(n)
				s.calls = append(s.calls, c)
				return err
			})
		},
	})
	if err != nil {
		return err
	}
	if s.text.text == "" && s.reasoning.text == "" && s.refusal.text == "" && len(s.calls) == 0 {
		return r.errorf(n, "say needs text, calls, reasoning or refusal")
	}
	if s.refusal.text != "" && (s.text.text != "" || len(s.calls) > 0) {
		return r.errorf(n, "a refusal has no text and no calls beside it")
	}
	switch {
	case s.refusal.text != "" && why == "":
		s.stop = stopRefusal
	case s.refusal.text == "" && (why == "length" || why == "end"):
		s.stop = stop(why)
	case why != "":
		return r.errorf(n, "stop is %q: it may be end or length, and is not given with a refusal", why)
	case len(s.calls) > 0:
		s.stop = stopCalls
	default:
		s.stop = stopEnd
	}
	return nil
}

func (r source) call(n *yaml.Node) (call, error) {
	c := call{input: value{}}
	err := r.fields(n, "a call", map[string]field{
		"tool": r.str("tool", &c.tool),
		"raw":  func(n *yaml.Node) error { c.raw = &template{}; return r.tmpl("raw", c.raw)(n) },
		"input": func(n *yaml.Node) (err error) {
			c.input, err = r.input(n, "input", 1)
			if err == nil && c.input.kind != object {
				err = r.errorf(n, "input must be a mapping")
			}
			return err
		},
	})
	switch {
	case err != nil:
	case c.tool == "":
		err = r.errorf(n, "a call needs tool")
	case c.raw != nil && c.input.kind != absent:
		err = r.errorf(n, "a call has input or raw, not both")
	case c.raw == nil && c.input.kind == absent:
		c.input = value{kind: object}
	}
	return c, err
}

func (r source) usage(n *yaml.Node, u *usage) error {
	const most = 100_000_000
	u.given = map[string]bool{}
	table := map[string]field{}
	for name, to := range map[string]*int{
		"input": &u.input, "cache_read": &u.cacheRead, "cache_write": &u.cacheWrite,
		"output": &u.output, "reasoning": &u.reasoning,
	} {
		table[name] = func(n *yaml.Node) error { u.given[name] = true; return r.num(name, 0, most, to)(n) }
	}
	err := r.fields(n, "usage", table)
	if err == nil && u.given["output"] && u.reasoning > u.output {
		err = r.errorf(n, "reasoning is part of output: %d is more than %d", u.reasoning, u.output)
	}
	return err
}

func (r source) failure(n *yaml.Node, f *failure) error {
	var after string
	err := r.fields(n, "fail", map[string]field{
		"status":      r.num("status", 400, 599, &f.status),
		"type":        r.str("type", &f.kind),
		"message":     r.str("message", &f.message),
		"retry_after": r.str("retry_after", &after),
		"final":       r.flag("final", &f.final),
	})
	if err != nil {
		return err
	}
	if f.status == 0 || f.message == "" {
		return r.errorf(n, "fail needs status and message")
	}
	if after == "" {
		return nil
	}
	if f.retryAfter, err = time.ParseDuration(after); err != nil || f.retryAfter <= 0 || f.retryAfter > time.Hour {
		return r.errorf(n, "retry_after is %q, not a duration up to 1h, such as 500ms or 2s", after)
	}
	return nil
}

// check looks at what no single turn can know: lanes exist, and values are taken
// before they are used.
func (r source) check(s *Script) error {
	known := map[string]map[string]bool{"": {}}
	for _, l := range s.lanes {
		known[l.name] = map[string]bool{}
	}
	for _, t := range s.turns {
		at := &yaml.Node{Line: t.line}
		names, ok := known[t.lane]
		if !ok {
			return r.errorf(at, "no lane %q: declare it in lanes", t.lane)
		}
		for _, l := range t.lets {
			names[l.name] = true
		}
		var missing string
		t.say.refs(func(name string) {
			if !names[name] {
				missing = name
			}
		})
		if missing != "" {
			return r.errorf(at, "${%s} is taken by no let of this turn or of an earlier one in its lane", missing)
		}
	}
	return nil
}

// refs calls f with each name that a reply uses.
func (s *say) refs(f func(string)) {
	if s == nil {
		return
	}
	for _, t := range []template{s.text, s.reasoning, s.refusal} {
		for _, name := range t.refs {
			f(name)
		}
	}
	for _, c := range s.calls {
		c.input.refs(f)
		if c.raw != nil {
			for _, name := range c.raw.refs {
				f(name)
			}
		}
	}
}

package load

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

var (
	inName = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	inText = regexp.MustCompile(`\{\{\s*(tpl|phase)\.([A-Za-z_][A-Za-z0-9_]*)(?:\.([A-Za-z_][A-Za-z0-9_]*))?\s*\}\}`)
)

// A phase is one use of a template.
type phase struct {
	id     string
	pos    program.Pos
	params map[string]string
	next   map[string]string
	cycles []*source.Key
	enter  *source.Node // in place of the template's
}

// phases writes out the states of templates, behind those that are written by hand. One
// that is written by hand wins over the template's.
func (l *loader) phases(tree *source.Node) {
	k := tree.Key("phases")
	if k == nil || k.Val.IsNull() {
		return
	}
	o := l.object(k.Val, "phases")
	name, graph := o.text("template"), o.entries("graph")
	o.done()
	if len(graph) == 0 {
		return
	}
	templates := tree.Get("phase_templates")
	switch {
	case templates.IsNull():
		l.fail(k.Pos, "phases: declared but no phase_templates: present")
		return
	case name == "":
		l.fail(k.Pos, "phases.template: required")
		return
	case templates.Get(name) == nil:
		l.fail(o.pos("template"), "phases.template %q: not found in phase_templates", name)
		return
	}
	t := l.object(templates.Get(name), "phase_templates.%s", name)
	params, states := t.entries("parameters"), t.entries("states")
	t.node("description")
	t.done()
	graph = slices.Clone(graph)
	slices.SortFunc(graph, func(a, b *source.Key) int { return strings.Compare(a.Name, b.Name) })
	if tree.Get("states").IsNull() {
		tree.Keys = append(tree.Keys, &source.Key{Name: "states", Pos: k.Pos})
		tree.Key("states").Val = &source.Node{Pos: k.Pos, Kind: source.Map}
	}
	for _, g := range graph {
		if p := l.phase(g, params); p != nil {
			l.expand(tree, p, states)
		}
	}
}

func (l *loader) phase(g *source.Key, params []*source.Key) *phase {
	if g.Val.IsNull() {
		l.fail(g.Pos, "phases.graph[%q]: empty entry", g.Name)
		return nil
	}
	p := &phase{id: g.Name, pos: g.Pos, params: map[string]string{}, next: map[string]string{}}
	for _, k := range params {
		if def := k.Val.Get("default"); !def.IsNull() {
			p.params[k.Name] = printed(def)
		}
	}
	for _, k := range g.Val.Keys {
		switch k.Name {
		case "next":
			for _, n := range k.Val.Keys {
				p.next[n.Name] = printed(n.Val)
			}
		case "cycle_budgets":
			p.cycles = k.Val.Keys
		case "on_enter":
			if k.Val.Kind != source.List && !k.Val.IsNull() {
				l.fail(k.Val.Pos, "phases.graph[%q]: on_enter: expected a list of effects, got %s", g.Name, k.Val.What())
				return nil
			}
			p.enter = k.Val
		default:
			p.params[k.Name] = printed(k.Val)
		}
	}
	p.params["id"] = g.Name
	good := true
	for _, k := range params {
		if _, has := p.params[k.Name]; !has && k.Val.Get("required") != nil && k.Val.Get("required").Scalar.Bool() {
			l.fail(g.Pos, "phases.graph[%q]: missing required template parameter %q", g.Name, k.Name)
			good = false
		}
	}
	if !good {
		return nil
	}
	return p
}

func printed(n *source.Node) string {
	if n.Kind == source.Scalar {
		return n.Scalar.Text()
	}
	return n.Value().JSON()
}

// expand writes out the states of one phase.
func (l *loader) expand(tree *source.Node, p *phase, states []*source.Key) {
	into := tree.Get("states")
	for _, k := range states {
		name := inName.ReplaceAllStringFunc(k.Name, func(m string) string {
			v, ok := p.params[m[1:len(m)-1]]
			if !ok {
				l.fail(k.Pos, "phases.graph[%q]: state name %q: unknown parameter %q", p.id, k.Name, m[1:len(m)-1])
			}
			return v
		})
		runs := strings.HasSuffix(name, "_executing")
		if own := into.Key(name); own != nil {
			if runs && len(p.cycles) > 0 && own.Val != nil {
				own.Val = own.Val.Copy()
				l.budgets(own.Val, p)
			}
			continue
		}
		st := p.filled(k.Val)
		if st.IsNull() {
			st = &source.Node{Pos: k.Pos, Kind: source.Map}
		}
		if runs {
			l.budgets(st, p)
			if !p.enter.IsNull() {
				put(st, "on_enter", p.filled(p.enter), p.enter.Pos)
			}
		}
		if more := tree.Get("checkpoint_intents"); strings.HasSuffix(name, "_awaiting_reply") && more != nil {
			own := st.Get("intents").Copy()
			if own.IsNull() {
				own = &source.Node{Pos: more.Pos, Kind: source.Map}
			}
			for _, i := range more.Keys {
				if own.Key(i.Name) == nil {
					own.Keys = append(own.Keys, i)
				}
			}
			put(st, "intents", own, more.Pos)
		}
		into.Keys = append(into.Keys, &source.Key{Name: name, Pos: k.Pos, Val: st})
	}
}

// put sets a key of a mapping that is nobody else's.
func put(n *source.Node, name string, val *source.Node, at program.Pos) {
	for i, k := range n.Keys {
		if k.Name == name {
			n.Keys[i] = &source.Key{Name: name, Pos: k.Pos, Val: val}
			return
		}
	}
	n.Keys = append(n.Keys, &source.Key{Name: name, Pos: at, Val: val})
}

// filled is a copy with the phase's own words in it.
func (p *phase) filled(n *source.Node) *source.Node {
	if n == nil {
		return nil
	}
	c := *n
	c.List, c.Keys = nil, nil
	for _, it := range n.List {
		c.List = append(c.List, p.filled(it))
	}
	for _, k := range n.Keys {
		c.Keys = append(c.Keys, &source.Key{Name: p.text(k.Name), Pos: k.Pos, Val: p.filled(k.Val)})
	}
	if n.IsText() {
		if was := n.Scalar.Str(); strings.Contains(was, "{{") {
			c.Scalar = text(p.text(was))
		}
	}
	return &c
}

func (p *phase) text(s string) string {
	if !strings.Contains(s, "{{") {
		return s
	}
	return inText.ReplaceAllStringFunc(s, func(m string) string {
		g := inText.FindStringSubmatch(m)
		if g[1] == "tpl" {
			if v, ok := p.params[g[2]]; ok {
				return v
			}
		} else if to, ok := p.next[g[3]]; ok && g[2] == "next" {
			return begin(to)
		}
		return m
	})
}

// begin is the state in which a phase begins; an ending is its own.
func begin(phase string) string {
	if phase == "" || strings.HasPrefix(phase, "ended_") || slices.Contains([]string{"terminated", "ended", "completed", "abandoned", "failed"}, phase) {
		return phase
	}
	return phase + "_executing"
}

// budgets counts how often arcs are taken, and leads to the phase's error beyond that.
func (l *loader) budgets(st *source.Node, p *phase) {
	on := st.Get("on").Copy()
	if on.IsNull() {
		on = &source.Node{Pos: p.pos, Kind: source.Map}
	}
	for _, c := range p.cycles {
		n, ok := c.Val.Scalar.Int()
		if !ok || n <= 0 {
			l.fail(c.Pos, "phases.graph[%q]: cycle_budgets[%q] must be > 0", p.id, c.Name)
			continue
		}
		at := c.Pos
		counter := "cycle__" + p.id + "__" + c.Name
		guard := "world." + counter + " < " + strconv.FormatInt(n, 10)
		count := mapNode(at, key("increment", mapNode(at, key(counter, scalarNode(at, value.Of(1))))))
		var arcs []*source.Node
		switch has := on.Get(c.Name); {
		case !has.IsNull():
			arcs = p.counted(has, guard, count)
		case p.next[c.Name] != "":
			arcs = []*source.Node{mapNode(at, key("target", textNode(at, begin(p.next[c.Name]))), key("when", textNode(at, guard)), key("effects", listNode(at, count)))}
		}
		arcs = append(arcs, mapNode(at, key("target", textNode(at, p.id+"_error")), key("default", scalarNode(at, value.Of(true))),
			key("guard_hint", textNode(at, "cycle budget exceeded for "+c.Name))))
		put(on, c.Name, listNode(at, arcs...), at)
	}
	put(st, "on", on, p.pos)
}

// counted are the arcs that are there, each with the guard and the count.
func (p *phase) counted(has *source.Node, guard string, count *source.Node) []*source.Node {
	list := has.List
	if has.Kind == source.Map {
		list = []*source.Node{has}
	}
	var arcs []*source.Node
	for _, a := range list {
		if d := a.Get("default"); d == nil || !d.Scalar.Bool() {
			a = a.Copy()
			when := guard
			if w := a.Get("when"); w.IsText() && strings.TrimSpace(w.Scalar.Str()) != "" {
				when = "(" + strings.TrimSpace(w.Scalar.Str()) + ") && (" + guard + ")"
			}
			put(a, "when", textNode(a.Pos, when), a.Pos)
			effects := []*source.Node{count}
			if e := a.Get("effects"); !e.IsNull() && e.Kind == source.Map {
				effects = append(effects, e)
			} else if e != nil {
				effects = append(effects, e.List...)
			}
			put(a, "effects", listNode(a.Pos, effects...), a.Pos)
		}
		arcs = append(arcs, a)
	}
	return arcs
}

package load

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// story puts a module together with all that it imports: what their words mean, what they
// declare, their states, and then what can only be said of the whole.
func (l *loader) story(m *module) *program.Story {
	l.collect(m)
	l.scopes(m)
	l.s = &program.Story{
		Dir: m.dir, Digest: hex.EncodeToString(l.sum.Sum(nil)), Scope: m.scope, States: map[string]*program.State{}, Intents: map[string]*program.Intent{},
		Agents: map[string]*program.Agent{}, Interfaces: map[string]*program.Interface{}, Exits: map[string]*program.Exit{},
	}
	l.declare(m)
	l.s.Hosts = m.hosts
	l.s.Tops = l.rooms(m, nil)
	l.begin(m.o)
	l.resolve()
	l.fallback()
	for _, h := range slices.Sorted(maps.Keys(l.allowed)) {
		if len(l.s.Hosts) > 0 && !slices.Contains(l.s.Hosts, h) {
			l.s.Hosts = append(l.s.Hosts, h)
		}
	}
	l.settled(m)
	for _, check := range l.checks {
		check()
	}
	l.checkOn()
	l.modes()
	for _, st := range l.s.States {
		l.chosen(l.s, st)
	}
	slices.SortFunc(l.s.World, func(a, b program.Var) int { return strings.Compare(a.Name, b.Name) })
	return l.s
}

// declare reads what a module and all below it declare.
func (l *loader) declare(m *module) {
	l.meta(m)
	l.world(m)
	for _, k := range m.o.entries("intents") {
		i := l.intent(m, k, "intent "+k.Name)
		i.Name = m.scope.Prefix + k.Name
		l.s.Intents[i.Name] = i
		if slices.Contains(m.lifted, k.Name) {
			l.s.Intents[m.parent.scope.Prefix+k.Name] = i
		}
	}
	l.interfaces(m)
	l.agents(m)
	l.settings(m)
	m.hosts = m.o.texts("hosts")
	for _, c := range m.children {
		l.declare(c)
		for _, x := range c.imp.exits {
			if c.exits[x.name] == nil {
				l.fail(x.pos, "imports.%s: exits.%s: child does not declare an exit named %q", c.imp.alias, x.name, x.name)
			}
		}
		for _, name := range c.lent {
			l.s.Intents[c.scope.Prefix+name] = l.s.Intents[m.scope.Intent(name)]
		}
		l.hosts(m, c)
	}
}

// hosts puts the handlers that a child may call to those of its parent.
func (l *loader) hosts(m, c *module) {
	for _, h := range c.hosts {
		switch {
		case slices.Contains(m.hosts, h):
		case c.imp.hosts == "declared":
			l.fail(c.imp.pos, "imports.%s: hosts: declared but parent does not list child host %q", c.imp.alias, h)
		default:
			m.hosts = append(m.hosts, h)
		}
	}
}

// rooms reads the states of a module below the state that stands for it, and behind them
// those of what it imports.
func (l *loader) rooms(m *module, wrapper *program.State) []*program.State {
	list := l.states(m, m.o.entries("states"), wrapper, l.s.States)
	for _, c := range m.children {
		if m.o.n.Get("states").Get(c.imp.alias) != nil {
			l.fail(c.imp.pos, "imports.%s: alias collides with existing parent state of the same name", c.imp.alias)
			continue
		}
		w := l.wrapper(c, wrapper)
		l.s.States[w.Path] = w
		w.Children = l.rooms(c, w)
		list = append(list, w)
	}
	return list
}

// settled says which keys nobody asked for.
func (l *loader) settled(m *module) {
	for _, name := range read {
		m.o.node(name)
	}
	m.o.done()
	for _, c := range m.children {
		l.settled(c)
	}
}

// read are the parts of a manifest that were read before all others.
var read = []string{"include", "imports", "phase_templates", "phases", "root", "exports"}

func (l *loader) meta(m *module) {
	a := l.object(m.o.node("app"), "app")
	at := a.n.Pos
	if at.File == "" { // there is none: the file itself
		at = program.Pos{File: l.shown(m.app), Line: 1, Column: 1}
	}
	s := l.s
	if m.parent != nil {
		s = &program.Story{}
	}
	s.ID, s.Version, s.Title, s.Author, s.Context = a.text("id"), a.text("version"), a.text("title"), a.text("author"), a.text("context")
	a.text("license")
	if p := a.text("context_path"); p != "" && s.Context != "" {
		l.fail(a.pos("context_path"), "app.context and app.context_path are mutually exclusive")
	}
	if s.ID == "" {
		l.fail(at, "app.id is required")
	}
	a.done()
}

func (l *loader) world(m *module) {
	for _, k := range m.o.entries("world") {
		if m.parent != nil && slices.Contains(reserved, k.Name) {
			continue
		}
		v := program.Var{Name: m.scope.Key(k.Name), Scope: m.scope, Pos: k.Pos}
		if isVar(k.Val) {
			w := l.object(k.Val, "world.%s", k.Name)
			v.Type, v.Default, v.Values = w.text("type"), w.node("default").Value(), w.texts("values")
			w.done()
		} else {
			v.Default = k.Val.Value()
			v.Type = inferred(v.Default)
		}
		l.s.World = append(l.s.World, v)
		l.keys[v.Name] = true
	}
}

// inferred is the type of a default without one.
func inferred(v value.Value) string {
	switch v.Kind() {
	case value.Nil:
		return "any"
	default:
		return v.Kind().String()
	}
}

func (l *loader) begin(o *object) {
	n := o.node("root")
	if n.IsNull() {
		l.fail(o.n.Pos, "root: the story does not say in which state it begins")
		return
	}
	if !n.IsText() {
		l.fail(n.Pos, "root: unsupported value type")
		return
	}
	l.s.Root = n.Scalar.Str()
	if l.s.States[l.s.Root] == nil {
		l.fail(n.Pos, "root: state %q is not declared in states", l.s.Root)
	}
}

package load

import (
	"regexp"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// states reads the states of a module below parent, in the author's order.
func (l *loader) states(m *module, entries []*source.Key, parent *program.State, into map[string]*program.State) []*program.State {
	var list []*program.State
	for _, k := range entries {
		s := l.state(m, k, parent, into)
		list = append(list, s)
	}
	return list
}

func (l *loader) state(m *module, k *source.Key, parent *program.State, into map[string]*program.State) *program.State {
	s := &program.State{Name: k.Name, Path: k.Name, Parent: parent, Scope: m.scope, Pos: k.Pos, Kind: program.Atomic}
	if parent != nil {
		s.Path = parent.Path + "." + k.Name
	}
	into[s.Path] = s
	here := strings.TrimPrefix(s.Path, m.scope.Path+".") // as the author of the file knows it
	o := l.object(k.Val, "state %s", here)
	p := place{m: m, what: o.what, state: s}
	s.Description, s.Terminal = wholeNames(m.scope, o.text("description")), o.bool("terminal")
	s.Mode = o.oneOf("mode", "conversational")
	s.Decider, s.WriteMode = o.oneOf("decider", "human", "llm"), o.oneOf("write_mode", "open", "read_only")
	s.DefaultIntent, s.RelevantSlots = m.scope.Intent(o.text("default_intent")), o.texts("relevant_slots")
	s.RelevantWorld, s.Menu = mapped(o.texts("relevant_world"), m.scope.Key), mapped(o.texts("menu"), m.scope.Intent)
	s.Footer = l.page(m, o, "footer")
	l.kind(m, o, s)
	s.Intents = map[string]*program.Intent{}
	for _, i := range o.entries("intents") {
		in := l.intent(m, i, p.what+", intent "+i.Name)
		in.Name = m.scope.Intent(i.Name)
		s.Intents[in.Name] = in
	}
	s.OnEnter = l.effects(p.in("%s, on_enter", p.what), o.node("on_enter"), false)
	l.arcs(p, o, s)
	s.View = l.view(m, o, "view", p.what)
	l.timeout(p, o, s)
	l.offRamp(m, o, s)
	l.contextual(m, o, s)
	if w := o.text("transcript"); w != "" && w != "persistent" && w != "transient" {
		l.fail(o.pos("transcript"), "%s: transcript is %q, and not persistent or transient", o.what, w)
	}
	o.node("theme")
	o.oneOf("intercept_drive", "rest")
	for _, name := range []string{"transcript", "theme"} {
		if parent != nil && !parent.Wrapper && o.has(name) {
			l.fail(o.pos(name), "%s: %s: only allowed on top-level (room) states", o.what, name)
		}
	}
	s.Children = l.states(m, o.entries("states"), s, into)
	o.done()
	l.checkState(p, o, s)
	return s
}

var worldName = regexp.MustCompile(`\bworld\.[A-Za-z_][A-Za-z0-9_]*`)

// wholeNames is a text with the keys of the world by their names in the whole story: a
// description is shown where nobody knows its file.
func wholeNames(scope *program.Scope, text string) string {
	return worldName.ReplaceAllStringFunc(text, func(name string) string {
		return "world." + scope.Key(strings.TrimPrefix(name, "world."))
	})
}

// kind reads how a state has children.
func (l *loader) kind(m *module, o *object, s *program.State) {
	kind := o.oneOf("type", "atomic", "compound", "parallel")
	if kind != "" {
		s.Kind = program.StateKind(kind)
	} else if n := o.n.Get("states"); n != nil && len(n.Keys) > 0 {
		s.Kind = program.Compound
	}
	name := o.text("initial")
	if name == "" {
		return
	}
	s.Initial = &program.Initial{Name: name, Pos: o.pos("initial")}
	if strings.Contains(name, "{{") || strings.Contains(name, "{%") {
		s.Initial.Template = l.page(m, o, "initial")
	}
	if s.Kind == program.Parallel {
		l.fail(o.pos("initial"), "%s: parallel must not declare initial:", o.what)
	}
}

// arcs reads on: intents and what follows on each.
func (l *loader) arcs(p place, o *object, s *program.State) {
	s.Aliases = map[string]string{}
	for _, k := range o.entries("on") {
		on := program.On{Intent: p.m.scope.Intent(k.Name), Bare: k.Name, Pos: k.Pos}
		p.m.aliases(k.Name, s.Aliases)
		items := []*source.Node{k.Val}
		if k.Val != nil && k.Val.Kind == source.List {
			items = k.Val.List
		}
		at := p.in("%s, on %s", p.what, k.Name)
		for _, it := range items {
			on.Arcs = append(on.Arcs, l.arc(at, it))
		}
		s.On = append(s.On, on)
	}
}

func (l *loader) arc(p place, n *source.Node) *program.Arc {
	o := l.object(n, "%s", p.what)
	a := &program.Arc{
		Target: l.target(p, o, "target"), When: l.guard(o, "when"), Default: o.bool("default"), Hint: o.text("guard_hint"),
		Emit: o.texts("emit"), History: o.bool("push_history"), Scope: p.m.scope, Pos: n.Pos,
	}
	own := l.effects(p, o.node("effects"), false)
	a.Effects = append(own, l.projections(p.m, a.Target.Exit)...)
	l.checkExit(p, a.Target, own)
	l.aimed(&a.Target, p, "transition target")
	a.View = l.view(p.m, o, "view", p.what)
	o.done()
	return a
}

func (l *loader) timeout(p place, o *object, s *program.State) {
	n := o.node("timeout")
	if n.IsNull() {
		return
	}
	to := l.object(n, "%s, timeout", p.what)
	after := to.text("after")
	t := &program.Timeout{Target: l.target(p, to, "target"), Pos: n.Pos}
	switch d, err := Duration(after); {
	case strings.Contains(after, "{{"):
	case after == "":
		l.fail(n.Pos, "%s: missing 'after'", to.what)
	case err != nil:
		l.fail(to.pos("after"), "%s: %s", to.what, problem(err))
	default:
		t.After = d
	}
	if t.Target.Raw == "" {
		l.fail(n.Pos, "%s: missing 'target'", to.what)
	}
	to.done()
	s.Timeout = t
	l.aimed(&t.Target, p, "timeout target")
}

func (l *loader) offRamp(m *module, o *object, s *program.State) {
	n := o.node("agent_off_ramp")
	switch {
	case n.IsNull():
	case n.Kind == source.Scalar && n.Scalar.Bool():
		s.OffRamp = &program.OffRamp{Pos: n.Pos}
	case n.Kind == source.Map:
		r := l.object(n, "%s, agent_off_ramp", o.what)
		s.OffRamp = &program.OffRamp{Agent: m.scope.Agent(r.text("agent")), Persona: r.text("persona"), Banner: r.text("banner"), Pos: n.Pos}
		r.done()
	default:
		l.fail(n.Pos, "%s: agent_off_ramp: must be `true` or an {agent, persona, banner} mapping", o.what)
	}
}

func (l *loader) contextual(m *module, o *object, s *program.State) {
	n := o.node("contextual_routing")
	if n.IsNull() {
		return
	}
	c := l.object(n, "%s, contextual_routing", o.what)
	s.Contextual = &program.Contextual{
		Enabled: c.bool("enabled"), HelpChat: c.text("help_chat"), RoomChat: m.scope.Intent(c.text("room_chat")), MetaChat: c.text("meta_chat"),
		PlanPath: c.text("pending_plan_path"), PlanAccept: m.scope.Intent(c.text("plan_accept_intent")), PlanRefine: m.scope.Intent(c.text("plan_refine_intent")), Pos: n.Pos,
	}
	c.done()
}

func mapped(list []string, to func(string) string) []string {
	for i, it := range list {
		list[i] = to(it)
	}
	return list
}

// projections are what an exit sets in whoever maps it, and where that is an exit again,
// in whoever maps that.
func (l *loader) projections(m *module, exit string) []*program.Effect {
	var list []*program.Effect
	for ; exit != "" && m.parent != nil; m = m.parent {
		out := m.imp.exit(exit)
		if out == nil {
			break
		}
		if len(out.keys) > 0 {
			e := &program.Effect{Kind: program.Set, Scope: m.parent.scope, Pos: out.pos}
			e.Set = l.assigned(m.parent, sprintf("imports.%s.exits.%s", m.imp.alias, exit), out.keys)
			list = append(list, e)
		}
		exit, _ = strings.CutPrefix(out.to, "@exit:")
		if exit == out.to {
			break
		}
	}
	return list
}

// checkExit says which keys an exit requires that the arc to it does not set: on the way
// out of all imports.
func (l *loader) checkExit(p place, t program.Target, effects []*program.Effect) {
	set := map[string]bool{}
	put := func(list []*program.Effect) {
		for _, e := range list {
			for _, a := range e.Set {
				set[a.Key] = true
			}
			for _, b := range e.Bind {
				set[b.Key] = true
			}
			for _, c := range e.Increment {
				set[c.Key] = true
			}
		}
	}
	put(effects)
	for m, exit := p.m, t.Exit; exit != "" && m.parent != nil; m = m.parent {
		x := m.exits[exit]
		if x != nil {
			var missing []string
			for _, key := range x.Requires {
				if !set[m.scope.Key(key)] && !m.provides(key) {
					missing = append(missing, key)
				}
			}
			if len(missing) > 0 {
				l.fail(t.Pos, "imports.%s: %s transitions to @exit:%s but does not set required key(s) %v (declared in child.exits.%s.requires)",
					m.imp.alias, p.what, exit, missing, exit)
			}
		}
		out := m.imp.exit(exit)
		if out == nil {
			return
		}
		for _, k := range out.keys {
			set[m.parent.scope.Key(k.Name)] = true
		}
		next, again := strings.CutPrefix(out.to, "@exit:")
		if !again {
			return
		}
		exit = next
	}
}

// provides reports a key that begins with something in it.
func (m *module) provides(key string) bool {
	def := m.defaultOf(key)
	if def.IsNull() || slices.Contains(reserved, key) {
		return false
	}
	if def.Kind == source.Scalar {
		return expr.Truthy(def.Scalar)
	}
	return len(def.List)+len(def.Keys) > 0
}

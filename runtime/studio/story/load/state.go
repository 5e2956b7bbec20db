package load

import (
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
	o := l.object(k.Val, "state %s", s.Path)
	p := place{m: m, what: o.what, state: s}
	s.Description, s.Terminal = o.text("description"), o.bool("terminal")
	s.Mode = o.oneOf("mode", "conversational")
	s.Decider, s.WriteMode = o.oneOf("decider", "human", "llm"), o.oneOf("write_mode", "open", "read_only")
	s.DefaultIntent, s.RelevantWorld, s.RelevantSlots, s.Menu = o.text("default_intent"), o.texts("relevant_world"), o.texts("relevant_slots"), o.texts("menu")
	s.Footer = l.page(m, o, "footer")
	l.kind(m, o, s)
	s.Intents = map[string]*program.Intent{}
	for _, i := range o.entries("intents") {
		s.Intents[i.Name] = l.intent(m, i, p.what+", intent "+i.Name)
	}
	s.OnEnter = l.effects(p.in("state %s, on_enter", s.Path), o.node("on_enter"), false)
	l.arcs(p, o, s)
	s.View = l.view(m, o, "view", p.what)
	l.timeout(p, o, s)
	l.offRamp(o, s)
	l.contextual(o, s)
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
	return s
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
	for _, k := range o.entries("on") {
		on := program.On{Intent: k.Name, Bare: k.Name, Pos: k.Pos}
		items := []*source.Node{k.Val}
		if k.Val != nil && k.Val.Kind == source.List {
			items = k.Val.List
		}
		at := p.in("state %s, on %s", s.Path, k.Name)
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
		Emit: o.texts("emit"), History: o.bool("push_history"), Pos: n.Pos,
	}
	a.Effects = l.effects(p, o.node("effects"), false)
	a.View = l.view(p.m, o, "view", p.what)
	o.done()
	return a
}

// target reads where an arc leads. It is resolved when all states are there.
func (l *loader) target(p place, o *object, name string) program.Target {
	raw := o.text(name)
	t := program.Target{Raw: raw, Pos: o.pos(name)}
	switch {
	case strings.Contains(raw, "{{"):
		if small, err := expr.Small(raw); err == nil {
			t.Small = small
		}
		page, err := p.m.pages.Page(raw)
		t.Template = page
		switch {
		case err != nil && (name != "target" || t.Small == nil || p.effect):
			t.Template = t.Small // effects have only the small ones
			if t.Small == nil {
				l.fail(t.Pos, "%s: %s: %s", o.what, name, problem(err))
			}
		case err != nil:
			l.fail(t.Pos, "%s: %s: %s", o.what, name, problem(err))
		}
	case strings.HasPrefix(raw, "@exit:"):
		t.Exit = strings.TrimPrefix(raw, "@exit:")
	}
	return t
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
	case after == "":
		l.fail(n.Pos, "%s: missing 'after'", to.what)
	case err != nil:
		l.fail(to.pos("after"), "%s: %s", to.what, err)
	default:
		t.After = d
	}
	if t.Target.Raw == "" {
		l.fail(n.Pos, "%s: missing 'target'", to.what)
	}
	to.done()
	s.Timeout = t
}

func (l *loader) offRamp(o *object, s *program.State) {
	n := o.node("agent_off_ramp")
	switch {
	case n.IsNull():
	case n.Kind == source.Scalar && n.Scalar.Bool():
		s.OffRamp = &program.OffRamp{Pos: n.Pos}
	case n.Kind == source.Map:
		r := l.object(n, "%s, agent_off_ramp", o.what)
		s.OffRamp = &program.OffRamp{Agent: r.text("agent"), Persona: r.text("persona"), Banner: r.text("banner"), Pos: n.Pos}
		r.done()
	default:
		l.fail(n.Pos, "%s: agent_off_ramp: must be `true` or an {agent, persona, banner} mapping", o.what)
	}
}

func (l *loader) contextual(o *object, s *program.State) {
	n := o.node("contextual_routing")
	if n.IsNull() {
		return
	}
	c := l.object(n, "%s, contextual_routing", o.what)
	s.Contextual = &program.Contextual{
		Enabled: c.bool("enabled"), HelpChat: c.text("help_chat"), RoomChat: c.text("room_chat"), MetaChat: c.text("meta_chat"),
		PlanPath: c.text("pending_plan_path"), PlanAccept: c.text("plan_accept_intent"), PlanRefine: c.text("plan_refine_intent"), Pos: n.Pos,
	}
	c.done()
}

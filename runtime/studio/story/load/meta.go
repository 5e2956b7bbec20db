package load

import (
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// builtinModes are side modes that every story has and may replace.
var builtinModes = []program.Meta{
	{Name: "story.edit", Group: "story", Trigger: "edit", Default: true, Agent: "story-author"},
	{Name: "story.ask", Group: "story", Trigger: "ask", Agent: "story-explainer"},
	{Name: "story.bug", Group: "story", Trigger: "bug", Agent: "story-bug-reporter"},
}

func (l *loader) metaModes(m *module) {
	for _, k := range m.o.entries("meta_modes") {
		if k.Val.IsNull() {
			l.fail(k.Pos, "meta_mode %q: empty definition", k.Name)
			continue
		}
		l.s.Meta = append(l.s.Meta, l.metaMode(m, k))
	}
}

func (l *loader) metaMode(m *module, k *source.Key) *program.Meta {
	o := l.object(k.Val, "meta_mode %q", k.Name)
	t := &program.Meta{
		Name: m.scope.Prefix + k.Name, Trigger: o.text("trigger"), Group: o.text("group"), Label: o.text("label"), Banner: o.text("banner"),
		Agent: m.scope.Agent(o.text("agent")), Cwd: o.text("cwd"), Tools: o.texts("tools"), Default: o.bool("default"), Persist: true, Pos: k.Pos,
	}
	if p := o.bool("persist"); o.has("persist") {
		t.Persist = p
	}
	if n := o.node("return"); !n.IsNull() {
		r := l.object(n, "%s, return", o.what)
		t.Message, t.Intent = r.text("message"), r.text("intent")
		r.done()
	}
	o.done()
	if t.Trigger == "" {
		l.fail(k.Pos, "%s: trigger is required", o.what)
	}
	if t.Agent == "" {
		l.fail(k.Pos, "%s: agent is required", o.what)
	}
	if group, verb, ok := strings.Cut(k.Name, "."); ok {
		switch {
		case t.Group == "":
			t.Group = group
		case t.Group != group:
			l.fail(o.pos("group"), "%s: group %q does not match key prefix %q", o.what, t.Group, group)
		}
		if t.Trigger != "" && t.Trigger != verb {
			l.fail(o.pos("trigger"), "%s: trigger %q does not match key suffix %q", o.what, t.Trigger, verb)
		}
	}
	l.environment(o, "cwd", t.Cwd)
	l.later(func() { l.agentKnown(t.Agent, o.pos("agent"), "meta_modes."+k.Name+".agent") })
	if t.Group == "" && m.parent == nil && m.o.n.Get("intents").Get(t.Trigger) != nil {
		l.fail(o.pos("trigger"), "%s: trigger %q collides with a declared intent of the same name", o.what, t.Trigger)
	}
	return t
}

// modes checks the groups of side modes.
func (l *loader) modes() {
	type group struct {
		pos      program.Pos
		triggers map[string]string
		modes    int
		defaults []string
	}
	groups := map[string]*group{}
	has := map[string]bool{}
	count := func(t *program.Meta, name string) {
		g := groups[name]
		if g == nil {
			g = &group{triggers: map[string]string{}, pos: t.Pos}
			groups[name] = g
		}
		g.modes++
		if t.Default {
			g.defaults = append(g.defaults, t.Name)
		}
		if prior, taken := g.triggers[t.Trigger]; taken && t.Trigger != "" {
			l.fail(t.Pos, "meta_mode %q: trigger %q already claimed by meta_mode %q in group %q", t.Name, t.Trigger, prior, name)
		}
		g.triggers[t.Trigger] = t.Name
	}
	for _, t := range l.s.Meta {
		has[t.Name] = true
		name := t.Group
		if prefix, _, ok := strings.Cut(t.Name, "."); ok && strings.Contains(prefix, "__") {
			name = prefix // of an import: its groups are its own
		}
		if name == "" {
			name = t.Name
		}
		count(t, name)
	}
	for _, t := range builtinModes {
		if g := groups[t.Group]; g != nil && !has[t.Name] {
			t.Pos = g.pos
			count(&t, t.Group)
		}
	}
	for name, g := range groups {
		switch n := len(g.defaults); {
		case g.modes < 2 || n == 1:
		case n == 0:
			l.fail(g.pos, "meta_mode group %q: no default verb declared (one of %d modes must set default: true)", name, g.modes)
		default:
			l.fail(g.pos, "meta_mode group %q: %d modes flagged default: true (%s), exactly one allowed", name, n, strings.Join(g.defaults, ", "))
		}
	}
}

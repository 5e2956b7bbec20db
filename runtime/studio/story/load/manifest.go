package load

import (
	"maps"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// settings reads what a manifest says of itself beside its states. What an imported story
// says holds for itself alone: it is read, so that nothing in it is unknown, and left.
func (l *loader) settings(m *module) {
	s := l.s
	if m.parent != nil {
		s = &program.Story{Exits: map[string]*program.Exit{}}
	}
	s.Plugins, s.Providers = l.plugins(m), l.providers(m)
	for _, k := range m.o.entries("exits") {
		o := l.object(k.Val, "exits.%s", k.Name)
		s.Exits[k.Name] = &program.Exit{Name: k.Name, Description: o.text("description"), Requires: o.texts("requires"), Pos: k.Pos}
		o.done()
	}
	m.exits = s.Exits
	if n := m.o.node("exports"); !n.IsNull() {
		o := l.object(n, "exports")
		s.Exported = o.texts("intents")
		o.done()
	}
	if n := m.o.node("prompts"); !n.IsNull() {
		o := l.object(n, "prompts")
		s.Prompts = program.Prompts{Shared: o.texts("shared"), Overlay: o.text("overlay")}
		o.done()
	}
	s.OffPath, s.Decider = l.offPath(m), l.decider(m)
	s.Routing = l.routing(m)
	l.metaModes(m)
	s.Proposals = l.proposals(m)
	for _, k := range m.o.entries("checkpoint_intents") {
		l.intent(m, k, "checkpoint_intent "+k.Name)
	}
}

func (l *loader) offPath(m *module) *program.OffPath {
	n := m.o.node("off_path")
	if n.IsNull() {
		return nil
	}
	o := l.object(n, "off_path")
	p := &program.OffPath{
		Trigger: o.text("trigger"), Banner: o.text("banner"), Return: o.text("return"), Persona: o.text("persona"), Agent: m.scope.Agent(o.text("agent")), Pos: n.Pos,
	}
	o.done()
	if m.parent == nil {
		l.later(func() { l.agentKnown(p.Agent, o.pos("agent"), "off_path.agent") })
	}
	return p
}

// agentKnown says that no agent has a name.
func (l *loader) agentKnown(name string, at program.Pos, site string) {
	if name == "" || l.s.Agents[name] != nil || slices.Contains(builtinAgents, name) {
		return
	}
	l.fail(at, "agent reference %q at %s is undefined (known agents: %s)", name, site, known(l.s.Agents))
}

func known[T any](all map[string]T) string {
	if len(all) == 0 {
		return "none"
	}
	names := slices.Sorted(maps.Keys(all))
	if len(names) > 40 {
		names = append(names[:40], "…")
	}
	return strings.Join(names, ", ")
}

func (l *loader) decider(m *module) *program.Decider {
	n := m.o.node("decider")
	if n.IsNull() {
		return nil
	}
	o := l.object(n, "decider")
	d := &program.Decider{Agent: m.scope.Agent(o.text("agent")), Schema: o.text("schema"), Prompt: o.text("prompt"), Threshold: o.float("threshold", 0), Pos: n.Pos}
	o.done()
	if m.parent != nil {
		return d
	}
	l.later(func() {
		if strings.TrimSpace(d.Agent) == "" {
			l.fail(n.Pos, "decider.agent is required")
		} else if l.s.Agents[d.Agent] == nil && len(l.s.Agents) > 0 {
			l.fail(o.pos("agent"), "decider.agent %q is not declared in agents", d.Agent)
		}
	})
	if strings.TrimSpace(d.Schema) == "" {
		l.fail(n.Pos, "decider.schema is required")
	}
	if d.Threshold < 0 || d.Threshold > 1 {
		l.fail(o.pos("threshold"), "decider.threshold %.2f out of range [0,1]", d.Threshold)
	}
	if d.Threshold == 0 {
		d.Threshold = .8
	}
	return d
}

func (l *loader) proposals(m *module) map[string]*program.Proposal {
	all := map[string]*program.Proposal{}
	for _, k := range m.o.entries("proposals") {
		o := l.object(k.Val, "proposal %q", k.Name)
		p := &program.Proposal{Name: m.scope.Prefix + k.Name, Schema: texts(o.entries("schema")), Views: texts(o.entries("views")), Pos: k.Pos}
		p.Draft, p.Refine = l.step(o, "draft"), l.step(o, "refine")
		if n := o.node("execute"); !n.IsNull() {
			l.execute(m, p, n, o.what+" execute")
		}
		if n := o.node("policy"); !n.IsNull() {
			c := l.object(n, "%s, policy", o.what)
			p.AutoAccept, p.RequireConfirm = c.text("auto_accept_if"), c.bool("require_confirm")
			c.done()
		}
		o.done()
		all[p.Name] = p
	}
	return all
}

func texts(keys []*source.Key) map[string]string {
	out := map[string]string{}
	for _, k := range keys {
		out[k.Name] = k.Val.Value().Text()
	}
	return out
}

func (l *loader) step(o *object, name string) string {
	n := o.node(name)
	if n.IsNull() {
		return ""
	}
	s := l.object(n, "%s, %s", o.what, name)
	defer s.done()
	return s.text("prompt")
}

// execute reads what a proposal does: an effect with words of its own beside it.
func (l *loader) execute(m *module, p *program.Proposal, n *source.Node, what string) {
	x := l.object(n, "%s", what)
	p.Repeatable, p.OnSuccess = x.bool("repeatable"), x.text("on_success")
	call := &source.Node{Pos: x.n.Pos, Kind: source.Map}
	for _, name := range []string{"invoke", "with", "background", "on_complete"} {
		x.node(name)
		if k := x.n.Key(name); k != nil {
			call.Keys = append(call.Keys, k)
		}
	}
	x.done()
	p.Execute = l.effect(place{m: m, what: what}, call, false)
}

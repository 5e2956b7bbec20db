package load

import (
	"maps"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
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

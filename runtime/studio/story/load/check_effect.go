package load

import (
	"path"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// checkEffect says what an effect must not put together. completing says that it stands in
// on_complete.
func (l *loader) checkEffect(p place, o *object, e *program.Effect, completing bool) {
	if e.Background && e.Invoke == "" {
		l.fail(o.pos("background"), "%s: background: true requires invoke:", p.what)
	}
	if e.Background && completing {
		l.fail(o.pos("background"), "%s: background: true is not allowed inside on_complete:", p.what)
	}
	if e.Once && len(e.Bind) == 0 {
		l.fail(o.pos("once"), "%s: once: true requires a non-empty bind:", p.what)
	}
	for _, a := range e.Set {
		if a.Bare == "write_mode_scope" {
			l.fail(a.Pos, `%s: set: "write_mode_scope" is engine-reserved: a story may not grant itself to write`, p.what)
		}
	}
	l.checkTarget(p, o, e, completing)
	if acts := actions(e); len(acts) > 1 {
		l.warn(o.n.Pos, "%s: an effect does one thing, and %s wins over %s", p.what, acts[0], strings.Join(acts[1:], ", "))
	}
	if e.EmitStatic != "" && p.state != nil {
		l.later(func() {
			if !reachable(p.state, e.EmitStatic) {
				l.fail(o.pos("emit_intent"), "%s: emit_intent %q is not declared on state %q's on: arcs (nor any ancestor's)", p.what, e.EmitStatic, here(p.state))
			}
		})
	}
	if e.Invoke == "" {
		l.misplaced(p, e)
		return
	}
	l.later(func() {
		if len(l.s.Hosts) > 0 && !slices.Contains(l.s.Hosts, e.Invoke) {
			p.said(l)(o.pos("invoke"), "%s: effect invoke %q is not declared in app hosts", p.what, e.RawInvoke)
		}
	})
	l.checkAgent(p, o, e)
	if e.Invoke == "host.starlark.run" {
		l.checkScript(p, o, e)
	}
}

// said is how findings of a place are said: what no turn applies harms none.
func (p place) said(l *loader) func(at program.Pos, format string, args ...any) {
	if p.unread {
		return l.warn
	}
	return l.fail
}

func (l *loader) checkTarget(p place, o *object, e *program.Effect, completing bool) {
	if e.Target == nil {
		return
	}
	if !completing {
		l.fail(o.pos("target"), "%s: target: is only allowed inside on_complete:", p.what)
	}
	if e.EmitIntent != nil {
		l.fail(o.pos("emit_intent"), "%s: emit_intent: cannot be combined with target:", p.what)
	}
	mixed := actions(e)
	if len(e.Bind) > 0 {
		mixed = append(mixed, "bind")
	}
	if len(mixed) > 0 {
		l.fail(o.pos("target"), "%s: target: cannot be combined with %s on the same effect", p.what, strings.Join(mixed, "/"))
	}
}

// actions are the things that an effect would do, the one that it does first.
func actions(e *program.Effect) []string {
	var list []string
	for _, a := range []struct {
		kind program.EffectKind
		has  bool
	}{{program.Set, len(e.Set) > 0}, {program.Increment, len(e.Increment) > 0}, {program.Say, e.Say != nil}, {program.Invoke, e.Invoke != ""}} {
		if a.has {
			list = append(list, string(a.kind))
		}
	}
	return list
}

// reachable reports an intent that a state takes, or one that it is in, under any of the
// names that it has there.
func reachable(s *program.State, name string) bool {
	for up := s; up != nil; up = up.Parent {
		if takes(up, name) || up.Aliases[name] != "" {
			return true
		}
	}
	return false
}

// misplaced says which arguments only calls of agents have.
func (l *loader) misplaced(p place, e *program.Effect) {
	name := literal(e.With, "agent")
	if name == "" {
		return
	}
	l.later(func() {
		if l.s.Agents[name] == nil {
			p.said(l)(e.With.Map["agent"].Pos, "%s: with.agent %q is not declared in agents", p.what, name)
		}
	})
}

// checkAgent checks a call of an agent, and that no other call looks like one.
func (l *loader) checkAgent(p place, o *object, e *program.Effect) {
	verb, calls := strings.CutPrefix(e.Invoke, "host.agent.")
	name, provider := literal(e.With, "agent"), literal(e.With, "provider")
	if !calls {
		for _, arg := range []string{"agent", "provider"} {
			if literal(e.With, arg) != "" {
				p.said(l)(e.With.Map[arg].Pos, "%s: with.%s is only meaningful on host.agent.* invocations (got invoke %q)", p.what, arg, e.RawInvoke)
			}
		}
		return
	}
	if name != "" {
		l.uses = append(l.uses, use{name, verb, e.Pos})
	}
	if verb == "task" && strings.TrimSpace(literalOf(e.With, "acceptance", "schema")) == "" {
		p.said(l)(o.pos("invoke"), "%s: host.agent.task requires acceptance.schema to be set in the with: block", p.what)
	}
	if verb == "decide" || verb == "extract" {
		if cmd := strings.Fields(literalOf(e.With, "validator", "post_cmd")); len(cmd) > 0 && !slices.Contains(onlyRead, path.Base(cmd[0])) {
			l.warn(e.With.Map["validator"].Pos, "%s: validator.post_cmd runs %q, which is not known to only read", p.what, cmd[0])
		}
	}
	l.later(func() {
		if provider != "" && l.s.Providers[provider] == nil {
			p.said(l)(e.With.Map["provider"].Pos, "provider reference %q at %s with.provider is undefined (known providers: %s)", provider, p.what, known(l.s.Providers))
		}
		a := l.s.Agents[name]
		switch {
		case name == "":
		case a == nil:
			p.said(l)(e.With.Map["agent"].Pos, "%s: with.agent %q is not declared in agents", p.what, name)
		default:
			l.checkTools(p, e, a, verb)
		}
		if e.Agent != "" && l.s.Plugins[e.Agent] == nil && e.Agent != "agent.claude" {
			l.warn(o.pos("agent"), "%s: agent %q is not declared in agent_plugins", p.what, e.Agent)
		}
		l.checkGrammar(p, e, verb)
	})
}

// onlyRead are programs that change nothing.
var onlyRead = []string{
	"cat", "grep", "rg", "ripgrep", "git", "jq", "yq", "find", "ls", "head", "tail", "wc", "diff", "awk", "sed", "sort", "echo", "true", "false", "stat",
	"file", "which", "type",
}

func (l *loader) checkTools(p place, e *program.Effect, a *program.Agent, verb string) {
	for _, t := range a.Tools {
		switch {
		case slices.Contains([]string{"host.Edit", "host.Write", "host.NotebookEdit"}, t) && slices.Contains([]string{"ask", "decide", "extract"}, verb):
			p.said(l)(e.Pos, "%s: agent %q declares mutation tool %q — not permitted for host.agent.%s (read-only verb)", p.what, a.Bare, t, verb)
		case (t == "host.WebFetch" || t == "host.WebSearch") && verb == "task" && !a.External:
			p.said(l)(e.Pos, "%s: agent %q declares external_side_effect: false but has %q in tools — these declarations contradict each other", p.what, a.Bare, t)
		}
	}
}

// literalOf is a text among arguments, also one that is a template.
func literalOf(t *program.Tree, names ...string) string {
	for _, name := range names {
		if t == nil {
			return ""
		}
		t = t.Map[name]
	}
	switch {
	case t == nil:
		return ""
	case t.Template != nil:
		return t.Template.Source()
	}
	return t.Literal.Str()
}

// assetOf is where a file lies that arguments name.
func (p place) assetOf(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(p.m.dir, name)
}

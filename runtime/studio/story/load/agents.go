package load

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// MaxPrompt is how long a prompt may be, in bytes.
const MaxPrompt = 1 << 20

// builtinAgents are those that every story has for its side modes.
var builtinAgents = []string{"default-agent", "story-author", "story-bug-reporter", "story-explainer"}

var efforts = []string{"low", "medium", "high", "xhigh", "max"}

func (l *loader) agents(m *module) {
	for _, k := range m.o.entries("agents") {
		if k.Val.IsNull() {
			l.fail(k.Pos, "agent %q: empty definition", k.Name)
			continue
		}
		l.s.Agents[m.scope.Prefix+k.Name] = l.agent(m, k)
	}
}

func (l *loader) agent(m *module, k *source.Key) *program.Agent {
	o := l.object(k.Val, "agent %q", k.Name)
	a := &program.Agent{
		Name: m.scope.Prefix + k.Name, Bare: k.Name, Prompt: o.text("system_prompt"), PromptPath: o.text("system_prompt_path"), Model: o.text("model"),
		Cwd: o.text("cwd"), Effort: o.oneOf("effort", efforts...), Provider: o.text("provider"), Tools: mapped(o.texts("tools"), tool),
		Inherit: o.bool("inherit_claude_default"), Scope: m.scope, Pos: k.Pos,
	}
	a.External = slices.Contains(a.Tools, "host.WebFetch") || slices.Contains(a.Tools, "host.WebSearch")
	if o.has("external_side_effect") {
		said := o.bool("external_side_effect")
		if said != a.External {
			l.warn(o.pos("external_side_effect"), "%s: external_side_effect is %t, and its tools say %t", o.what, said, a.External)
		}
		a.External = said
	}
	a.Bash = l.bash(o)
	l.environment(o, "cwd", a.Cwd)
	l.systemPrompt(m, o, a)
	o.done()
	l.later(func() { l.agentUse(o, a) })
	return a
}

// tool is a tool's whole name.
func tool(name string) string {
	if name == "" || strings.HasPrefix(name, "host.") {
		return name
	}
	return "host." + name
}

func (l *loader) systemPrompt(m *module, o *object, a *program.Agent) {
	switch {
	case a.Prompt != "" && a.PromptPath != "":
		l.fail(o.pos("system_prompt_path"), "%s: system_prompt and system_prompt_path are mutually exclusive", o.what)
	case a.Prompt == "" && a.PromptPath == "":
		l.fail(a.Pos, "%s: one of system_prompt or system_prompt_path is required", o.what)
	case a.PromptPath != "":
		at := o.pos("system_prompt_path")
		dir := m.dir
		if at.File != "" && !path.IsAbs(at.File) { // seen from the file that has it, which may be an included one
			dir = path.Dir(path.Join(l.base, at.File))
		}
		if !path.IsAbs(a.PromptPath) {
			a.PromptPath = path.Join(dir, a.PromptPath)
		}
		raw := l.read(a.PromptPath, at)
		if len(raw) > MaxPrompt {
			l.refuse(CodeMany, at, "%s: the prompt has %d bytes, the bound is %d", o.what, len(raw), MaxPrompt)
			raw = nil
		}
		a.Prompt = string(raw)
	}
}

func (l *loader) bash(o *object) *program.Bash {
	n := o.node("bash_profile")
	switch {
	case n.IsNull():
		return nil
	case n.IsText() && n.Scalar.Str() == "read-only":
		return &program.Bash{ReadOnly: true}
	case n.Get("commands") != nil:
		b := l.object(n, "%s, bash_profile", o.what)
		defer b.done()
		return &program.Bash{Commands: b.texts("commands")}
	case n.Get("sandboxed_write") != nil:
		b := l.object(n, "%s, bash_profile", o.what)
		defer b.done()
		return &program.Bash{Folder: b.text("sandboxed_write")}
	}
	l.fail(n.Pos, `%s: bash_profile is %s, and neither "read-only" nor {commands: […]} nor {sandboxed_write: folder}`, o.what, n.What())
	return nil
}

// agentUse says what an agent must have for what calls it.
func (l *loader) agentUse(o *object, a *program.Agent) {
	if a.Provider != "" && !strings.Contains(a.Provider, "{{") && l.s.Providers[a.Provider] == nil {
		l.fail(o.pos("provider"), "provider reference %q at agents.%s.provider is undefined (known providers: %s)", a.Provider, a.Bare, known(l.s.Providers))
	}
	if a.Bash != nil || !slices.Contains(a.Tools, "host.Bash") {
		return
	}
	for _, u := range l.uses {
		if u.agent != a.Name || u.verb != "ask" && u.verb != "decide" {
			continue
		}
		say := l.warn // where a call stands in another file, stories run without
		if u.pos.File == a.Pos.File {
			say = l.fail
		}
		say(a.Pos, "agent %q declares Bash but no bash_profile; required when the agent is referenced by host.agent.ask or host.agent.decide", a.Bare)
		return
	}
}

// A use is a call of an agent.
type use struct {
	agent, verb string
	pos         program.Pos
}

var variable = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?`)

// environment says which variables of the environment a text names that are not set.
func (l *loader) environment(o *object, name, text string) {
	if l.env == nil {
		return
	}
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		if _, ok := l.env(m[1]); !ok {
			l.fail(o.pos(name), "%s: %s %q references unset env var %s", o.what, name, text, m[1])
		}
	}
}

var braced = regexp.MustCompile(`\$\{([^}]*)\}`)

// variables reads a mapping of texts, and says which of them name variables that are not
// set.
func (l *loader) variables(o *object, name string) map[string]string {
	out := map[string]string{}
	for _, k := range o.entries(name) {
		out[k.Name] = k.Val.Value().Text()
		for _, m := range braced.FindAllStringSubmatch(out[k.Name], -1) {
			if l.env == nil {
				continue
			}
			if _, ok := l.env(m[1]); !ok {
				l.fail(k.Pos, "%s: env var %s referenced in %s.%s not set", o.what, m[1], name, k.Name)
			}
		}
	}
	return out
}

var plugins = []string{"builtin.claude_cli", "builtin.inprocess", "subprocess", "mcp_http", "builtin.local_llm"}

func (l *loader) plugins(m *module) map[string]*program.Plugin {
	all := map[string]*program.Plugin{}
	for _, k := range m.o.entries("agent_plugins") {
		o := l.object(k.Val, "agent_plugins.%s", k.Name)
		p := &program.Plugin{
			Name: k.Name, Kind: o.text("plugin"), Command: o.text("command"), Endpoint: o.text("endpoint"), Tool: o.text("tool"), Model: o.text("model"),
			ServerBin: o.text("server_bin"), Args: o.texts("args"), Grammar: o.bool("grammar"), Port: o.int("port"), Pos: k.Pos,
			Env: l.variables(o, "env"), Headers: l.variables(o, "headers"),
		}
		o.done()
		all[k.Name] = p
		switch {
		case k.Val.IsNull():
			l.fail(k.Pos, "%s: empty declaration", o.what)
		case !strings.HasPrefix(k.Name, "agent."):
			l.fail(k.Pos, "agent_plugins: key %q must start with 'agent.' prefix", k.Name)
		case p.Kind == "":
			l.fail(k.Pos, "%s: plugin: is required", o.what)
		case !slices.Contains(plugins, p.Kind):
			l.fail(o.pos("plugin"), "%s: unknown plugin %q (supported: %s)", o.what, p.Kind, strings.Join(plugins, ", "))
		case p.Kind == "subprocess" && strings.TrimSpace(p.Command) == "":
			l.fail(k.Pos, "%s: subprocess plugin requires command:", o.what)
		case p.Kind == "mcp_http" && strings.TrimSpace(p.Endpoint) == "":
			l.fail(k.Pos, "%s: mcp_http plugin requires endpoint:", o.what)
		case p.Kind == "builtin.local_llm" && strings.TrimSpace(p.Model+p.Endpoint) == "":
			l.fail(k.Pos, "%s: builtin.local_llm plugin requires model: or endpoint:", o.what)
		}
	}
	return all
}

func (l *loader) providers(m *module) map[string]*program.Provider {
	all := map[string]*program.Provider{}
	for _, k := range m.o.entries("providers") {
		o := l.object(k.Val, "providers.%s", k.Name)
		p := &program.Provider{Name: k.Name, Model: o.text("model"), Effort: o.oneOf("effort", efforts...), Env: l.variables(o, "env"), Pos: k.Pos}
		o.done()
		all[k.Name] = p
		if strings.TrimSpace(p.Model+p.Effort) == "" && len(p.Env) == 0 {
			l.fail(k.Pos, "%s: a provider must set model:, effort:, and/or env: (an empty provider has no effect)", o.what)
		}
	}
	return all
}

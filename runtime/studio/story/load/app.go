package load

import (
	"path"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// story puts a module together: its own parts, then what it imports, then what can only be
// said of the whole.
func (l *loader) story(m *module) *program.Story {
	o := l.object(m.tree, "the story")
	s := &program.Story{
		Dir: m.dir, Scope: &program.Scope{Dir: m.dir}, States: map[string]*program.State{}, Intents: map[string]*program.Intent{},
		Agents: map[string]*program.Agent{}, Interfaces: map[string]*program.Interface{}, Exits: map[string]*program.Exit{},
	}
	m.scope = s.Scope
	l.meta(o, s)
	l.world(m, o, s)
	for _, k := range o.entries("intents") {
		s.Intents[k.Name] = l.intent(m, k, "intent "+k.Name)
	}
	s.Hosts = o.texts("hosts")
	s.Tops = l.states(m, o.entries("states"), nil, s.States)
	l.begin(o, s)
	for _, name := range unread {
		o.node(name)
	}
	o.done()
	for _, st := range s.States {
		l.resolve(s, st)
		l.chosen(s, st)
	}
	return s
}

// unread are the parts of a manifest that the program does not use yet.
var unread = []string{
	"include", "off_path", "meta_modes", "decider", "agents", "agent_plugins", "providers", "imports", "exits", "exports", "host_interfaces", "prompts",
	"proposals", "phase_templates", "phases", "checkpoint_intents", "routing",
}

func (l *loader) meta(o *object, s *program.Story) {
	a := l.object(o.node("app"), "app")
	s.ID, s.Version, s.Title, s.Author, s.Context = a.text("id"), a.text("version"), a.text("title"), a.text("author"), a.text("context")
	a.text("license")
	if p := a.text("context_path"); p != "" && s.Context != "" {
		l.fail(a.pos("context_path"), "app.context and app.context_path are mutually exclusive")
	}
	if s.ID == "" {
		l.fail(a.n.Pos, "app.id is required")
	}
	a.done()
}

func (l *loader) world(m *module, o *object, s *program.Story) {
	for _, k := range o.entries("world") {
		v := program.Var{Name: m.scope.Key(k.Name), Scope: m.scope, Pos: k.Pos}
		if n := k.Val; n != nil && n.Kind == source.Map && n.Get("type") != nil {
			w := l.object(n, "world.%s", k.Name)
			v.Type, v.Default, v.Values = w.text("type"), w.node("default").Value(), w.texts("values")
			w.done()
		} else {
			v.Default = k.Val.Value()
			v.Type = inferred(v.Default)
		}
		s.World = append(s.World, v)
	}
	slices.SortFunc(s.World, func(a, b program.Var) int { return strings.Compare(a.Name, b.Name) })
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

func (l *loader) begin(o *object, s *program.Story) {
	n := o.node("root")
	if n.IsNull() {
		l.fail(o.n.Pos, "root: the story does not say in which state it begins")
		return
	}
	if !n.IsText() {
		l.fail(n.Pos, "root: unsupported value type")
		return
	}
	s.Root = n.Scalar.Str()
	if s.States[s.Root] == nil {
		l.fail(n.Pos, "root: state %q is not declared in states", s.Root)
	}
}

// resolve finds the states that a state's targets name.
func (l *loader) resolve(s *program.Story, st *program.State) {
	for i := range st.On {
		for _, a := range st.On[i].Arcs {
			l.aim(s, st, &a.Target, "transition target")
		}
	}
	if st.Timeout != nil {
		l.aim(s, st, &st.Timeout.Target, "timeout target")
	}
}

func (l *loader) aim(s *program.Story, from *program.State, t *program.Target, what string) {
	if t.Raw == "" || t.Raw == "." || t.Template != nil || t.Exit != "" {
		return
	}
	t.Path = absolute(from.Path, t.Raw)
	t.Self = t.Path == from.Path
	if s.States[t.Path] == nil {
		l.fail(t.Pos, "state %s: %s %q (resolved: %q) does not exist", from.Path, what, t.Raw, t.Path)
	}
}

// absolute is a target seen from the state that owns the arc: ../x is x beside it.
func absolute(owner, raw string) string {
	if strings.HasPrefix(raw, "../") || raw == ".." {
		raw = path.Join(strings.ReplaceAll(owner, ".", "/"), raw)
	}
	return strings.ReplaceAll(raw, "/", ".")
}

package load

import (
	"maps"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// reserved are the keys of the world that the engine writes: no import renames them.
var reserved = []string{"last_error", "host_error", "write_mode_scope", "session_id"}

// names are what a module declares with all that it imports, in its own words: its own
// key x, and bf__x of what it calls bf.
type names struct{ keys, intents, agents, ifaces map[string]program.Pos }

// collect gathers the names of a module and of all below it.
func (l *loader) collect(m *module) {
	m.names = names{keys: map[string]program.Pos{}, intents: map[string]program.Pos{}, agents: map[string]program.Pos{}, ifaces: map[string]program.Pos{}}
	for _, b := range m.blocks() {
		for _, k := range m.o.entries(b.name) {
			if b.name == "world" && m.parent != nil && slices.Contains(reserved, k.Name) {
				continue
			}
			b.into[k.Name] = k.Pos
		}
	}
	for _, c := range m.children {
		l.collect(c)
		for i, b := range m.blocks() {
			for name := range c.blocks()[i].into {
				full := c.imp.alias + "__" + name
				if _, has := b.into[full]; has {
					l.fail(c.imp.pos, "imports.%s: %s %q collides", c.imp.alias, b.what, full)
				}
				b.into[full] = c.imp.pos
			}
		}
		l.lend(m, c)
	}
}

type block struct {
	name, what string
	into       map[string]program.Pos
}

func (m *module) blocks() []block {
	return []block{
		{"world", "world key", m.names.keys},
		{"intents", "intent", m.names.intents},
		{"agents", "agent", m.names.agents},
		{"host_interfaces", "host_interface", m.names.ifaces},
	}
}

// lend makes intents of the parent known in the child, and of the child in the parent.
func (l *loader) lend(m, c *module) {
	alias := c.imp.alias
	for _, n := range c.imp.exports {
		name := n.Scalar.Text()
		if _, ok := m.names.intents[name]; !ok {
			l.fail(n.Pos, "imports.%s: intents.export references undefined parent intent %q", alias, name)
			continue
		}
		m.names.intents[alias+"__"+name] = n.Pos
		c.lent = append(c.lent, name)
	}
	exported := l.object(c.tree.Get("exports"), "exports").texts("intents")
	for _, n := range c.imp.lifts {
		name := n.Scalar.Text()
		switch _, has := c.names.intents[name]; {
		case !slices.Contains(exported, name):
			l.fail(n.Pos, "imports.%s: intents.import.%s: child does not declare it in exports.intents", alias, name)
		case !has:
			l.fail(n.Pos, "imports.%s: intents.import.%s: child does not define this intent", alias, name)
		case m.o.n.Get("intents").Get(name) != nil:
			l.fail(n.Pos, "imports.%s: intents.import.%s: collides with parent intent of same name", alias, name)
		default:
			m.names.intents[name] = n.Pos
			c.lifted = append(c.lifted, name)
		}
	}
}

// scopes says what the words of a module and of all below it mean in the whole.
func (l *loader) scopes(m *module) {
	s := &program.Scope{Dir: m.dir, App: m.app, Keys: map[string]string{}, Intents: map[string]string{}, Agents: map[string]string{}}
	if m.parent != nil {
		up := m.parent.scope
		s.Parent, s.Alias, s.Prefix, s.Path, s.Depth = up, m.imp.alias, up.Prefix+m.imp.alias+"__", under(up.Path, m.imp.alias), up.Depth+1
		maps.Copy(s.Keys, up.Keys)
		maps.Copy(s.Intents, up.Intents)
		maps.Copy(s.Agents, up.Agents)
		for _, name := range m.lent {
			s.Intents[name] = s.Prefix + name
		}
		for into, from := range map[*map[string]string]map[string]program.Pos{&s.Keys: m.names.keys, &s.Intents: m.names.intents, &s.Agents: m.names.agents} {
			for name := range from {
				(*into)[name] = s.Prefix + name
			}
		}
	}
	m.scope = s
	for _, c := range m.children {
		l.scopes(c)
	}
}

func under(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

// renames reports an intent that gets the module's alias where the module is imported.
func (m *module) renames(intent string) bool {
	_, ok := m.names.intents[intent]
	return ok || slices.Contains(m.lent, intent)
}

// aliases are the names by which an intent of an imported state is known on the way up:
// all but the last, which is the folded one.
func (m *module) aliases(bare string, into map[string]string) {
	var spelled []string
	name := bare
	for x := m; x.parent != nil; x = x.parent {
		if name != "*" && x.renames(name) {
			spelled = append(spelled, name)
			name = x.imp.alias + "__" + name
		}
	}
	for _, s := range spelled {
		into[s] = name
	}
}

// wrapper is the state that stands for an import.
func (l *loader) wrapper(c *module, parent *program.State) *program.State {
	imp, up := c.imp, c.parent
	entry := imp.entry
	if entry == "" {
		if n := c.tree.Get("root"); n.IsText() {
			entry = n.Scalar.Str()
		}
	}
	if entry == "" {
		l.fail(imp.pos, "imports.%s: entry is required (child declares no root either)", imp.alias)
	}
	w := &program.State{
		Path: c.scope.Path, Name: imp.alias, Parent: parent, Kind: program.Compound, Wrapper: true, Scope: up.scope, Pos: imp.pos,
		Initial: &program.Initial{Name: entry, Pos: imp.entryPos}, Intents: map[string]*program.Intent{},
	}
	if strings.Contains(entry, "{{") {
		w.Initial.Template, _ = up.pages.Page(entry)
	}
	given := map[string]*source.Key{}
	for _, k := range imp.worldIn {
		given[k.Name] = k
		if _, ok := c.names.keys[k.Name]; !ok {
			l.fail(k.Pos, "imports.%s: world_in.%s: child does not declare world key %q", imp.alias, k.Name, k.Name)
		}
	}
	what := sprintf("imports.%s", imp.alias)
	set := func(name string, n *source.Node, at program.Pos) {
		full := c.scope.Prefix + name
		w.OnEnter = append(w.OnEnter, &program.Effect{
			Kind: program.Set, Scope: up.scope, Pos: at,
			Set: []program.Assign{{Key: full, Bare: imp.alias + "__" + name, Value: l.valueTree(n, what+": "+name), Pos: at}},
		})
	}
	for _, name := range slices.Sorted(maps.Keys(c.names.keys)) {
		if def := c.defaultOf(name); given[name] == nil && !def.IsNull() {
			set(name, def, imp.pos)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		set(name, given[name].Val, given[name].Pos)
	}
	return w
}

// defaultOf is the default of a key, in the words of a module.
func (m *module) defaultOf(name string) *source.Node {
	if n := m.tree.Get("world").Get(name); n != nil {
		if isVar(n) {
			return n.Get("default")
		}
		return n
	}
	for _, c := range m.children {
		if rest, ok := strings.CutPrefix(name, c.imp.alias+"__"); ok {
			if _, has := c.names.keys[rest]; has {
				return c.defaultOf(rest)
			}
		}
	}
	return nil
}

// isVar reports a declaration of a key, and not a default that stands for one.
func isVar(n *source.Node) bool {
	return n != nil && n.Kind == source.Map && (n.Get("type") != nil || n.Get("default") != nil || n.Get("values") != nil)
}

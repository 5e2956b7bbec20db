package load

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// An aim is a target that is resolved when all states are there.
type aim struct {
	target *program.Target
	place  place
	kind   string // for findings: "transition target"
}

// target reads where something leads.
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

// aimed notes a target for later.
func (l *loader) aimed(t *program.Target, p place, kind string) {
	if t.Raw == "" || t.Raw == "." || t.Template != nil || p.state == nil {
		return
	}
	l.aims = append(l.aims, aim{t, p, kind})
}

// resolve finds the states that targets name. An effect that fails leads there as seen
// from where the story then stands, so that "../x" of an on_error stays as it is.
func (l *loader) resolve() {
	for _, a := range l.aims {
		t, from := a.target, a.place.state
		base, raw := a.place.m, t.Raw
		if t.Exit != "" {
			base, raw = l.way(a)
			if base == nil {
				continue
			}
		}
		l.escapes(a, raw, base)
		path := absolute(from, base.scope, raw)
		switch found := l.s.States[path] != nil; {
		case a.kind == "on_error" && !found:
			l.warn(t.Pos, "%s: on_error %q (resolved: %q) does not exist", a.place.what, t.Raw, path)
		case a.kind == "on_error" && strings.HasPrefix(raw, ".."):
		case !found:
			l.fail(t.Pos, "%s: %s %q (resolved: %q) does not exist", a.place.what, a.kind, t.Raw, path)
			t.Path = path
		default:
			t.Path = path
		}
		t.Self = path == from.Path
		l.reaches(a, raw, base)
	}
}

// way is where an exit leads: a target in the words of whoever maps it.
func (l *loader) way(a aim) (*module, string) {
	m, name := a.place.m, a.target.Exit
	for m.parent != nil {
		out := m.imp.exit(name)
		if out == nil || out.to == "" {
			l.fail(a.target.Pos, "imports.%s: child uses @exit:%s but parent does not map it", m.imp.alias, name)
			return nil, ""
		}
		m, a.target.Raw = m.parent, out.to
		next, again := strings.CutPrefix(out.to, "@exit:")
		if !again {
			return m, out.to
		}
		name = next
	}
	declared := m.tree.Get("exits")
	switch {
	case a.kind == "on_error" || a.kind == "on_complete target" || len(m.o.entries("exits")) == 0:
	case declared.Get(name) == nil:
		l.fail(a.target.Pos, "@exit:%s referenced but not declared in exits:", name)
		return nil, ""
	default:
		l.leave(m, name)
		a.target.Raw = exitState + name
		return m, a.target.Raw
	}
	return m, "@exit:" + name
}

// exitState begins the names of states that stand for the exits of a story that nobody
// imports.
const exitState = "__exit__"

func (l *loader) leave(m *module, name string) {
	path := exitState + name
	if l.s.States[path] == nil {
		st := &program.State{
			Path: path, Name: path, Kind: program.Atomic, Terminal: true, Description: "Exit: " + name, Scope: m.scope,
			Intents: map[string]*program.Intent{}, Pos: m.tree.Get("exits").Key(name).Pos,
		}
		l.s.States[path] = st
		l.s.Tops = append(l.s.Tops, st)
	}
}

// absolute is a target as the whole story has it: a name is seen from the file that it
// stands in, ../x is beside the state that owns it.
func absolute(owner *program.State, scope *program.Scope, raw string) string {
	if !strings.HasPrefix(raw, "..") {
		return under(scope.Path, strings.ReplaceAll(raw, "/", "."))
	}
	return owner.Beside(raw)
}

// escapes says where ../ leads out of an import.
func (l *loader) escapes(a aim, raw string, m *module) {
	if m.parent == nil || m != a.place.m || !strings.HasPrefix(raw, "..") {
		return
	}
	depth := strings.Count(strings.TrimPrefix(a.place.state.Path, m.scope.Path+"."), ".")
	ups := 0
	for _, seg := range strings.Split(raw, "/") {
		if seg != ".." {
			break
		}
		ups++
	}
	if ups > depth+1 {
		l.fail(a.target.Pos, "imports.%s: target %q walks above the child's namespace (depth %d, %d `..` segments); cross-boundary parent targets are forbidden", m.imp.alias, raw, depth, ups)
	}
}

// reaches says where a parent leads into an import past its entry.
func (l *loader) reaches(a aim, raw string, m *module) {
	if m != a.place.m || strings.HasPrefix(raw, "..") {
		return
	}
	head, rest, deep := strings.Cut(strings.ReplaceAll(raw, "/", "."), ".")
	if !deep {
		return
	}
	i := slices.IndexFunc(m.children, func(c *module) bool { return c.imp.alias == head })
	if i < 0 {
		return
	}
	if w := l.s.States[m.children[i].scope.Path]; w != nil && w.Initial != nil && w.Initial.Name != rest {
		l.fail(a.target.Pos, "%s: %s %q reaches into the import %q past its entry %q", a.place.what, a.kind, raw, head, w.Initial.Name)
	}
}

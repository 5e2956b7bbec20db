package load

import (
	"path"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A place is where a part of a story is being read: whose words hold there.
type place struct {
	m      *module
	what   string // for findings: "state foyer, on go"
	state  *program.State
	effect bool // within an effect: templates are small ones
	unread bool // no turn applies it: within effects of an effect, or of a proposal
}

func (p place) in(format string, args ...any) place {
	p.what = sprintf(format, args...)
	return p
}

// guard compiles a when.
func (l *loader) guard(o *object, name string) *expr.Expr {
	src := o.text(name)
	if src == "" {
		return nil
	}
	e, ok := l.guards[src]
	if !ok {
		var err error
		if e, err = expr.CompileBool(src); err != nil {
			l.fail(o.pos(name), "%s: %s: %s", o.what, name, problem(err))
			return nil
		}
		l.guards[src] = e
	}
	return e
}

// small compiles a template of effects.
func (l *loader) small(o *object, name string) *expr.Template {
	src := o.text(name)
	if src == "" {
		return nil
	}
	return l.smallOf(src, o.pos(name), o.what+": "+name)
}

func (l *loader) smallOf(src string, at program.Pos, what string) *expr.Template {
	t, ok := l.smalls[src]
	if !ok {
		var err error
		if t, err = expr.Small(src); err != nil {
			l.fail(at, "%s: %s", what, problem(err))
			return nil
		}
		l.smalls[src] = t
	}
	return t
}

// page compiles a template of a page.
func (l *loader) page(m *module, o *object, name string) *expr.Template {
	src := o.text(name)
	if src == "" {
		return nil
	}
	t, err := m.pages.Page(src)
	if err != nil {
		l.fail(o.pos(name), "%s: %s: %s", o.what, name, problem(err))
	}
	return t
}

// problem is an error without its operation.
func problem(err error) string {
	text := err.Error()
	if op, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(op, "story.") {
		return rest
	}
	return text
}

// valueTree reads a value whose texts may be templates.
func (l *loader) valueTree(n *source.Node, what string) *program.Tree {
	t := &program.Tree{Pos: n.Pos}
	switch n.Kind {
	case source.List:
		t.Kind = program.TreeList
		for _, it := range n.List {
			t.List = append(t.List, l.valueTree(it, what))
		}
	case source.Map:
		t.Kind, t.Map = program.TreeMap, map[string]*program.Tree{}
		for _, k := range n.Keys {
			t.Map[k.Name] = l.valueTree(k.Val, what+"."+k.Name)
		}
	default:
		t.Literal = n.Scalar
		if n.Scalar.Kind() == value.String && strings.Contains(n.Scalar.Str(), "{{") {
			t.Kind, t.Template = program.TreeTemplate, l.smallOf(n.Scalar.Str(), n.Pos, what)
		}
	}
	return t
}

// effects reads a list of effects; a single one is a list of one.
func (l *loader) effects(p place, n *source.Node, completing bool) []*program.Effect {
	if n.IsNull() {
		return nil
	}
	items := n.List
	if n.Kind == source.Map {
		items = []*source.Node{n}
	} else if n.Kind != source.List {
		l.fail(n.Pos, "%s: the effects are %s, and not a list", p.what, n.What())
	}
	var list []*program.Effect
	for i, it := range items {
		list = append(list, l.effect(p.in("%s, effect %d", p.what, i+1), it, completing))
	}
	return list
}

func (l *loader) effect(p place, n *source.Node, completing bool) *program.Effect {
	p.effect = true
	o := l.object(n, "%s", p.what)
	e := &program.Effect{Scope: p.m.scope, Pos: n.Pos, When: l.guard(o, "when")}
	l.assigns(p, o, e)
	for _, k := range o.entries("increment") {
		by, ok := k.Val.Scalar.Int()
		if !ok {
			l.fail(k.Val.Pos, "%s: increment.%s is %s, and not a whole number", p.what, k.Name, k.Val.What())
		}
		e.Increment = append(e.Increment, program.Count{Key: p.m.scope.Key(k.Name), By: by, Pos: k.Pos})
	}
	slices.SortFunc(e.Increment, func(a, b program.Count) int { return strings.Compare(a.Key, b.Key) })
	e.Say = l.page(p.m, o, "say")
	e.RawInvoke, e.ID, e.Background, e.Once, e.Agent = o.text("invoke"), o.text("id"), o.bool("background"), o.bool("once"), o.text("agent")
	e.Invoke = l.bound(p, e.RawInvoke, o.pos("invoke"))
	if strings.Contains(e.ID, "{{") {
		e.IDTemplate = l.small(o, "id")
	}
	if w := o.node("with"); !w.IsNull() {
		e.With = l.valueTree(p.m.rebased(w), p.what+": with")
	}
	if s := o.node("selection"); !s.IsNull() {
		e.Selection = l.valueTree(s, p.what+": selection")
	}
	l.binds(p, o, e)
	if o.has("on_error") {
		t := l.target(p, o, "on_error")
		e.OnError = &t
		l.aimed(e.OnError, p, "on_error")
	}
	if emit := o.text("emit"); emit != "" {
		e.Emit = []string{emit}
	}
	l.emission(p, o, e)
	ended := p.in("%s, on_complete", p.what)
	ended.unread = p.unread && p.state != nil // those of a proposal are checked as any
	e.OnComplete = l.effects(ended, o.node("on_complete"), true)
	in := p
	in.unread = true
	if n := o.node("effects"); !n.IsNull() {
		l.warn(n.Pos, "%s: effects: within an effect are read, and never applied", p.what)
	}
	e.Effects = l.effects(in, o.node("effects"), completing)
	if o.has("target") {
		t := l.target(p, o, "target")
		e.Target = &t
		l.aimed(e.Target, p, "on_complete target")
	}
	e.Kind = kindOf(e)
	o.done()
	l.checkEffect(p, o, e, completing)
	return e
}

func kindOf(e *program.Effect) program.EffectKind {
	switch {
	case len(e.Set) > 0:
		return program.Set
	case len(e.Increment) > 0:
		return program.Increment
	case e.Say != nil:
		return program.Say
	case e.Invoke != "":
		return program.Invoke
	}
	return program.Nothing
}

func (l *loader) assigns(p place, o *object, e *program.Effect) {
	e.Set = l.assigned(p.m, p.what, o.entries("set"))
}

func (l *loader) assigned(m *module, what string, keys []*source.Key) []program.Assign {
	var list []program.Assign
	for _, k := range keys {
		list = append(list, program.Assign{Key: m.scope.Key(k.Name), Bare: k.Name, Value: l.valueTree(k.Val, what+": set."+k.Name), Pos: k.Pos})
	}
	slices.SortFunc(list, func(a, b program.Assign) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// rebased are arguments as the whole story has them: files of an imported story by their
// absolute names, its agents by their folded ones.
func (m *module) rebased(n *source.Node) *source.Node {
	if n.Kind != source.Map {
		return n
	}
	out := n.Copy()
	for i, k := range out.Keys {
		to := k.Val
		switch k.Name {
		case "agent":
			to = m.named(k.Val)
		case "prompt", "prompt_path", "schema", "script":
			to = m.asset(k.Name, k.Val)
		case "context", "acceptance":
			to = m.assets(k.Val)
		}
		if to != k.Val {
			out.Keys[i] = &source.Key{Name: k.Name, Pos: k.Pos, Val: to}
		}
	}
	return out
}

// assets are the files that a part of the arguments names.
func (m *module) assets(n *source.Node) *source.Node {
	if n == nil || n.Kind != source.Map {
		return n
	}
	out := n.Copy()
	for i, k := range out.Keys {
		to := k.Val
		switch k.Name {
		case "prompt", "prompt_path", "schema":
			to = m.asset(k.Name, k.Val)
		case "context", "acceptance":
			to = m.assets(k.Val)
		}
		out.Keys[i] = &source.Key{Name: k.Name, Pos: k.Pos, Val: to}
	}
	return out
}

func (m *module) named(n *source.Node) *source.Node {
	if !n.IsText() || m.parent == nil {
		return n
	}
	return textNode(n.Pos, m.scope.Agent(n.Scalar.Str()))
}

func (m *module) asset(name string, n *source.Node) *source.Node {
	if !n.IsText() || m.parent == nil {
		return n
	}
	file := n.Scalar.Str()
	if to, ok := m.prompts[file]; ok && name == "prompt" {
		return textNode(n.Pos, to)
	}
	if file == "" || path.IsAbs(file) || strings.Contains(file, "{{") || strings.Contains(file, "{%") {
		return n
	}
	return textNode(n.Pos, path.Join(m.dir, file))
}

func (l *loader) binds(p place, o *object, e *program.Effect) {
	for _, k := range o.entries("bind") {
		b := program.Bind{Key: p.m.scope.Key(k.Name), Path: k.Val.Scalar.Text(), Pos: k.Pos}
		if strings.Contains(b.Path, "{{") {
			b.Template, b.Path = l.smallOf(b.Path, k.Val.Pos, p.what+": bind."+k.Name), ""
		}
		e.Bind = append(e.Bind, b)
	}
	slices.SortFunc(e.Bind, func(a, b program.Bind) int { return strings.Compare(a.Key, b.Key) })
}

func (l *loader) emission(p place, o *object, e *program.Effect) {
	if name := o.text("emit_intent"); name != "" {
		e.EmitIntent = l.smallOf(name, o.pos("emit_intent"), p.what+": emit_intent")
		if e.EmitIntent != nil && e.EmitIntent.Plain() {
			e.EmitStatic = name
		}
	}
	if s := o.node("slots"); !s.IsNull() {
		e.Slots = l.valueTree(s, p.what+": slots")
	}
}

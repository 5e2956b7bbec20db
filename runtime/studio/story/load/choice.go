package load

import (
	"regexp"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/view"
)

// A chooser reads a choice: everything in it is checked, and what is wrong is an error.
type chooser struct {
	*viewer
	o *object
}

// choice reads a choice, and the condition in it.
func (r *viewer) choice(n *source.Node) (*view.Choice, view.When) {
	o := r.l.object(n, "%s", r.what)
	c := chooser{r, o}
	out := &view.Choice{Mode: view.Mode(c.word("mode", true, "single", "multi", "form")), Pos: n.Pos}
	out.Prompt = r.leaf(c.get("prompt"))
	switch out.Mode {
	case view.Single:
		c.items(out, c.option)
	case view.Multi:
		out.Intent, out.Slot = c.name("intent"), c.str("slot", true)
		out.Min, out.Max = c.bound("min", 0), c.bound("max", 1)
		c.items(out, c.value)
	case view.Form:
		out.Intent = c.name("intent")
		c.form(out)
	default:
		return out, view.When{}
	}
	when := c.guard()
	o.done()
	return out, when
}

func (c chooser) fail(at program.Pos, format string, args ...any) {
	c.l.fail(at, "%s: %s", c.o.what, sprintf(format, args...))
}

// get is a member that is a text, or nil.
func (c chooser) get(name string) *source.Node {
	n := c.o.node(name)
	if n != nil && !n.IsText() {
		c.fail(n.Pos, "%s is %s, and not a text", name, n.What())
		return nil
	}
	return n
}

// str is a text; one that is needed is not empty.
func (c chooser) str(name string, needed bool) string {
	n := c.get(name)
	text := ""
	if n != nil {
		text = n.Scalar.Str()
	}
	if needed && text == "" && (n != nil || !c.o.has(name)) {
		c.fail(c.o.pos(name), "%s is required", name)
	}
	return text
}

func (c chooser) word(name string, needed bool, words ...string) string {
	w := c.str(name, needed)
	if w != "" && !slices.Contains(words, w) {
		c.fail(c.o.pos(name), "%s is %q, and not one of %s", name, w, strings.Join(words, ", "))
		return ""
	}
	return w
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c chooser) name(key string) string {
	w := c.str(key, true)
	if w != "" && !plainName.MatchString(w) {
		c.fail(c.o.pos(key), "%s is %q, and not a name of letters, digits and _", key, w)
	}
	return w
}

func (c chooser) flag(name string) bool {
	n := c.o.node(name)
	if n != nil && (n.Kind != source.Scalar || n.Scalar.Kind() != value.Bool) {
		c.fail(n.Pos, "%s is %s, and not true or false", name, n.What())
		return false
	}
	return n != nil && n.Scalar.Bool()
}

func (c chooser) bound(name string, least int64) *int {
	n := c.o.node(name)
	if n == nil {
		return nil
	}
	i, ok := n.Scalar.Int()
	if n.Kind != source.Scalar || !ok || i < least {
		c.fail(n.Pos, "%s is %s, and not a whole number of %d or more", name, n.What(), least)
	}
	whole := int(i)
	return &whole
}

func (c chooser) words(name string, needed bool) []string {
	n := c.o.node(name)
	var list []string
	if n == nil || n.Kind != source.List {
		if n != nil || needed {
			c.fail(c.o.pos(name), "%s is required, and a list of texts", name)
		}
		return nil
	}
	for _, it := range n.List {
		if !it.IsText() {
			c.fail(it.Pos, "%s has %s, and not a text", name, it.What())
			continue
		}
		list = append(list, it.Scalar.Str())
	}
	return list
}

// guard reads when: it must be able to be true or false.
func (c chooser) guard() view.When {
	n := c.get("when")
	if n == nil || strings.TrimSpace(n.Scalar.Str()) == "" {
		return view.When{}
	}
	if _, err := expr.CompileBool(n.Scalar.Str()); err != nil {
		c.fail(n.Pos, "when: %s", problem(err))
	}
	return c.when(c.o)
}

// page is a template that is checked.
func (c chooser) page(name string) view.Leaf {
	return c.leafOr(c.get(name), c.l.fail)
}

func (c chooser) items(out *view.Choice, read func(chooser) view.Option) {
	n := c.o.node("items")
	if n == nil || n.Kind != source.List || len(n.List) == 0 {
		c.fail(c.o.pos("items"), "items: is required, and a list with at least one entry")
		return
	}
	for i, it := range n.List {
		o := c.l.object(it, "%s, items[%d]", c.what, i)
		item := chooser{&viewer{l: c.l, m: c.m, what: o.what, strict: true}, o}
		option := read(item)
		option.Hint, option.When, option.Pos = item.leaf(item.get("hint")), item.guard(), it.Pos
		o.done()
		out.Options = append(out.Options, option)
	}
}

func (chooser) value(c chooser) view.Option {
	o := view.Option{Value: c.str("value", true), Label: c.leaf(c.get("label"))}
	if strings.Contains(o.Value, "{{") {
		c.fail(c.o.pos("value"), "value: must be a string literal (templated values are not allowed in multi mode)")
	}
	if o.Label.Source() == "" {
		o.Label = c.leaf(c.o.n.Get("value"))
	}
	return o
}

func (chooser) option(c chooser) view.Option {
	c.str("label", true)
	o := view.Option{Label: c.leaf(c.get("label")), Intent: c.name("intent"), Slots: map[string]view.Slot{}}
	for _, k := range c.o.entries("slots") {
		s := view.Slot{Literal: k.Val.Value(), Pos: k.Pos}
		if k.Val.IsText() {
			s.Text = c.leafOr(k.Val, c.l.fail)
		}
		o.Slots[k.Name] = s
	}
	if n := c.o.node("param"); n != nil {
		in := c.l.object(n, "%s.param", c.what)
		p := chooser{&viewer{l: c.l, m: c.m, what: in.what, strict: true}, in}
		o.Param = &view.Param{Slot: p.str("slot", true), Type: p.word("type", true, "string", "int", "enum"), Placeholder: p.page("placeholder"), Pos: n.Pos}
		o.Param.Values, o.Param.Required = p.words("values", o.Param.Type == "enum"), p.flag("required")
		in.done()
	}
	return o
}

func (c chooser) form(out *view.Choice) {
	if text := c.str("template", true); text != "" {
		t, err := c.m.pages.Page(view.Places(text))
		if err != nil {
			c.fail(c.o.pos("template"), "template: %s", problem(err))
		}
		out.Template = view.Leaf{Template: t, Broken: err}
		for _, m := range view.Place.FindAllStringSubmatch(text, -1) {
			if c.o.n.Get("fields").Get(m[1]) == nil {
				c.fail(c.o.pos("template"), "template references {%s} but no fields.%s is declared", m[1], m[1])
			}
		}
	}
	fields := c.o.entries("fields")
	if len(fields) == 0 {
		c.fail(c.o.pos("fields"), "fields: is required, with at least one entry")
	}
	for _, k := range fields {
		o := c.l.object(k.Val, "%s, fields.%s", c.what, k.Name)
		in := chooser{&viewer{l: c.l, m: c.m, what: o.what, strict: true}, o}
		out.Fields = append(out.Fields, in.field(k))
		o.done()
	}
}

func (c chooser) field(k *source.Key) view.Field {
	f := view.Field{
		Name: k.Name, Type: c.word("type", true, "string", "int", "float", "bool", "enum"), Hint: c.str("hint", false), Unit: c.str("unit", false),
		Default: c.scalar("default"), Min: c.scalar("min"), Max: c.scalar("max"), Placeholder: c.page("placeholder"),
		Required: c.flag("required"), Readonly: c.flag("readonly"), When: c.guard(), Pos: k.Pos,
	}
	f.Values = c.words("values", f.Type == "enum")
	src := c.str("expr", false)
	switch {
	case f.Readonly && !c.o.has("expr"):
		c.fail(k.Pos, "a readonly field requires expr:")
	case f.Readonly && strings.TrimSpace(src) != "":
		e, err := expr.Compile(src)
		if err != nil {
			c.fail(c.o.pos("expr"), "expr: %s", problem(err))
		}
		f.Expr = e
	}
	t, err := c.m.pages.Page(f.With(f.Standing()))
	f.Shown = view.Leaf{Template: t, Broken: err} // its parts are checked where they stand
	return f
}

// scalar is a text, a number or a boolean; a text may be a template.
func (c chooser) scalar(name string) value.Value {
	n := c.o.node(name)
	if n == nil {
		return value.Value{}
	}
	if n.Kind != source.Scalar || n.Scalar.IsNil() {
		c.fail(n.Pos, "%s is %s, and not a text, a number or a boolean", name, n.What())
		return value.Value{}
	}
	if n.IsText() {
		c.leafOr(n, c.l.fail)
	}
	return n.Scalar
}

// chosen checks what the choices of a state name: intents and their slots.
func (l *loader) chosen(s *program.Story, st *program.State) {
	if st.View != nil {
		l.choices(s, st, st.View.Choice(), sprintf("state %s", st.Path))
	}
	for i := range st.On {
		for _, a := range st.On[i].Arcs {
			if a.View != nil {
				l.choices(s, st, a.View.Choice(), sprintf("state %s, on %s", st.Path, st.On[i].Bare))
			}
		}
	}
}

// intentOf is what an intent of a state's file is: its own, one of a state above, or one
// of the library.
func intentOf(s *program.Story, st *program.State, bare string) *program.Intent {
	for _, name := range []string{st.Scope.Intent(bare), bare} {
		for up := st; up != nil; up = up.Parent {
			if in := up.Intents[name]; in != nil {
				return in
			}
		}
	}
	return s.Intents[st.Scope.Intent(bare)]
}

func (l *loader) choices(s *program.Story, st *program.State, c *view.Choice, what string) {
	if c == nil {
		return
	}
	if c.Mode == view.Single {
		for i, o := range c.Options {
			l.optionOf(s, st, o, sprintf("%s, choice items[%d]", what, i))
		}
		return
	}
	in := intentOf(s, st, c.Intent)
	switch {
	case c.Intent == "":
	case in == nil:
		l.fail(c.Pos, "%s: choice: intent %q not declared in state or global intents", what, c.Intent)
	case c.Mode == view.Multi && in.Slots[c.Slot] == nil && c.Slot != "":
		l.fail(c.Pos, "%s: choice: slot %q is not a declared slot of intent %q", what, c.Slot, c.Intent)
	default:
		for _, f := range c.Fields {
			if !f.Readonly && in.Slots[f.Name] == nil {
				l.fail(f.Pos, "%s: choice: fields.%s: not a declared slot of intent %q", what, f.Name, c.Intent)
			}
		}
	}
}

func (l *loader) optionOf(s *program.Story, st *program.State, o view.Option, what string) {
	if o.Intent == "" {
		return
	}
	in := intentOf(s, st, o.Intent)
	if in == nil {
		l.fail(o.Pos, "%s: intent %q not declared in state or global intents", what, o.Intent)
		return
	}
	for name, given := range o.Slots {
		slot := in.Slots[name]
		text := given.Literal.Str()
		switch {
		case slot == nil:
			l.fail(given.Pos, "%s.slots: key %q is not a declared slot of intent %q", what, name, o.Intent)
		case slot.Type == "enum" && len(slot.Values) > 0 && given.Literal.Kind() == value.String && !strings.Contains(text, "{{") && !slices.Contains(slot.Values, text):
			l.fail(given.Pos, "%s.slots.%s: value %q is not in the slot's enum values", what, name, text)
		}
	}
	if o.Param == nil || o.Param.Slot == "" {
		return
	}
	if in.Slots[o.Param.Slot] == nil {
		l.fail(o.Param.Pos, "%s.param.slot: %q is not a declared slot of intent %q", what, o.Param.Slot, o.Intent)
	}
	if _, twice := o.Slots[o.Param.Slot]; twice {
		l.fail(o.Param.Pos, "%s.param.slot: %q is already pre-bound in its slots: choose one or the other", what, o.Param.Slot)
	}
}

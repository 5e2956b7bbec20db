package load

import (
	"path"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/view"
)

// A viewer reads the elements of one view.
type viewer struct {
	l      *loader
	m      *module
	what   string
	strict bool // an unknown key is an error, as in the blocks of a page
}

// view reads a page of a state: a text, a list of elements, or a mapping that names a
// page of the views folder. Nothing at all is no view.
func (l *loader) view(m *module, o *object, name, what string) *view.View {
	n := o.node(name)
	r := &viewer{l: l, m: m, what: what + ", " + name}
	switch {
	case n.IsNull():
		return nil
	case n.Kind == source.Scalar:
		if n.Scalar.Text() == "" {
			return nil
		}
		return &view.View{Page: r.leaf(n), Links: l.work, Pos: n.Pos}
	case n.Kind == source.Map:
		return r.paged(n)
	case len(n.List) == 0:
		return nil
	}
	v := &view.View{Links: l.work, Pos: n.Pos}
	v.Elements = r.elements(n.List)
	v.Labels = labels(v.Choice())
	return v
}

// labels are what a choice calls its intents, where that is not a template.
func labels(c *view.Choice) map[string]string {
	if c == nil || c.Mode != view.Single {
		return nil
	}
	names := map[string]string{}
	for _, o := range c.Options {
		label := o.Label.Source()
		if _, ok := names[o.Intent]; !ok && label != "" && !strings.Contains(label, "{{") {
			names[o.Intent] = label
		}
	}
	return names
}

// paged reads a view that names a file: {template_file} or {extends, blocks}.
func (r *viewer) paged(n *source.Node) *view.View {
	o := r.l.object(n, "%s", r.what)
	v := &view.View{Links: r.l.work, Pos: n.Pos}
	base, file := o.text("extends"), o.text("template_file")
	r.strict = true
	for _, k := range o.entries("blocks") {
		in := &viewer{l: r.l, m: r.m, what: r.what + ", block " + k.Name, strict: true}
		b := view.Block{Name: k.Name}
		if k.Val != nil && k.Val.Kind == source.List {
			b.Elements = in.elements(k.Val.List)
		} else if !k.Val.IsNull() {
			r.l.fail(k.Val.Pos, "%s is %s, and not a list of elements", in.what, k.Val.What())
		}
		for _, e := range b.Elements {
			if e.Body.Kind() == "choice" {
				r.l.fail(e.Pos, "%s: choice elements are not allowed inside extends/blocks views", in.what)
			}
		}
		v.Blocks = append(v.Blocks, b)
	}
	switch {
	case file != "" && (base != "" || len(v.Blocks) > 0):
		r.l.fail(o.pos("template_file"), "%s: template_file is mutually exclusive with extends/blocks", r.what)
	case file != "":
		v.Page = r.file(o.pos("template_file"), func() (*expr.Template, error) { return r.m.pages.File(file) })
	case base != "":
		v.Base = r.base(o.pos("extends"), base, v.Blocks)
	default:
		r.l.fail(n.Pos, "%s: must be a string, an array of elements, or an {extends, blocks} mapping", r.what)
	}
	o.done()
	return v
}

// base is the page that blocks stand in.
func (r *viewer) base(at program.Pos, name string, blocks []view.Block) view.Leaf {
	if path.Ext(name) == "" {
		name += ".pongo"
	}
	names := make([]string, len(blocks))
	for i, b := range blocks {
		names[i] = b.Name
	}
	return r.file(at, func() (*expr.Template, error) { return r.m.pages.Page(view.Extend(name, names)) })
}

func (r *viewer) file(at program.Pos, compile func() (*expr.Template, error)) view.Leaf {
	t, err := compile()
	if err != nil {
		r.l.warn(at, "%s: %s", r.what, problem(err))
	}
	return view.Leaf{Template: t, Broken: err}
}

func (r *viewer) elements(list []*source.Node) []view.Element {
	var all []view.Element
	choices := 0
	for i, n := range list {
		in := &viewer{l: r.l, m: r.m, what: sprintf("%s[%d]", r.what, i), strict: r.strict}
		e, ok := in.element(n)
		if !ok {
			continue
		}
		if e.Body.Kind() == "choice" {
			if choices++; choices > 1 {
				r.l.fail(n.Pos, "%s: only one choice element per view is allowed", in.what)
			}
		}
		all = append(all, e)
	}
	return all
}

// kinds are the kinds of elements, as findings list them.
var kinds = []string{"prose", "heading", "list", "kv", "code", "template", "banner", "choice", "media"}

func (r *viewer) element(n *source.Node) (e view.Element, ok bool) {
	o := r.l.object(n, "%s", r.what)
	var set []string
	for _, k := range kinds {
		if !o.node(k).IsNull() {
			set = append(set, k)
		}
	}
	e.When, e.Pos = r.when(o), n.Pos
	r.rest(o)
	switch len(set) {
	case 0:
		r.l.fail(n.Pos, "%s: element has no kind (expected one of %s)", r.what, strings.Join(kinds, " / "))
		return e, false
	case 1:
	default:
		r.l.fail(n.Pos, "%s: element has multiple kinds set (%s); each element must declare exactly one", r.what, strings.Join(set, ", "))
		return e, false
	}
	body := o.n.Get(set[0])
	r.what += " (" + set[0] + ")"
	switch set[0] {
	case "prose":
		e.Body = view.Prose{Body: r.text(body)}
	case "heading":
		e.Body = view.Heading{Body: r.text(body)}
	case "code":
		e.Body = view.Code{Body: r.text(body)}
	case "template":
		e.Body = view.Template{Body: r.text(body)}
	case "list":
		e.Body = r.list(body)
	case "kv":
		e.Body = r.kv(body)
	case "banner":
		e.Body = r.banner(body)
	case "media":
		e.Body = r.media(body)
	case "choice":
		c, when := r.choice(body)
		e.Body = c
		if when.Expr != nil {
			e.When = when
		}
	}
	return e, true
}

// rest says which keys of an element nobody asked for.
func (r *viewer) rest(o *object) {
	if r.strict {
		o.done()
		return
	}
	o.extra(r.l.warn)
}

// text is a leaf that must be a text.
func (r *viewer) text(n *source.Node) view.Leaf {
	if n != nil && n.Kind != source.Scalar {
		r.l.fail(n.Pos, "%s is %s, and not a text", r.what, n.What())
		return view.Leaf{}
	}
	return r.leaf(n)
}

// leaf compiles a text. What does not parse is a warning: it fails only when it is shown.
func (r *viewer) leaf(n *source.Node) view.Leaf { return r.leafOr(n, r.l.warn) }

func (r *viewer) leafOr(n *source.Node, say func(program.Pos, string, ...any)) view.Leaf {
	if n.IsNull() {
		return view.Leaf{}
	}
	t, err := r.m.pages.Page(n.Scalar.Text())
	if err != nil {
		say(n.Pos, "%s: %s", r.what, problem(err))
	}
	return view.Leaf{Template: t, Broken: err}
}

func (r *viewer) when(o *object) view.When {
	src := o.text("when")
	if src == "" {
		return view.When{}
	}
	e, err := expr.Compile(src)
	if err != nil {
		r.l.warn(o.pos("when"), "%s: when: %s", o.what, problem(err))
	}
	return view.When{Expr: e, Broken: err}
}

// misplaced says that a guard stands where it would not be looked at.
func (r *viewer) misplaced(o *object, kind string) {
	if o.node("when") != nil {
		r.l.fail(o.pos("when"), "%s: `when:` must be a sibling of `%s:` (element level), not nested inside the %s body", r.what, kind, kind)
	}
}

func (r *viewer) list(n *source.Node) view.Body {
	o := r.l.object(n, "%s", r.what)
	e := view.List{Mark: o.text("marker")}
	r.misplaced(o, "list")
	items := o.list("items")
	if len(items) == 0 {
		r.l.fail(n.Pos, "%s: list requires items: with at least one entry", r.what)
	}
	for _, it := range items {
		e.Items = append(e.Items, r.item(it))
	}
	r.rest(o)
	return e
}

func (r *viewer) item(n *source.Node) view.Item {
	if n.Kind == source.Scalar {
		if strings.TrimSpace(n.Scalar.Text()) == "" {
			r.l.fail(n.Pos, "%s: list item: empty string is not allowed", r.what)
		}
		return view.Item{Label: r.leaf(n)}
	}
	o := r.l.object(n, "%s, item", r.what)
	if strings.TrimSpace(o.text("label")) == "" {
		r.l.fail(n.Pos, "%s: list item: label is required", r.what)
	}
	i := view.Item{Label: r.text(o.node("label")), Hint: r.text(o.node("hint")), When: r.when(o)}
	o.done()
	return i
}

func (r *viewer) kv(n *source.Node) view.Body {
	o := r.l.object(n, "%s", r.what)
	var e view.KV
	r.misplaced(o, "kv")
	pairs := o.entries("pairs")
	if len(pairs) == 0 {
		r.l.fail(n.Pos, "%s: kv requires pairs: with at least one entry", r.what)
	}
	for i, k := range pairs {
		if !k.Val.IsNull() && !k.Val.IsText() {
			r.l.fail(k.Val.Pos, "%s: kv pair %d (%s): value must be a string (got %s)", r.what, i, k.Name, k.Val.What())
			continue
		}
		e.Pairs = append(e.Pairs, view.Pair{Name: k.Name, Value: r.leaf(k.Val)})
	}
	r.rest(o)
	return e
}

func (r *viewer) banner(n *source.Node) view.Body {
	o := r.l.object(n, "%s", r.what)
	r.misplaced(o, "banner")
	e := view.Banner{Title: r.text(o.node("text")), Subtitle: r.text(o.node("subtitle")), Color: o.text("color")}
	if strings.TrimSpace(e.Title.Source()) == "" {
		r.l.fail(n.Pos, "%s: banner requires a non-empty text", r.what)
	}
	r.rest(o)
	return e
}

func (r *viewer) media(n *source.Node) view.Body {
	o := r.l.object(n, "%s", r.what)
	e := view.Media{
		Handle: r.text(o.node("handle")), Caption: r.text(o.node("caption")), Path: r.text(o.node("path")), What: o.text("kind"),
		AnnotateIntent: o.text("annotate_intent"), AnnotationSlot: o.text("annotate_feedback_slot"),
	}
	if strings.TrimSpace(e.Handle.Source()) == "" {
		r.l.fail(n.Pos, "%s: media requires a non-empty handle", r.what)
	}
	r.rest(o)
	return e
}

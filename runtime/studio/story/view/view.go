// Package view is what a state shows: typed elements, rendered to text of so many columns.
//
// It is a part of the story studio above the languages of a story. load makes views out
// of YAML, the machine has them rendered. It decides nothing, styles nothing and knows no
// machine: what it gives is plain text, for a terminal, a trace or a test.
package view

import (
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// CodeView is that of a view that cannot be rendered.
const CodeView fault.Code = "STORY_VIEW"

// Width is how many columns a page has where nobody asks for others.
const Width = 80

// A View is a page of a state: elements, one page as a template, or elements in the
// blocks of a page. Which one it is, is which of Elements, Page and Base is set.
type View struct {
	Elements []Element
	Page     Leaf // a text, or a file of pages
	Base     Leaf // the page that the blocks stand in; see Extend
	Blocks   []Block
	Labels   map[string]string // intent in the view's scope → what a choice calls it, where that is fixed
	Links    string            // folder that the paths in it are seen from, to link them; "" links none
	Pos      source.Pos
}

// A Block is a named part of a page.
type Block struct {
	Name     string
	Elements []Element
}

// An Element is one part of a view.
type Element struct {
	When When
	Body Body
	Pos  source.Pos
}

// A Body is what an element is: Prose, Heading, List, KV, Code, Template, Banner, Choice
// or Media.
type Body interface {
	Kind() string
	text(p *pen) (string, error)
}

// A pen is what elements are rendered with.
type pen struct {
	env   *expr.Env
	width int
	links string
}

// A Leaf is a text that may be a template. One that does not parse keeps why, and fails
// when it is shown.
type Leaf struct {
	Template *expr.Template // nil: no text
	Broken   error
}

// Source is the text as it was written.
func (l Leaf) Source() string {
	if l.Template == nil {
		return ""
	}
	return l.Template.Source()
}

func (l Leaf) text(env *expr.Env) (string, error) {
	if l.Broken != nil {
		return "", l.Broken
	}
	if l.Template == nil {
		return "", nil
	}
	return l.Template.Text(env)
}

// A When is a condition under which something is shown: its expression gives something
// that is not nothing, not empty, not zero. An expression that fails hides.
type When struct {
	Expr   *expr.Expr // nil: always
	Broken error
}

func (w When) holds(env *expr.Env) (bool, error) {
	if w.Broken != nil {
		return false, w.Broken
	}
	if w.Expr == nil {
		return true, nil
	}
	v, err := w.Expr.Eval(env)
	if err != nil {
		return false, nil //nolint:nilerr // what cannot be told is not shown
	}
	return shows(v), nil
}

// shows is the truth of a value in a view: a text shows unless it is empty, also "false".
func shows(v value.Value) bool {
	switch v.Kind() {
	case value.Nil:
		return false
	case value.Bool:
		return v.Bool()
	case value.Int, value.Float:
		f, _ := v.Float()
		return f != 0
	}
	return v.Len() > 0
}

// Text renders a view. env has the roots of a page: slots, world, event, run, menu, state.
// Less than one column is Width.
func (v *View) Text(env *expr.Env, width int) (string, error) {
	if width < 1 {
		width = Width
	}
	p := &pen{env: env, width: width, links: v.Links}
	if v.Base.Template != nil || v.Base.Broken != nil {
		for _, b := range v.Blocks {
			body, err := p.all(b.Elements)
			if err != nil {
				return "", failed(err, b.Pos(), "block %q", b.Name)
			}
			env = env.With(variable(b.Name), value.Of(body))
		}
		return v.Base.text(env)
	}
	if v.Page.Template != nil || v.Page.Broken != nil {
		return v.Page.text(env)
	}
	return p.all(v.Elements)
}

// Pos is where the first element of a block stands.
func (b Block) Pos() source.Pos {
	if len(b.Elements) == 0 {
		return source.Pos{}
	}
	return b.Elements[0].Pos
}

// Choice is the choice of a view, or nil. A view has at most one.
func (v *View) Choice() *Choice {
	for _, e := range v.Elements {
		if c, ok := e.Body.(*Choice); ok {
			return c
		}
	}
	return nil
}

// all renders elements with a blank line between each two; rows of one kv block after
// another stay together.
func (p *pen) all(elements []Element) (string, error) {
	var b strings.Builder
	last := ""
	for _, e := range elements {
		shown, err := e.When.holds(p.env)
		if err != nil {
			return "", failed(err, e.Pos, "when of a %s", e.Body.Kind())
		}
		if !shown {
			continue
		}
		text, err := e.Body.text(p)
		if err != nil {
			return "", failed(err, e.Pos, "a %s", e.Body.Kind())
		}
		if text == "" {
			continue
		}
		kind := e.Body.Kind()
		switch {
		case last == "":
		case last == "kv" && kind == "kv":
			b.WriteString("\n")
		default:
			b.WriteString("\n\n")
		}
		last = kind
		b.WriteString(text)
		if b.Len() > expr.MaxOutput {
			return "", fault.New(expr.CodeTooLong, "story.view", "a view gives more than %d bytes", expr.MaxOutput)
		}
	}
	return b.String(), nil
}

func failed(err error, at source.Pos, format string, args ...any) error {
	return fault.Wrap(err, CodeView, "story.view", "%s:%d: "+format, append([]any{at.File, at.Line}, args...)...)
}

// Extend is the template of a page with the blocks that have these names, in that order,
// filled in.
func Extend(page string, blocks []string) string {
	var b strings.Builder
	b.WriteString("{% extends \"" + page + "\" %}")
	for _, name := range blocks {
		b.WriteString("{% block " + name + " %}{{ " + variable(name) + " }}{% endblock %}")
	}
	return b.String()
}

// variable is under which name a page finds what a block shows.
func variable(block string) string { return "_block_" + block }

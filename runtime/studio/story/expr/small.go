package expr

import (
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A Template is a compiled template of either dialect. A text without delimiters is
// itself. It is safe for concurrent use.
type Template struct {
	source string
	reads  []string
	plain  bool   // no delimiters
	whole  *Expr  // small: the text is one expression
	nodes  []node // small
	page   *page  // pages
}

// Small compiles a template of effects: {{ expr }}, {{ if }} … {{ else }} … {{ end }},
// {{ range }} … {{ end }}.
func Small(source string) (*Template, error) {
	t := &Template{source: source, plain: !strings.Contains(source, "{{")}
	if t.plain {
		return t, nil
	}
	p := &parser{template: t}
	if err := p.split(source); err != nil {
		return nil, err
	}
	nodes, err := p.block(0, false)
	if err != nil {
		return nil, err
	}
	if p.at < len(p.parts) {
		return nil, p.fail("%q without a beginning", p.parts[p.at].text)
	}
	t.nodes = nodes
	if len(nodes) > 0 {
		t.whole = only(source, nodes)
	}
	return t, nil
}

// only is the one expression that a text is made of, but for space around it.
func only(source string, nodes []node) *Expr {
	var one *Expr
	for _, n := range nodes {
		switch {
		case n.kind == textNode && strings.TrimSpace(n.text) == "":
		case n.kind == exprNode && one == nil:
			one = n.expr
		default:
			return nil
		}
	}
	trimmed := strings.TrimSpace(source)
	if !strings.HasPrefix(trimmed, "{{") || !strings.HasSuffix(trimmed, "}}") {
		return nil
	}
	return one
}

// Source is the template as it was written.
func (t *Template) Source() string { return t.source }

// Plain reports a text without anything to fill in.
func (t *Template) Plain() bool { return t.plain }

// Reads are the roots with what is taken of them, as far as they can be told.
func (t *Template) Reads() []string { return t.reads }

// Text renders the template.
func (t *Template) Text(env *Env) (string, error) {
	switch {
	case t.plain:
		return t.source, nil
	case t.page != nil:
		return t.page.render(env)
	}
	var b strings.Builder
	if err := exec(&b, t.nodes, env); err != nil {
		return "", err
	}
	return b.String(), nil
}

// Value renders the template; where all of it is one expression, the value keeps its
// type.
func (t *Template) Value(env *Env) (value.Value, error) {
	if t.whole != nil {
		return t.whole.Eval(env)
	}
	s, err := t.Text(env)
	return value.Of(s), err
}

type nodeKind byte

const (
	textNode nodeKind = iota
	exprNode
	ifNode
	rangeNode
)

type node struct {
	kind        nodeKind
	text        string
	expr        *Expr // of exprNode, ifNode, rangeNode
	then, other []node
}

func exec(b *strings.Builder, nodes []node, env *Env) error {
	for _, n := range nodes {
		if b.Len() > MaxOutput {
			return fault.New(CodeTooLong, "story.template", "a template gives more than %d bytes", MaxOutput)
		}
		if n.kind == textNode {
			b.WriteString(n.text)
			continue
		}
		v, err := n.expr.Eval(env)
		if err != nil {
			return err
		}
		switch n.kind {
		case exprNode:
			b.WriteString(v.Text())
		case ifNode:
			branch := n.other
			if Truthy(v) {
				branch = n.then
			}
			if err := exec(b, branch, env); err != nil {
				return err
			}
		case rangeNode:
			if v.Kind() != value.List && !v.IsNil() {
				return fault.New(CodeTemplate, "story.template", "range over %q, which is a %s", n.expr.source, v.Kind())
			}
			for _, it := range v.Items() {
				if err := exec(b, n.then, env.With(Item, it)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Truthy is what an if makes of a value: nil, false, 0 and "" are not.
func Truthy(v value.Value) bool {
	switch v.Kind() {
	case value.Nil:
		return false
	case value.Bool:
		return v.Bool()
	case value.Int, value.Float:
		f, _ := v.Float()
		return f != 0
	case value.String:
		return v.Str() != ""
	}
	return true
}

// A part is a text, or what stands between two delimiters.
type part struct {
	text  string
	block bool
}

type parser struct {
	template *Template
	parts    []part
	at       int
}

func (p *parser) fail(format string, args ...any) error {
	return fault.New(CodeTemplate, "story.template", format, args...).WithHint("the template is %q", clip(p.template.source))
}

func clip(s string) string {
	if r := []rune(s); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return s
}

func (p *parser) split(src string) error {
	for src != "" {
		text, rest, found := strings.Cut(src, "{{")
		if text != "" {
			p.parts = append(p.parts, part{text: text})
		}
		if !found {
			return nil
		}
		block, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return p.fail("{{ is not closed")
		}
		p.parts = append(p.parts, part{text: strings.TrimSpace(block), block: true})
		src = after
	}
	return nil
}

// maxBlocks is the deepest nesting of blocks.
const maxBlocks = 32

// block reads nodes up to an else or an end that belongs to the caller. inRange says that
// a leading dot means the item.
func (p *parser) block(depth int, inRange bool) ([]node, error) {
	if depth > maxBlocks {
		return nil, p.fail("blocks are nested deeper than %d", maxBlocks)
	}
	var nodes []node
	for p.at < len(p.parts) {
		part := p.parts[p.at]
		if !part.block {
			nodes = append(nodes, node{kind: textNode, text: part.text})
			p.at++
			continue
		}
		word, rest, _ := strings.Cut(part.text, " ")
		var n node
		var err error
		switch word {
		case "else", "end":
			return nodes, nil
		case "if":
			n, err = p.branch(rest, depth, inRange)
		case "range":
			n, err = p.loop(rest, depth, inRange)
		default:
			p.at++
			n.kind = exprNode
			n.expr, err = p.expr(part.text, inRange)
		}
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

func (p *parser) branch(cond string, depth int, inRange bool) (n node, err error) {
	n.kind = ifNode
	cond = strings.TrimSpace(cond)
	if not, ok := strings.CutPrefix(cond, "not "); ok {
		cond = "!(" + not + ")"
	}
	if n.expr, err = p.expr(cond, inRange); err != nil {
		return n, err
	}
	p.at++
	if n.then, err = p.block(depth+1, inRange); err != nil {
		return n, err
	}
	if p.is("else") {
		p.at++
		if n.other, err = p.block(depth+1, inRange); err != nil {
			return n, err
		}
	}
	return n, p.end("if")
}

func (p *parser) loop(list string, depth int, inRange bool) (n node, err error) {
	n.kind = rangeNode
	if n.expr, err = p.expr(strings.TrimSpace(list), inRange); err != nil {
		return n, err
	}
	p.at++
	if n.then, err = p.block(depth+1, true); err != nil {
		return n, err
	}
	return n, p.end("range")
}

func (p *parser) is(word string) bool {
	if p.at >= len(p.parts) || !p.parts[p.at].block {
		return false
	}
	got, _, _ := strings.Cut(p.parts[p.at].text, " ")
	return got == word
}

func (p *parser) end(of string) error {
	if !p.is("end") {
		return p.fail("%s has no end", of)
	}
	p.at++
	return nil
}

func (p *parser) expr(src string, inRange bool) (*Expr, error) {
	if inRange {
		src = undot(src)
	}
	e, err := Compile(src)
	if err == nil {
		p.template.reads = append(p.template.reads, e.reads...)
	}
	return e, err
}

// undot makes item.name of .name, within a range: a dot that no word or bracket stands
// before, outside of quotes.
func undot(src string) string {
	var b strings.Builder
	quote, before := byte(0), byte(' ')
	for i := range len(src) {
		c := src[i]
		switch {
		case quote != 0:
			if c == quote && before != '\\' {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '.' && !isName(before) && before != ')' && before != ']' && before != '?' && i+1 < len(src) && isLetter(src[i+1]):
			b.WriteString("item")
		}
		b.WriteByte(c)
		before = c
	}
	return b.String()
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func isName(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' }

package load

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// The bounds of a file, and of what aliases make of it.
const (
	MaxFile  = 4 << 20 // bytes
	MaxNodes = 500_000 // of one story
	MaxDepth = 64
)

// The codes of this package.
const (
	CodeTooLarge fault.Code = "STORY_TOO_LARGE" // a bound of a file or of a story
	CodeNoFile   fault.Code = "STORY_NO_FILE"   // a file that is not there, or must not be read
	CodeInvalid  fault.Code = "STORY_INVALID"   // the story has errors; the findings say which
)

// A node is a part of a YAML file that knows where it stands.
type node struct {
	pos    program.Pos
	scalar value.Value // of everything that is neither
	list   []*node
	keys   []*key // of a mapping, in order; nil where it is none
	kind   nodeKind
}

type nodeKind byte

const (
	scalarNode nodeKind = iota
	listNode
	mapNode
)

type key struct {
	name string
	pos  program.Pos
	val  *node
}

// get is the value under a key, or nil.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for _, k := range n.keys {
		if k.name == name {
			return k.val
		}
	}
	return nil
}

func (n *node) isNull() bool {
	return n == nil || n.kind == scalarNode && n.scalar.IsNil()
}

func (n *node) isText() bool {
	return n != nil && n.kind == scalarNode && n.scalar.Kind() == value.String
}

// value is all of it as a value.
func (n *node) value() value.Value {
	if n == nil {
		return value.Value{}
	}
	switch n.kind {
	case listNode:
		items := make([]value.Value, len(n.list))
		for i, it := range n.list {
			items[i] = it.value()
		}
		return value.NewList(items...)
	case mapNode:
		m := make(map[string]value.Value, len(n.keys))
		for _, k := range n.keys {
			m[k.name] = k.val.value()
		}
		return value.NewMap(m)
	}
	return n.scalar
}

func (n *node) what() string {
	switch {
	case n.kind == listNode:
		return "a list"
	case n.kind == mapNode:
		return "a mapping"
	case n.scalar.IsNil():
		return "nothing"
	}
	return fmt.Sprintf("the %s %s", n.scalar.Kind(), clip(n.scalar.JSON()))
}

func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

// parse reads a YAML file into a tree. What does not parse is a finding, and gives nil.
func (l *loader) parse(name string, raw []byte) *node {
	at := program.Pos{File: name, Line: 1, Column: 1}
	if len(raw) > MaxFile {
		l.fail(at, "the file has %d bytes, the bound is %d", len(raw), MaxFile)
		return nil
	}
	f, err := parser.ParseBytes(raw, 0)
	if err != nil {
		at, text := syntaxError(at, err)
		l.fail(at, "not YAML: %s", text)
		return nil
	}
	if len(f.Docs) == 0 || f.Docs[0].Body == nil {
		return &node{pos: at, kind: mapNode, keys: []*key{}}
	}
	if len(f.Docs) > 1 {
		l.fail(at, "the file has %d YAML documents, and a story has one", len(f.Docs))
	}
	b := &builder{l: l, file: name, anchors: map[string]ast.Node{}}
	return b.node(f.Docs[0].Body, 0)
}

func syntaxError(at program.Pos, err error) (program.Pos, string) {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		if t := e.GetToken(); t != nil && t.Position != nil {
			at.Line, at.Column = t.Position.Line, t.Position.Column
		}
		return at, e.GetMessage()
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return at, line
}

// A builder makes a tree of one document. Anchors are followed by node, so that an alias
// costs what it stands for and counts against the bounds.
type builder struct {
	l       *loader
	file    string
	anchors map[string]ast.Node
	open    []string // aliases that are being followed
}

func (b *builder) pos(n ast.Node) program.Pos {
	p := program.Pos{File: b.file, Line: 1, Column: 1}
	if t := n.GetToken(); t != nil && t.Position != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	return p
}

func (b *builder) node(n ast.Node, depth int) *node {
	at := b.pos(n)
	if b.l.nodes++; b.l.nodes > MaxNodes || depth > MaxDepth {
		if b.l.nodes == MaxNodes+1 || depth == MaxDepth+1 {
			b.l.fail(at, "the story is larger than %d parts, or nested deeper than %d", MaxNodes, MaxDepth)
		}
		return &node{pos: at}
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return b.mapping(at, n.Values, depth)
	case *ast.MappingValueNode:
		return b.mapping(b.pos(n.Key), []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		out := &node{pos: at, kind: listNode, list: make([]*node, 0, len(n.Values))}
		for _, it := range n.Values {
			out.list = append(out.list, b.node(it, depth+1))
		}
		return out
	case *ast.AnchorNode:
		b.anchors[n.Name.GetToken().Value] = n.Value
		return b.node(n.Value, depth)
	case *ast.AliasNode:
		return b.alias(n, depth)
	case *ast.TagNode:
		return b.node(n.Value, depth)
	}
	return b.scalar(at, n)
}

func (b *builder) alias(n *ast.AliasNode, depth int) *node {
	name := n.Value.GetToken().Value
	target, ok := b.anchors[name]
	for _, open := range b.open {
		if open == name {
			ok = false
		}
	}
	if !ok {
		b.l.fail(b.pos(n), "the alias *%s stands for nothing, or for itself", name)
		return &node{pos: b.pos(n)}
	}
	b.open = append(b.open, name)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	return b.node(target, depth+1)
}

func (b *builder) mapping(at program.Pos, values []*ast.MappingValueNode, depth int) *node {
	out := &node{pos: at, kind: mapNode, keys: make([]*key, 0, len(values))}
	for _, v := range values {
		if v.Key.Type() == ast.MergeKeyType {
			for _, k := range b.node(v.Value, depth+1).keys {
				if out.get(k.name) == nil {
					out.keys = append(out.keys, k)
				}
			}
			continue
		}
		k := &key{name: keyText(v.Key), pos: b.pos(v.Key)}
		if out.get(k.name) != nil {
			b.l.fail(k.pos, "the key %q stands twice", k.name)
			continue
		}
		k.val = b.node(v.Value, depth+1)
		out.keys = append(out.keys, k)
	}
	return out
}

func keyText(n ast.MapKeyNode) string {
	if s, ok := n.(ast.ScalarNode); ok {
		if v := s.GetValue(); v != nil {
			return fmt.Sprint(v)
		}
	}
	if t := n.GetToken(); t != nil {
		return t.Value
	}
	return n.String()
}

func (b *builder) scalar(at program.Pos, n ast.Node) *node {
	if b, ok := n.(*ast.LiteralNode); ok { // a block: its own value has the header in it
		return &node{pos: at, scalar: value.Of(b.Value.Value)}
	}
	s, ok := n.(ast.ScalarNode)
	if !ok {
		b.l.fail(at, "%s is nothing that a story can hold", n.Type())
		return &node{pos: at}
	}
	v, err := value.From(s.GetValue())
	if err != nil {
		b.l.fail(at, "%s", err)
	}
	return &node{pos: at, scalar: v}
}

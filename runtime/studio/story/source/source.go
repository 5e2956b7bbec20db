// Package source reads YAML into a tree that knows where everything stands.
//
// It is a leaf of the story studio: manifests, views and fixtures are read through it, so
// that a finding has a file, a line and a column. It knows no story. Aliases cost what
// they stand for, and everything has a bound.
package source

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The bounds of a file, and of what aliases make of it.
const (
	MaxFile  = 4 << 20 // bytes
	MaxNodes = 500_000 // of one story
	MaxDepth = 64
)

// A Pos is a place in a file.
type Pos struct {
	File   string `json:"file"` // relative to the story's folder, with slashes
	Line   int    `json:"line"`
	Column int    `json:"column"` // in runes, from 1
}

// The codes of problems that are a bound.
const (
	CodeLarge fault.Code = "STORY_SOURCE_TOO_LARGE" // more bytes, parts or depth than a story has
	CodeAlias fault.Code = "STORY_SOURCE_ALIAS"     // an alias of nothing, or of itself
)

// A Problem is something wrong with a file, and where. Code is set where it is a bound.
type Problem struct {
	Pos
	Code    fault.Code
	Message string
}

// A Reader reads the files of one story. Its bounds hold for all of them together.
type Reader struct {
	nodes    int
	problems []Problem
}

// Problems are those of all files that were read since it was last asked.
func (r *Reader) Problems() []Problem {
	list := r.problems
	r.problems = nil
	return list
}

// Nodes is how many parts it has read.
func (r *Reader) Nodes() int { return r.nodes }

// Count takes parts of a file that another Reader has read against the bounds.
func (r *Reader) Count(at Pos, nodes int) {
	was := r.nodes
	if r.nodes += nodes; r.nodes > MaxNodes && was <= MaxNodes {
		r.refuse(CodeLarge, at, "the story is larger than %d parts", MaxNodes)
	}
}

func (r *Reader) fail(at Pos, format string, args ...any) { r.refuse("", at, format, args...) }

func (r *Reader) refuse(code fault.Code, at Pos, format string, args ...any) {
	r.problems = append(r.problems, Problem{at, code, fmt.Sprintf(format, args...)})
}

// A Node is a part of a YAML file that knows where it stands.
type Node struct {
	Pos    Pos
	Kind   Kind
	Scalar value.Value // where it is neither a list nor a mapping
	List   []*Node
	Keys   []*Key // of a mapping, in order
}

// A Kind is what a node is.
type Kind byte

// The kinds of nodes.
const (
	Scalar Kind = iota
	List
	Map
)

// A Key is one member of a mapping.
type Key struct {
	Name string
	Pos  Pos // of the name
	Val  *Node
}

// Get is the value under a key, or nil; also of no node.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	for _, k := range n.Keys {
		if k.Name == name {
			return k.Val
		}
	}
	return nil
}

// Key is a member of a mapping, or nil.
func (n *Node) Key(name string) *Key {
	for _, k := range n.Keys {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Items are the members of a list; also of no node.
func (n *Node) Items() []*Node {
	if n == nil {
		return nil
	}
	return n.List
}

// Copy is a node whose members can be added to without changing n.
func (n *Node) Copy() *Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Keys, c.List = slices.Clone(n.Keys), slices.Clone(n.List)
	return &c
}

// IsNull reports nothing: no node, or null.
func (n *Node) IsNull() bool {
	return n == nil || n.Kind == Scalar && n.Scalar.IsNil()
}

// IsText reports a text.
func (n *Node) IsText() bool {
	return n != nil && n.Kind == Scalar && n.Scalar.Kind() == value.String
}

// Value is all of it as a value.
func (n *Node) Value() value.Value {
	if n == nil {
		return value.Value{}
	}
	switch n.Kind {
	case List:
		items := make([]value.Value, len(n.List))
		for i, it := range n.List {
			items[i] = it.Value()
		}
		return value.NewList(items...)
	case Map:
		m := make(map[string]value.Value, len(n.Keys))
		for _, k := range n.Keys {
			m[k.Name] = k.Val.Value()
		}
		return value.NewMap(m)
	}
	return n.Scalar
}

// What says what a node is, for findings.
func (n *Node) What() string {
	switch {
	case n.Kind == List:
		return "a list"
	case n.Kind == Map:
		return "a mapping"
	case n.Scalar.IsNil():
		return "nothing"
	}
	return fmt.Sprintf("the %s %s", n.Scalar.Kind(), clip(n.Scalar))
}

// clip is a value as JSON, or the beginning of a long text in quotes.
func clip(v value.Value) string {
	const most = 80
	if r := []rune(v.Str()); len(r) > most {
		return value.Of(string(r[:most-1]) + "…").JSON()
	}
	return v.JSON()
}

// Parse reads a YAML document. What does not parse is a problem, and gives nil.
func (r *Reader) Parse(name string, raw []byte) *Node {
	at := Pos{File: name, Line: 1, Column: 1}
	if len(raw) > MaxFile {
		r.refuse(CodeLarge, at, "the file has more bytes than the bound is, %d", MaxFile)
		return nil
	}
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF")) // as editors of some systems begin a file
	if !utf8.Valid(raw) {
		good := raw[:len(raw)-len(bytes.TrimLeftFunc(raw, func(c rune) bool { return c != utf8.RuneError }))]
		at.Line += bytes.Count(good, []byte("\n"))
		at.Column += utf8.RuneCount(good[bytes.LastIndexByte(good, '\n')+1:])
		r.fail(at, "not UTF-8: save the file in that encoding")
		return nil
	}
	if line, why := tangled(raw); why != "" {
		at.Line = line
		r.refuse(CodeLarge, at, "not read: %s", why)
		return nil
	}
	f, err := parser.ParseBytes(raw, 0)
	if err != nil {
		at, text := syntaxError(at, err)
		r.fail(at, "not YAML: %s", text)
		return nil
	}
	if len(f.Docs) == 0 || f.Docs[0].Body == nil {
		return &Node{Pos: at, Kind: Map, Keys: []*Key{}}
	}
	if len(f.Docs) > 1 {
		r.fail(at, "the file has %d YAML documents, and a story has one", len(f.Docs))
	}
	b := &builder{r: r, file: name, anchors: map[string]ast.Node{}}
	return b.node(f.Docs[0].Body, 0)
}

func syntaxError(at Pos, err error) (Pos, string) {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		if t := e.GetToken(); t != nil && t.Position != nil {
			at.Line, at.Column = t.Position.Line, t.Position.Column
		}
		return at, e.GetMessage()
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return at, line
}

// A builder makes a tree of one document. Anchors are followed by Node, so that an alias
// costs what it stands for and counts against the bounds.
type builder struct {
	r       *Reader
	file    string
	anchors map[string]ast.Node
	open    []string // aliases that are being followed
}

func (b *builder) pos(n ast.Node) Pos {
	p := Pos{File: b.file, Line: 1, Column: 1}
	if t := n.GetToken(); t != nil && t.Position != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	return p
}

func (b *builder) node(n ast.Node, depth int) *Node {
	at := b.pos(n)
	if b.r.nodes++; b.r.nodes > MaxNodes || depth > MaxDepth {
		if b.r.nodes == MaxNodes+1 || depth == MaxDepth+1 {
			b.r.refuse(CodeLarge, at, "the story is larger than %d parts, or nested deeper than %d", MaxNodes, MaxDepth)
		}
		return &Node{Pos: at}
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			at = b.pos(n.Values[0].Key) // its own token is the colon behind that
		}
		return b.mapping(at, n.Values, depth)
	case *ast.MappingValueNode:
		return b.mapping(b.pos(n.Key), []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		out := &Node{Pos: at, Kind: List, List: make([]*Node, 0, len(n.Values))}
		for _, it := range n.Values {
			out.List = append(out.List, b.node(it, depth+1))
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

func (b *builder) alias(n *ast.AliasNode, depth int) *Node {
	name := n.Value.GetToken().Value
	target, ok := b.anchors[name]
	for _, open := range b.open {
		if open == name {
			ok = false
		}
	}
	if !ok {
		b.r.refuse(CodeAlias, b.pos(n), "the alias *%s stands for nothing, or for itself", name)
		return &Node{Pos: b.pos(n)}
	}
	b.open = append(b.open, name)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	return b.node(target, depth+1)
}

func (b *builder) mapping(at Pos, values []*ast.MappingValueNode, depth int) *Node {
	out := &Node{Pos: at, Kind: Map, Keys: make([]*Key, 0, len(values))}
	for _, v := range values {
		if v.Key.Type() == ast.MergeKeyType {
			for _, k := range b.node(v.Value, depth+1).Keys {
				if out.Get(k.Name) == nil {
					out.Keys = append(out.Keys, k)
				}
			}
			continue
		}
		k := &Key{Name: keyText(v.Key), Pos: b.pos(v.Key)}
		if out.Get(k.Name) != nil {
			b.r.fail(k.Pos, "the key %q stands twice", k.Name)
			continue
		}
		k.Val = b.node(v.Value, depth+1)
		out.Keys = append(out.Keys, k)
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

func (b *builder) scalar(at Pos, n ast.Node) *Node {
	if b, ok := n.(*ast.LiteralNode); ok { // a block: its own value has the header in it
		return &Node{Pos: at, Scalar: value.Of(b.Value.Value)}
	}
	s, ok := n.(ast.ScalarNode)
	if !ok {
		b.r.fail(at, "%s is nothing that a story can hold", n.Type())
		return &Node{Pos: at}
	}
	v, err := value.From(s.GetValue())
	if err != nil {
		b.r.fail(at, "%s", err)
	}
	return &Node{Pos: at, Scalar: v}
}

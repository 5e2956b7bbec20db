package canon

import (
	"bytes"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The bounds of a tree.
const (
	MaxTreeDepth = 200      // nested objects and arrays
	MaxTreeBytes = 32 << 20 // of the text
)

// The codes of the tree.
const (
	CodeTreeSyntax  fault.Code = "JSON_SYNTAX"    // not JSON
	CodeTreeDepth   fault.Code = "JSON_TOO_DEEP"  // more than MaxTreeDepth
	CodeTreeSize    fault.Code = "JSON_TOO_LARGE" // more than MaxTreeBytes
	CodeTreePointer fault.Code = "JSON_POINTER"   // not RFC 6901, or into a value that has no such place
)

// A Kind is what a Node is.
type Kind byte

// The kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String is the kind in a reader's words, for messages.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// A Node is a JSON value that remembers how it was written: the order of its keys,
// keys that came twice, the text of its numbers, the escapes in its strings and the
// white space around all of them. What nobody changes comes out byte for byte.
//
// Make one with ParseTree, NewText, NewNumber, NewBool, NewNull, NewObject or
// NewArray. A Node is not safe for use by several goroutines while one changes it.
type Node struct {
	kind        Kind
	raw         []byte // a scalar's token
	lead, trail []byte // white space before and after it in its parent
	inner       []byte // white space in an empty container
	items       []*Node
	members     []member
	places      map[string]int // of the last member of each name, once there are manyMembers
}

// manyMembers is where an object gets an index, so that hostile files stay linear.
const manyMembers = 32

type member struct {
	lead []byte // white space before the name
	raw  []byte // the name's token
	mid  []byte // white space before the colon
	name string
	val  *Node
}

// ParseTree reads one JSON value. White space around it is allowed and forgotten.
// Invalid UTF-8 and lone surrogates in strings are kept as written; Text reads them
// as U+FFFD. A byte order mark is a syntax error: it belongs to the file.
func ParseTree(src []byte) (*Node, error) {
	const op = "canon.parse"
	if len(src) > MaxTreeBytes {
		return nil, fault.New(CodeTreeSize, op, "the text has %d bytes, the bound is %d", len(src), MaxTreeBytes)
	}
	src = bytes.Clone(src)
	p := &parser{src: src, dec: jsontext.NewDecoder(bytes.NewReader(src),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	tok, _, err := p.next()
	if err != nil {
		return nil, p.explain(op, err)
	}
	n, err := p.valueOf(tok, nil, 0)
	if err != nil {
		return nil, p.explain(op, err)
	}
	if _, err := p.dec.ReadToken(); err != io.EOF {
		return nil, fault.New(CodeTreeSyntax, op, "something follows the value at byte %d", p.at)
	}
	return n, nil
}

type parser struct {
	src []byte
	dec *jsontext.Decoder
	at  int // behind the last token
}

func (p *parser) explain(op string, err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}
	if err == io.EOF {
		return fault.New(CodeTreeSyntax, op, "the text is empty")
	}
	return fault.Wrap(err, CodeTreeSyntax, op, "not JSON near byte %d of %d", p.at, len(p.src))
}

// next reads one token and returns it and the white space, commas and colons that
// stood before it.
func (p *parser) next() (tok, before []byte, err error) {
	switch p.dec.PeekKind() {
	case '{', '[', '}', ']':
		if _, err := p.dec.ReadToken(); err != nil {
			return nil, nil, err
		}
		end := int(p.dec.InputOffset())
		tok = p.src[end-1 : end]
	default:
		v, err := p.dec.ReadValue()
		if err != nil {
			return nil, nil, err
		}
		end := int(p.dec.InputOffset())
		tok = p.src[end-len(v) : end]
	}
	end := int(p.dec.InputOffset())
	before = p.src[p.at : end-len(tok)]
	p.at = end
	return tok, before, nil
}

func (p *parser) valueOf(tok, lead []byte, depth int) (*Node, error) {
	n := &Node{lead: lead, raw: tok}
	switch tok[0] {
	case '{', '[':
		if depth == MaxTreeDepth {
			return nil, fault.New(CodeTreeDepth, "canon.parse", "byte %d is nested deeper than %d", p.at, MaxTreeDepth)
		}
		n.raw = nil
		if tok[0] == '{' {
			n.kind = Object
			return n, p.object(n, depth+1)
		}
		n.kind = Array
		return n, p.array(n, depth+1)
	case '"':
		n.kind = String
	case 't', 'f':
		n.kind = Bool
	case 'n':
		n.kind = Null
	default:
		n.kind = Number
	}
	return n, nil
}

func (p *parser) object(n *Node, depth int) error {
	for {
		tok, before, err := p.next()
		if err != nil {
			return err
		}
		trail, lead, comma := bytes.Cut(before, []byte(","))
		if last := len(n.members) - 1; last >= 0 {
			n.members[last].val.trail = trail
		} else {
			n.inner = trail
		}
		if tok[0] == '}' {
			n.reindex()
			return nil
		}
		if !comma {
			lead, n.inner = trail, nil
		}
		m := member{lead: lead, raw: tok, name: unquote(tok)}
		vtok, vbefore, err := p.next()
		if err != nil {
			return err
		}
		mid, vlead, _ := bytes.Cut(vbefore, []byte(":"))
		m.mid = mid
		if m.val, err = p.valueOf(vtok, vlead, depth); err != nil {
			return err
		}
		n.members = append(n.members, m)
	}
}

func (p *parser) array(n *Node, depth int) error {
	for {
		tok, before, err := p.next()
		if err != nil {
			return err
		}
		trail, lead, comma := bytes.Cut(before, []byte(","))
		if last := len(n.items) - 1; last >= 0 {
			n.items[last].trail = trail
		} else {
			n.inner = trail
		}
		if tok[0] == ']' {
			return nil
		}
		if !comma {
			lead, n.inner = trail, nil
		}
		item, err := p.valueOf(tok, lead, depth)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
}

func unquote(tok []byte) string {
	b, _ := jsontext.AppendUnquote(nil, tok) // lone surrogates become U+FFFD; the token was checked
	return string(b)
}

func quote(s string) []byte {
	b, _ := jsontext.AppendQuote(nil, s) // invalid UTF-8 becomes U+FFFD
	return b
}

// NewText is a string.
func NewText(s string) *Node { return &Node{kind: String, raw: quote(s)} }

// NewInt is a whole number.
func NewInt(i int64) *Node { return &Node{kind: Number, raw: strconv.AppendInt(nil, i, 10)} }

// NewBool is true or false.
func NewBool(b bool) *Node { return &Node{kind: Bool, raw: strconv.AppendBool(nil, b)} }

// NewNull is null.
func NewNull() *Node { return &Node{kind: Null, raw: []byte("null")} }

// NewObject is an object without members.
func NewObject() *Node { return &Node{kind: Object} }

// NewArray is a list of copies of the items.
func NewArray(items ...*Node) *Node {
	n := &Node{kind: Array}
	for _, it := range items {
		n.items = append(n.items, it.Clone())
	}
	return n
}

// Kind says what n is. A nil Node, a place that is not there, is Null.
func (n *Node) Kind() Kind {
	if n == nil {
		return Null
	}
	return n.kind
}

// Text is the decoded string, or "" when n is not one.
func (n *Node) Text() string {
	if n.Kind() != String {
		return ""
	}
	return unquote(n.raw)
}

// Raw is the token of a scalar as written, or "" for a container.
func (n *Node) Raw() string {
	if n == nil {
		return ""
	}
	return string(n.raw)
}

// Len is the number of members or items.
func (n *Node) Len() int {
	if n == nil {
		return 0
	}
	return len(n.members) + len(n.items)
}

// Items ranges over a list.
func (n *Node) Items() iter.Seq2[int, *Node] {
	return func(yield func(int, *Node) bool) {
		if n == nil {
			return
		}
		for i, it := range n.items {
			if !yield(i, it) {
				return
			}
		}
	}
}

// Members ranges over an object in the order written, doubled keys included.
func (n *Node) Members() iter.Seq2[string, *Node] {
	return func(yield func(string, *Node) bool) {
		if n == nil {
			return
		}
		for _, m := range n.members {
			if !yield(m.name, m.val) {
				return
			}
		}
	}
}

// Field is the member of that name, or nil. Of doubled keys it is the last, as
// JavaScript reads them.
func (n *Node) Field(name string) *Node {
	if n == nil {
		return nil
	}
	if i := n.find(name); i >= 0 {
		return n.members[i].val
	}
	return nil
}

func (n *Node) reindex() {
	n.places = nil
	if len(n.members) < manyMembers {
		return
	}
	n.places = make(map[string]int, len(n.members))
	for i, m := range n.members {
		n.places[m.name] = i
	}
}

func (n *Node) find(name string) int {
	if n.places != nil {
		if i, ok := n.places[name]; ok {
			return i
		}
		return -1
	}
	for i, m := range slices.Backward(n.members) {
		if m.name == name {
			return i
		}
	}
	return -1
}

// Clone is a deep copy.
func (n *Node) Clone() *Node {
	if n == nil {
		return nil
	}
	c := *n
	c.items = slices.Clone(n.items)
	for i := range c.items {
		c.items[i] = c.items[i].Clone()
	}
	c.members = slices.Clone(n.members)
	c.places = maps.Clone(n.places)
	for i := range c.members {
		c.members[i].val = c.members[i].val.Clone()
	}
	return &c
}

// Bytes is the JSON text: what was read, but for what was changed.
func (n *Node) Bytes() []byte { return n.append(nil) }

func (n *Node) append(b []byte) []byte {
	switch n.Kind() {
	case Object:
		b = append(append(b, '{'), n.inner...)
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(append(b, m.lead...), m.raw...), m.mid...)
			b = append(append(b, ':'), m.val.lead...)
			b = append(m.val.append(b), m.val.trail...)
		}
		return append(b, '}')
	case Array:
		b = append(append(b, '['), n.inner...)
		for i, it := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(it.append(append(b, it.lead...)), it.trail...)
		}
		return append(b, ']')
	}
	if n == nil {
		return append(b, "null"...)
	}
	return append(b, n.raw...)
}

// Equal reports whether a and b are the same value: keys in any order, the last of
// doubled keys, strings decoded, numbers by their text. Two nils are equal.
func Equal(a, b *Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case Array:
		return slices.EqualFunc(a.items, b.items, Equal)
	case Object:
		am, bm := a.lasts(), b.lasts()
		if len(am) != len(bm) {
			return false
		}
		for name, v := range am {
			if w, ok := bm[name]; !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	case String:
		return a.Text() == b.Text()
	}
	return bytes.Equal(a.raw, b.raw)
}

func (n *Node) lasts() map[string]*Node {
	m := make(map[string]*Node, len(n.members))
	for name, v := range n.Members() {
		m[name] = v
	}
	return m
}

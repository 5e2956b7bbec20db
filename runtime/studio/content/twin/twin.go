// Package twin lays a canonical body over the document that it was read from, its
// twin: a value that equals what reading gave leaves the twin's tokens alone, a changed
// one is written, a cleared one goes. So keys that nobody here knows survive, in their
// order, and what a format cannot hold is said as data.
//
// It is the pure engine below content/card and the adapters of other platforms' formats:
// a format is a table of Fields. It knows no format, opens no file and decides no
// version. Where a table is not enough, a format brings a Codec of its own.
package twin

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// A Verdict says what becomes of a value that a format has no place for.
type Verdict string

// The verdicts.
const (
	Dropped      Verdict = "dropped"
	Approximated Verdict = "approximated" // a part of it, or in another form
	Renamed      Verdict = "renamed"      // under another name, as an id or a variable
	Embedded     Verdict = "embedded"     // kept in an extension that few programs read
)

// A Loss is one value that does not cross to a format whole.
type Loss struct {
	Path    string  `json:"path"`   // of the canonical body; "original:" and a pointer for what only the original file holds
	Value   string  `json:"value"`  // clipped
	Target  string  `json:"target"` // the format
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"`
}

// A Field ties a place in the canonical body to its place in a document.
type Field struct {
	Path     string // in the canonical body, or in an item of Objects; "" is Rest
	Ptr      string // in the document; "" is nowhere: what stands at Path is dropped
	Codec    Codec
	Required bool   // the format demands the key: cleared means the codec's Empty
	Foreign  string // why it is a loss where it stands at Ptr, for a key that few programs read; "" for none
	Reason   string // why it is dropped, where Ptr is ""
	Over     *Over  // a value of several keys; Ptr, Codec, Required and Foreign say nothing then
}

// An Over is a value that several keys of a document mean together.
type Over struct {
	// Read gives the canonical value, or nil, and what could not be taken as it stands.
	Read func(doc *canon.Node) (val *canon.Node, problem string)
	// Write changes doc so that Read gives val, which is nil where it was cleared. It is
	// only called where val is not what Read gave. The paths of losses are seen from val.
	Write func(doc, val *canon.Node) []Loss
}

// Read gives the canonical body of a document, and what could not be taken as it stands.
func Read(doc *canon.Node, fields []Field) (body *canon.Node, problems []string) {
	body = canon.NewObject()
	for _, f := range fields {
		val, problem, at := (*canon.Node)(nil), "", f.Ptr
		switch {
		case f.Path == "":
			continue
		case f.Over != nil:
			at = f.Path
			val, problem = f.Over.Read(doc)
		case f.Ptr != "":
			val, problem = f.Codec.Read(doc.At(f.Ptr))
		}
		if problem != "" {
			problems = append(problems, fmt.Sprintf("%s: %s", at, problem))
		}
		if val != nil {
			must(body.Set(f.Path, val))
		}
	}
	return body, problems
}

// Lay writes body over doc, which it changes: the twin, or an empty document of the
// format. The losses have no Target yet.
func Lay(doc *canon.Node, fields []Field, body *canon.Node) []Loss {
	was, _ := Read(doc, fields)
	l := layer{doc: doc}
	for _, f := range fields {
		if f.Path == "" {
			l.rest(fields, body, "", f.Reason)
			continue
		}
		l.field(f, body.At(f.Path), was.At(f.Path))
	}
	return l.losses
}

type layer struct {
	doc    *canon.Node
	losses []Loss
}

func (l *layer) lose(path string, val *canon.Node, verdict Verdict, why string) {
	l.losses = append(l.losses, Loss{Path: path, Value: Clip(val), Verdict: verdict, Reason: why})
}

// rest says that what no field names is dropped.
func (l *layer) rest(fields []Field, n *canon.Node, at, why string) {
	for name, v := range n.Members() {
		path := at + canon.JoinPointer(name)
		named, above := false, false
		for _, f := range fields {
			named = named || f.Path == path
			above = above || strings.HasPrefix(f.Path, path+"/")
		}
		switch {
		case named:
		case above && v.Kind() == canon.Object:
			l.rest(fields, v, path, why)
		default:
			l.lose(path, v, Dropped, why)
		}
	}
}

// add takes losses whose paths are seen from the value at path.
func (l *layer) add(path string, losses []Loss) {
	for _, loss := range losses {
		loss.Path = path + loss.Path
		l.losses = append(l.losses, loss)
	}
}

func (l *layer) field(f Field, now, was *canon.Node) {
	if f.Over != nil {
		if !canon.Equal(now, was) {
			l.add(f.Path, f.Over.Write(l.doc, now))
		}
		return
	}
	if f.Ptr == "" {
		if now != nil {
			l.lose(f.Path, now, Dropped, f.Reason)
		}
		return
	}
	lossy := false
	if now != nil && f.Codec.Lossy != nil {
		if why := f.Codec.Lossy(now); why != "" {
			l.lose(f.Path, now, Approximated, why)
			lossy = true
		}
	}
	if now != nil && f.Codec.Lay != nil { // also where nothing changed: its items' losses count
		put, losses := f.Codec.Lay(now, l.doc.At(f.Ptr))
		l.add(f.Path, losses)
		if !canon.Equal(now, was) {
			if f.Foreign != "" {
				l.lose(f.Path, now, Embedded, f.Foreign)
			}
			l.set(f.Ptr, put)
		}
		return
	}
	if canon.Equal(now, was) {
		return
	}
	if now != nil && f.Foreign != "" && !lossy {
		l.lose(f.Path, now, Embedded, f.Foreign)
	}
	var put *canon.Node
	if now != nil {
		put = f.Codec.Write(now, l.doc.At(f.Ptr))
	}
	switch {
	case put != nil:
		l.set(f.Ptr, put)
	case f.Required:
		def, err := canon.ParseTree([]byte(f.Codec.Empty))
		must(err)
		l.set(f.Ptr, def)
	default:
		_, err := l.doc.Delete(f.Ptr)
		must(err)
	}
}

// set writes at ptr; a parent that is no object, as "extensions": null, is replaced,
// because nothing can be kept in it.
func (l *layer) set(ptr string, v *canon.Node) {
	if v == nil { // the codec has nothing to write
		_, err := l.doc.Delete(ptr)
		must(err)
		return
	}
	if l.doc.Set(ptr, v) == nil {
		return
	}
	toks, err := canon.SplitPointer(ptr)
	must(err)
	for i := range toks[:len(toks)-1] {
		parent := canon.JoinPointer(toks[:i+1]...)
		if n := l.doc.At(parent); n.Kind() != canon.Object {
			if n.Kind() != canon.Null {
				l.lose("original:"+parent, n, Dropped, "it is "+n.Kind().String()+" where an object belongs, and a value must be kept there")
			}
			must(l.doc.Set(parent, canon.NewObject()))
		}
	}
	must(l.doc.Set(ptr, v))
}

// must is for pointers of our own tables into objects of our own making.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Clip is a value for a person: at most 120 characters.
func Clip(n *canon.Node) string {
	s := n.Text()
	if n.Kind() != canon.String {
		s = string(n.Bytes())
	}
	if utf8.RuneCountInString(s) <= 120 {
		return s
	}
	return string([]rune(s)[:119]) + "…"
}

package content

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/secret"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// The bounds of what is said of one original.
const (
	mostKeys    = 40       // keys that are named one by one; what is beyond is counted
	mostReads   = 400      // of the original, to find out which keys are used
	mostCompare = 48 << 20 // bytes of all those reads
)

// InOriginal begins the path of a loss that only the imported file holds.
const InOriginal = "original:"

// leftBehind names what only the originals of other formats hold and out does not: keys
// that no canonical field was read from, and files of an archive. What losses name
// already is not named again.
func (t *Formats) leftBehind(w Writing, format string, out []byte, losses []Loss) (more []Loss) {
	made := Open("made", out)
	for _, e := range w.Others {
		i := slices.IndexFunc(t.list, func(f Format) bool { return f.About().Name == e.Format })
		if i < 0 || w.Twin != nil && string(w.Twin.Raw) == string(e.Raw) {
			continue
		}
		o := escrowed{formats: t, format: t.list[i], file: openedBy(t.list[i], e.Name, e.Raw), kind: w.Piece.Kind, title: w.Piece.Title}
		for _, d := range made.Docs {
			o.others = append(o.others, wrappings(d.Tree)...)
		}
		rows := append(o.keys(losses), o.entries(made, w.Body)...)
		platform := t.list[i].About().Platform
		for _, l := range rows {
			l.Path, l.Target, l.Verdict = InOriginal+l.Path, format, twin.Dropped
			if l.Reason == "" {
				l.Reason = "only the original file (" + platform + ") has it"
			}
			more = append(more, l)
		}
	}
	return more
}

// openedBy is a file of a format, with the document that only the format sees.
func openedBy(format Format, name string, data []byte) File {
	f := Open(name, data)
	if u, ok := format.(Unpacker); ok {
		if doc, err := u.Unpack(f); err == nil {
			f.Docs = append(f.Docs, doc)
		}
	}
	return f
}

// wrappings are a document as it is, without its envelope, and in one: what one format
// keeps at its root another keeps in its data.
func wrappings(doc *canon.Node) []*canon.Node {
	within := canon.NewObject()
	must(within.Set("/data", doc))
	return []*canon.Node{doc, doc.Field("data"), within}
}

// An escrowed is a file of another format that a piece came from.
type escrowed struct {
	formats *Formats
	format  Format
	file    File
	kind    string // of the piece
	title   string
	others  []*canon.Node // documents that have what they have: the file that is made, and what the format itself writes for the body alone
	doc     *canon.Node
	base    []Found
	inside  []string
	reads   int // that are left
	short   bool
}

// keys are those of the document that neither the body nor the made file has.
func (o *escrowed) keys(said []Loss) (rows []Loss) {
	if o.doc = mainDoc(o.file); o.doc == nil {
		return nil
	}
	r, err := o.formats.read(o.format, o.file)
	if err != nil {
		return nil // it does not read any more: nothing can be said of its keys
	}
	o.base, o.inside = r.Found, r.Inside
	o.reads = max(1, min(mostReads, mostCompare/max(1, len(o.file.Raw))))
	if plain := o.plain(); plain != nil {
		o.others = append(o.others, plain)
	}
	var asked []string
	o.differ(o.doc, o.others, "", func(ptr string) {
		if !isSaid(ptr, said) && !o.isCopy(ptr) && !o.goesWith(ptr, said) {
			asked = append(asked, ptr)
		}
	})
	return o.told(o.unknown(o.unused(asked)))
}

// mainDoc is the document of a file that counts.
func mainDoc(f File) *canon.Node {
	for _, keyword := range []string{"", carrier.CCV3, carrier.Chara} {
		for _, d := range f.Docs {
			if d.Keyword == keyword && d.Tree != nil {
				return d.Tree
			}
		}
	}
	if len(f.Docs) > 0 {
		return f.Docs[0].Tree
	}
	return nil
}

// plain is what the format writes for what it read, with no original to lay it over; nil
// where it writes nothing.
func (o *escrowed) plain() *canon.Node {
	im := Imported{Format: o.format.About().Name}
	var r Reading
	for _, found := range o.base {
		found.Body = found.Body.Clone()
		r.Found = append(r.Found, found)
	}
	if im.build(o.file, r) != nil {
		return nil
	}
	f, err := o.formats.Named(o.formats.written(im.Format), o.kind)
	if err != nil {
		return nil
	}
	w := Writing{}
	for i := range im.Pieces {
		p := im.Pieces[i]
		p.Escrow = nil
		if p.Kind == o.kind && (w.Body == nil || p.Title == o.title) {
			w.Piece = p
			if w.Body, err = canon.ParseTree(p.Body); err != nil {
				return nil
			}
		}
		w.Linked = append(w.Linked, p)
	}
	if o.file.Carrier.Kind == carrier.PNG { // a picture to write into, without its cards
		if bare, err := carrier.WritePNG(o.file.Raw, nil, nil); err == nil {
			w.Piece.Escrow = []store.Escrow{{Format: "picture", Name: o.file.Name, Raw: bare}}
			w.Others = w.Piece.Escrow
		}
	}
	if w.Body == nil {
		return nil
	}
	out, err := f.Write(w)
	if err != nil {
		return nil
	}
	return mainDoc(openedBy(f, o.file.Name, out.Data))
}

// differ gives the places of n that none of the others has as it is there. Of a part
// that no other has at all it gives the place of the whole.
func (o *escrowed) differ(n *canon.Node, others []*canon.Node, at string, found func(ptr string)) {
	if isEmpty(n) {
		return
	}
	var beside []*canon.Node
	for _, other := range others {
		switch {
		case other == nil:
		case alike(n, other):
			return
		case n.Kind() == other.Kind() && n.Len() > 0:
			beside = append(beside, other)
		}
	}
	if len(beside) == 0 && at != "" {
		found(at)
		return
	}
	for tok, v := range children(n) {
		var theirs []*canon.Node
		for _, b := range beside {
			theirs = append(theirs, b.At(tok))
		}
		o.differ(v, theirs, at+tok, found)
	}
}

// children are members and items by their pointers; of doubled names the last.
func children(n *canon.Node) func(yield func(tok string, v *canon.Node) bool) {
	return func(yield func(string, *canon.Node) bool) {
		for name, v := range n.Members() {
			if v == n.Field(name) && !yield(canon.JoinPointer(name), v) {
				return
			}
		}
		for i, v := range n.Items() {
			if !yield("/"+strconv.Itoa(i), v) {
				return
			}
		}
	}
}

// isEmpty reports a value that says nothing.
func isEmpty(n *canon.Node) bool {
	switch n.Kind() {
	case canon.Null:
		return true
	case canon.String:
		return n.Text() == ""
	case canon.Array, canon.Object:
		for _, v := range children(n) {
			if !isEmpty(v) {
				return false
			}
		}
		return true
	}
	return false
}

// alike reports values that are equal, but for how a number or a switch is spelled.
func alike(a, b *canon.Node) bool {
	if canon.Equal(a, b) {
		return true
	}
	scalar := func(n *canon.Node) string {
		switch n.Kind() {
		case canon.String:
			return n.Text()
		case canon.Number, canon.Bool:
			return n.Raw()
		}
		return ""
	}
	text := scalar(a)
	return text != "" && text == scalar(b)
}

// isSaid reports a place that a loss names, or a part of such a one.
func isSaid(ptr string, said []Loss) bool {
	for _, l := range said {
		if at, ok := strings.CutPrefix(l.Path, InOriginal); ok && at != "" && (ptr == at || strings.HasPrefix(ptr, at+"/")) {
			return true
		}
	}
	return false
}

// goesWith reports a part of another piece in the same file, where the link to that
// piece is lost: then it is lost whole.
func (o *escrowed) goesWith(ptr string, said []Loss) bool {
	for _, from := range o.base {
		count := map[string]int{}
		for _, l := range from.Links {
			item := l.Path + "/" + strconv.Itoa(count[l.Path])
			count[l.Path]++
			if at := o.base[l.To].Place; at == "" || ptr != at && !strings.HasPrefix(ptr, at+"/") {
				continue
			}
			if slices.ContainsFunc(said, func(loss Loss) bool {
				return loss.Path == l.Path || loss.Path == item || strings.HasPrefix(l.Path, loss.Path+"/")
			}) {
				return true
			}
		}
	}
	return false
}

// isCopy reports the root's copy of what stands in the data of a card, and the marks of
// a card's version.
func (o *escrowed) isCopy(ptr string) bool {
	if strings.Count(ptr, "/") != 1 {
		return false
	}
	for _, in := range []string{"/data", "/data/extensions"} {
		if v := o.doc.At(in + ptr); v != nil && alike(v, o.doc.At(ptr)) {
			return true
		}
	}
	return ptr == "/spec" || ptr == "/spec_version"
}

// told is a row for each key; one that items of a list have alike has one row for all.
func (o *escrowed) told(ptrs []string) (rows []Loss) {
	shown := o.doc.Clone()
	secret.Strip(shown)
	var order []string
	places := map[string][]string{}
	for _, ptr := range ptrs {
		p := o.pattern(ptr)
		if places[p] == nil {
			order = append(order, p)
		}
		places[p] = append(places[p], ptr)
	}
	for _, p := range order[:min(len(order), mostKeys)] {
		l := Loss{Path: places[p][0], Value: "a credential"}
		if v := shown.At(l.Path); v != nil {
			l.Value = twin.Clip(v)
		}
		if n := len(places[p]); n > 1 {
			l.Path = p
			l.Value = fmt.Sprintf("%s, in %d places", l.Value, n)
		}
		rows = append(rows, l)
	}
	if n := len(order) - mostKeys; n > 0 {
		rows = append(rows, Loss{Value: fmt.Sprintf("%d more keys", n), Reason: fmt.Sprintf("the first %d are named", mostKeys)})
	}
	if o.short {
		rows = append(rows, Loss{Value: "keys", Reason: "the original is too large to compare key by key: there may be more that only it has"})
	}
	return rows
}

// pattern is a pointer with * for the items of lists, and of objects named by numbers.
func (o *escrowed) pattern(ptr string) string {
	toks := strings.Split(ptr, "/")
	for i := 1; i < len(toks)-1; i++ {
		if _, err := strconv.Atoi(toks[i]); err == nil {
			toks[i] = "*"
		}
	}
	return strings.Join(toks, "/")
}

// entries are the files of an archive that the made file does not have. One that an
// asset names is the asset's loss.
func (o *escrowed) entries(made File, body *canon.Node) (rows []Loss) {
	named := map[string]bool{carrier.CardName: true}
	for _, a := range body.At("/media/assets").Items() {
		if _, name, ok := strings.Cut(a.Field("uri").Text(), "://"); ok {
			named[name] = true
		}
	}
	var names []string
	for name := range o.file.Carrier.Entries {
		if !named[name] && !made.Carrier.Entries[name] && !strings.HasSuffix(name, "/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i, name := range names {
		if i == mostKeys {
			return append(rows, Loss{Value: fmt.Sprintf("%d more files", len(names)-i), Reason: fmt.Sprintf("the first %d are named", mostKeys)})
		}
		l := Loss{Path: name, Value: "a file of the archive", Reason: "only an archive carries it"}
		switch {
		case slices.Contains(o.inside, name):
			l.Value, l.Reason = "a module of Risu", "its lorebook, scripts and triggers go with the card; the rest of it only an archive carries"
		case name == carrier.Module:
			l.Value, l.Reason = "a module of Risu", "it is kept in the archive and not read; only an archive carries it"
		}
		rows = append(rows, l)
	}
	return rows
}

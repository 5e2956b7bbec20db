package risu

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/risulore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/risuscript"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// A moduleFormat is a module in a file of its own: a lorebook and regex scripts, with
// triggers and assets that stay in it.
type moduleFormat struct{ spell *rpack.Speller }

// About implements content.Format. Without a table nothing is written.
func (f moduleFormat) About() content.About {
	kinds := []string{content.KindLorebook, content.KindRegex}
	a := content.About{Name: nameModule, Platform: "Risu", Ext: ".risum", Kinds: kinds, Closed: f.spell.Closed("module", ".risum")}
	if a.Closed == nil {
		a.Writes = kinds
	}
	return a
}

// Score implements content.Format.
func (f moduleFormat) Score(file content.File) float64 {
	switch {
	case file.Doc != nil || file.Err == nil:
	case strings.HasSuffix(strings.ToLower(file.Name), ".risum"), rpack.IsModule(file.Raw):
		return 0.9
	}
	return 0
}

// Unpack implements content.Unpacker.
func (f moduleFormat) Unpack(file content.File) (content.Doc, error) {
	m, err := f.spell.Module(file.Name, file.Raw)
	return content.Doc{Tree: m.Doc}, err
}

// moduleFields are what a module says of either list, as a piece of its own.
var moduleFields = []twin.Field{
	{Path: "/name", Ptr: rpack.Name, Codec: twin.Text},
	{Path: "/description", Ptr: rpack.About, Codec: twin.Text},
}

var moduleBook = slices.Concat(moduleFields, []twin.Field{
	lost("/tags", twin.TextList, noBookTags),
	lost("/settings", twin.Text, noBookSettings),
})

// Read implements content.Format.
func (f moduleFormat) Read(file content.File) (content.Reading, error) {
	doc, assets := file.Unpacked(), 0
	if doc == nil {
		m, err := f.spell.Module(file.Name, file.Raw)
		if err != nil {
			return content.Reading{}, err
		}
		doc, assets = m.Doc, m.Assets
	}
	var r content.Reading
	about, problems := twin.Read(doc, moduleFields)
	r.Warnings = problems
	add := func(kind string, body *canon.Node, notes content.Notes) {
		for name, v := range about.Members() {
			twin.Set(body, "/"+name, v)
		}
		r.Found = append(r.Found, content.Found{Kind: kind, Body: body, Notes: notes})
	}
	rules, problem := risuscript.Read(doc.At(rpack.Regex))
	if problem != "" {
		r.Warnings = append(r.Warnings, "the regex scripts: "+problem)
	}
	if rows := doc.At(rpack.Lorebook); rows.Len() > 0 || rules == nil {
		body, problems := risulore.Read(rows)
		r.Warnings = append(r.Warnings, problems...)
		add(content.KindLorebook, body, content.Notes{BookEntries: body.Field("entries").Len(), Assets: assets})
	}
	if rules != nil {
		body := canon.NewObject()
		twin.Set(body, "/rules", rules)
		add(content.KindRegex, body, content.Notes{})
	}
	if n := doc.At(rpack.Triggers).Len(); n > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the triggers of the module (%d) stay in the original file, and are never run", n))
	}
	if assets > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the assets of the module (%d) stay in the original file", assets))
	}
	return r, nil
}

// Write implements content.Format.
func (f moduleFormat) Write(w content.Writing) (content.Written, error) {
	m, body, err := f.over(w)
	if err != nil {
		return content.Written{}, err
	}
	stripped := content.Clean(m.Doc) // what is spelled is for nobody else to look into
	var losses, more []content.Loss
	if w.Piece.Kind == content.KindRegex {
		losses = twin.Lay(m.Doc, moduleFields, body)
		more = layRules(m.Doc, rpack.Regex, body)
	} else {
		losses = twin.Lay(m.Doc, moduleBook, body)
		var put *canon.Node
		put, more = risulore.Lay(body, m.Doc.At(rpack.Lorebook))
		more = append(more, relist(m.Doc, rpack.Lorebook, put)...)
	}
	name := w.Piece.ID + ".risum"
	data, err := f.spell.Spell(name, m)
	return content.Written{Data: data, Losses: append(losses, more...), Stripped: stripped}, err
}

// over is the module that the piece is laid over, and the body without what is the file's.
func (f moduleFormat) over(w content.Writing) (rpack.Module, *canon.Node, error) {
	s := sheet{body: w.Body.Clone()}
	if w.Twin == nil {
		doc := twin.Parsed(`{"module":{"name":"","description":"","id":"","lorebook":[],"regex":[],"trigger":[]},"type":"risuModule"}`)
		sum := sha256.Sum256([]byte(w.Piece.Ref.String()))
		sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // a UUID of our own making
		twin.Set(doc, "/module/id", canon.NewText(fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])))
		return rpack.Fresh(doc), s.body, nil
	}
	m, err := f.spell.Module(w.Twin.Name, w.Twin.Raw)
	if err != nil {
		return m, nil, err
	}
	s.doc = m.Doc
	nth := 0
	if w.Piece.Kind == content.KindRegex && m.Doc.At(rpack.Lorebook).Len() > 0 {
		nth = 1 // behind the lorebook
	}
	s.forget(rpack.Name, w.Twin.Name, nth)
	return m, s.body, nil
}

// relist puts a list into a document, where it says anything else than the one there.
func relist(doc *canon.Node, ptr string, put *canon.Node) []content.Loss {
	was := doc.At(ptr)
	if put.Len() == 0 && was.Kind() != canon.Array || was != nil && string(was.Bytes()) == string(put.Bytes()) {
		return nil
	}
	return twin.Lift(doc, ptr, put)
}

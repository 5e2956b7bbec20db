// Package risu is the formats of Risu's own files: lorebooks, regex scripts, presets,
// modules.
//
// It is an adapter of the content studio behind content.Format; cards of Risu are
// Character Cards, which another adapter reads. Files that are spelled with Risu's own
// table (.risup, .risum) are read where a person has the table, and else recognised to say
// so. It knows no other platform, reads no disk, and runs no script, pattern or trigger.
package risu

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/risulore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/risuscript"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// CodePacked says that a preset does not unpack.
const CodePacked fault.Code = "RISU_PACKED" // a packed preset that does not unpack

// The names of the formats.
const (
	nameBook   = risulore.Format
	nameRegex  = risuscript.Format
	namePreset = "risu-preset"
	namePacked = "risu-risupreset"
	nameSpelt  = "risu-risup"
	nameModule = "risu-module"
)

// Formats are the formats of this platform. What is spelled with Risu's table is read and
// written with spell.
func Formats(spell *rpack.Speller) []content.Format {
	return []content.Format{
		content.Shape{Name: nameBook, Platform: "Risu", Kind: content.KindLorebook, Verbatim: true, Know: scoreBook, From: readBook, To: writeBook},
		content.Shape{Name: nameRegex, Platform: "Risu", Kind: content.KindRegex, Verbatim: true, Know: scoreRegex, From: readRegex, To: writeRegex},
		content.Shape{Name: namePreset, Platform: "Risu", Kind: content.KindPreset, Know: scorePreset, From: readPreset, To: writePreset},
		packedFormat{content.Shape{Name: namePacked, Platform: "Risu", Kind: content.KindPreset, Ext: ".risupreset", Know: scorePacked, From: readPacked, To: writePacked}},
		newSpelt(spell),
		moduleFormat{spell},
	}
}

// A sheet is the document that a body is laid over, and the body to lay.
type sheet struct {
	doc  *canon.Node
	raw  []byte // the twin's file; nil where there is none, or it is no JSON
	body *canon.Node
}

// sheetOf opens the twin, or fresh where there is none. A name that came from the file's
// own name, and is still that one, is neither written nor lost.
func sheetOf(w content.Writing, fresh, name string) (sheet, error) {
	s := sheet{body: w.Body.Clone()}
	if w.Twin == nil {
		s.doc = twin.Parsed(fresh)
		return s, nil
	}
	f := content.Open(w.Twin.Name, w.Twin.Raw)
	if f.Doc == nil {
		return s, unread(w)
	}
	s.doc, s.raw = f.Doc, w.Twin.Raw
	s.forget(name, w.Twin.Name, 0)
	return s, nil
}

// forget takes a name out of the body that is the file's, of which it was the nth piece.
func (s *sheet) forget(ptr, file string, n int) {
	if (ptr == "" || s.doc.At(ptr).Text() == "") && s.body.Field("name").Text() == content.NameFromFile(file, n) {
		twin.Drop(s.body, "/name")
	}
}

func (s sheet) written(losses []content.Loss) content.Written {
	return content.Written{Data: carrier.WriteJSON(s.raw, s.doc.Bytes()), Losses: losses}
}

func unread(w content.Writing) error {
	return fault.New(content.CodeEscrow, "content.export", "the original %q of %s no longer reads", w.Twin.Name, w.Piece.Ref)
}

// lost is a table's line for a value that no file of the format holds.
func lost(path string, codec twin.Codec, why string) twin.Field {
	return twin.Field{Path: path, Codec: codec, Reason: why}
}

// must is for pointers of our own into objects.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

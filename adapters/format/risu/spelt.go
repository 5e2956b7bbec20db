package risu

import (
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
)

// A speltFormat is a packed preset that is spelled with Risu's table besides: a .risup.
type speltFormat struct {
	content.Shape
	spell *rpack.Speller
}

func newSpelt(spell *rpack.Speller) speltFormat {
	f := speltFormat{spell: spell}
	f.Shape = content.Shape{Name: nameSpelt, Platform: "Risu", Kind: content.KindPreset, Ext: ".risup", Know: scoreSpelt, To: f.to}
	return f
}

// About implements content.Format. Without a table nothing is written.
func (f speltFormat) About() content.About {
	a := f.Shape.About()
	if a.Closed = f.spell.Closed("preset", ".risup"); a.Closed != nil {
		a.Writes = nil
	}
	return a
}

// scoreSpelt goes by the name: without the table nothing else says what such bytes are.
func scoreSpelt(f content.File) float64 {
	if f.Doc == nil && strings.HasSuffix(strings.ToLower(f.Name), ".risup") {
		return 0.9
	}
	return 0
}

// Unpack implements content.Unpacker.
func (f speltFormat) Unpack(file content.File) (content.Doc, error) {
	raw, err := f.spell.Read(file.Name, "preset", file.Raw)
	if err != nil {
		return content.Doc{}, err
	}
	doc, err := unpack(raw)
	return content.Doc{Tree: doc}, err
}

// Read implements content.Format, whatever the file is called.
func (f speltFormat) Read(file content.File) (content.Reading, error) {
	doc := file.Unpacked()
	if doc == nil {
		d, err := f.Unpack(file)
		if err != nil {
			return content.Reading{}, err
		}
		doc = d.Tree
	}
	return presetOf(doc)
}

func (f speltFormat) to(w content.Writing) (content.Written, error) {
	if w.Twin != nil {
		raw, err := f.spell.Read(w.Twin.Name, "preset", w.Twin.Raw)
		if err != nil {
			return content.Written{}, err
		}
		w.Twin = &store.Escrow{Format: namePacked, Name: w.Twin.Name, Raw: raw}
	}
	out, err := writePacked(w)
	if err != nil {
		return out, err
	}
	out.Data, err = f.spell.Write(w.Piece.ID+".risup", "preset", out.Data)
	return out, err
}

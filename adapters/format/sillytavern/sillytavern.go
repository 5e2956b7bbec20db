// Package sillytavern is the formats of SillyTavern's own files: world info, presets of
// chat and text completion, regex scripts, quick replies, personas.
//
// It is an adapter of the content studio behind content.Format; a format is a table of
// twin.Field over the file's JSON, and codecs of its own where a table is not enough.
// Cards are not here. It knows no other platform, reads no disk, and runs no script
// and no pattern.
package sillytavern

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// The names of the formats.
const (
	nameWorld    = "sillytavern-world"
	nameChat     = "sillytavern-chat"
	nameText     = "sillytavern-text"
	nameRegex    = "sillytavern-regex"
	nameReplies  = "sillytavern-quickreply"
	namePersonas = "sillytavern-personas"
	nameMaster   = "sillytavern-master"
)

// A format is one kind of file.
type format struct {
	name     string
	kind     string
	also     []string // kinds that a file holds beside it
	verbatim bool
	score    func(doc *canon.Node) float64
	read     func(f content.File) (content.Reading, error)
	write    func(w content.Writing) (content.Written, error)
}

// Formats are the formats of this platform.
func Formats() []content.Format {
	return []content.Format{
		format{name: nameWorld, kind: content.KindLorebook, verbatim: true, score: scoreWorld, read: readWorld, write: writeWorld},
		format{name: nameChat, kind: content.KindPreset, also: []string{content.KindRegex}, score: scoreChat, read: readChat, write: writeChat},
		format{name: nameText, kind: content.KindPreset, score: scoreText, read: readText, write: writeText},
		format{name: nameMaster, kind: content.KindPreset, score: scoreMaster, read: readMaster, write: writeMaster},
		format{name: nameRegex, kind: content.KindRegex, verbatim: true, score: scoreRegex, read: readRegex, write: writeRegex},
		format{name: nameReplies, kind: content.KindQuickReply, verbatim: true, score: scoreReplies, read: readReplies, write: writeReplies},
		format{name: namePersonas, kind: content.KindPersona, verbatim: true, score: scorePersonas, read: readPersonas, write: writePersona},
	}
}

// About implements content.Format.
func (f format) About() content.About {
	return content.About{
		Name: f.name, Platform: "SillyTavern", Ext: ".json", Verbatim: f.verbatim,
		Kinds: append([]string{f.kind}, f.also...), Writes: []string{f.kind},
	}
}

// Score implements content.Format.
func (f format) Score(file content.File) float64 {
	if file.Doc == nil {
		return 0
	}
	return f.score(file.Doc)
}

// Read implements content.Format.
func (f format) Read(file content.File) (content.Reading, error) {
	if file.Doc == nil {
		return content.Reading{}, fault.New(content.CodeUnread, "sillytavern.read", "%q is no JSON document", file.Name).
			WithHint("export it from SillyTavern again")
	}
	return f.read(file)
}

// Write implements content.Format.
func (f format) Write(w content.Writing) (content.Written, error) { return f.write(w) }

// A sheet is the document that a body is laid over, and the body to lay.
type sheet struct {
	doc  *canon.Node
	raw  []byte // the twin's file; nil where there is none
	body *canon.Node
}

// sheetOf opens the twin, or fresh where there is none. name is where a file of the
// format can have the piece's name, or "".
//
// A name that the file does not have came from the file's own name, which an export
// cannot write; where it is still that one it is taken out of the body, so that it is
// neither written nor lost.
func sheetOf(w content.Writing, fresh, name string) (sheet, error) {
	s := sheet{body: w.Body.Clone()}
	if w.Twin == nil {
		doc, err := canon.ParseTree([]byte(fresh))
		s.doc = doc
		return s, err
	}
	f := content.Open(w.Twin.Name, w.Twin.Raw)
	if f.Doc == nil {
		return s, fault.New(content.CodeEscrow, "content.export", "the original %q of %s no longer reads", w.Twin.Name, w.Piece.Ref)
	}
	s.doc, s.raw = f.Doc, w.Twin.Raw
	known := ""
	if name != "" {
		known = s.doc.At(name).Text()
	}
	if known == "" && s.body.At("/name").Text() == content.NameFromFile(w.Twin.Name, 0) {
		drop(s.body, "/name")
	}
	return s, nil
}

// written is the file, with the byte order mark and the last line end of its twin.
func (s sheet) written(losses []content.Loss) content.Written {
	return content.Written{Data: carrier.WriteJSON(s.raw, s.doc.Bytes()), Losses: losses}
}

// one is a file that is one piece.
func one(kind string, f content.File, body *canon.Node, problems []string) content.Reading {
	r := content.Reading{Found: []content.Found{{Kind: kind, Body: body}}, Warnings: problems}
	return r
}

// lost is a table's line for a value that no file of the format holds.
func lost(path string, codec twin.Codec, why string) twin.Field {
	return twin.Field{Path: path, Codec: codec, Reason: why}
}

// set and drop are for pointers of our own into objects.
func set(n *canon.Node, ptr string, v *canon.Node) {
	if err := n.Set(ptr, v); err != nil {
		panic(err)
	}
}

func drop(n *canon.Node, ptr string) {
	if _, err := n.Delete(ptr); err != nil {
		panic(err)
	}
}

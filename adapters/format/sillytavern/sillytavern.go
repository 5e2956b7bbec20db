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

// one is a file that is one piece.
func one(kind string, f content.File, body *canon.Node, problems []string) content.Reading {
	r := content.Reading{Found: []content.Found{{Kind: kind, Body: body}}, Warnings: problems}
	return r
}

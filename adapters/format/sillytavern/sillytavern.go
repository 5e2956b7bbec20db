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

// Formats are the formats of this platform.
func Formats() []content.Format {
	return []content.Format{
		content.Shape{Name: nameWorld, Platform: "SillyTavern", Kind: content.KindLorebook, Verbatim: true, Know: content.OfJSON(scoreWorld), From: readWorld, To: writeWorld},
		content.Shape{Name: nameChat, Platform: "SillyTavern", Kind: content.KindPreset, Also: []string{content.KindRegex}, Know: content.OfJSON(scoreChat), From: readChat, To: writeChat},
		content.Shape{Name: nameText, Platform: "SillyTavern", Kind: content.KindPreset, Know: content.OfJSON(scoreText), From: readText, To: writeText},
		content.Shape{Name: nameMaster, Platform: "SillyTavern", Kind: content.KindPreset, Know: content.OfJSON(scoreMaster), From: readMaster, To: writeMaster},
		content.Shape{Name: nameRegex, Platform: "SillyTavern", Kind: content.KindRegex, Verbatim: true, Know: content.OfJSON(scoreRegex), From: readRegex, To: writeRegex},
		content.Shape{Name: nameReplies, Platform: "SillyTavern", Kind: content.KindQuickReply, Verbatim: true, Know: content.OfJSON(scoreReplies), From: readReplies, To: writeReplies},
		content.Shape{Name: namePersonas, Platform: "SillyTavern", Kind: content.KindPersona, Verbatim: true, Know: content.OfJSON(scorePersonas), From: readPersonas, To: writePersona},
	}
}

// one is a file that is one piece.
func one(kind string, f content.File, body *canon.Node, problems []string) content.Reading {
	r := content.Reading{Found: []content.Found{{Kind: kind, Body: body}}, Warnings: problems}
	return r
}

// Package agnai is the formats of Agnai's own files: characters, memory books, presets.
//
// It is an adapter of the content studio behind content.Format; a format is a table of
// twin.Field over the file's JSON, and codecs of its own where a table is not enough.
// Character cards that Agnai writes are another format's. It knows no other platform,
// reads no disk and evaluates no template.
package agnai

import (
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// The names of the formats.
const (
	nameCharacter = "agnai-character"
	nameMemory    = "agnai-memory"
	namePreset    = "agnai-preset"
)

// Formats are the formats of this platform.
func Formats() []content.Format {
	return []content.Format{
		content.Shape{Name: nameCharacter, Platform: "Agnai", Kind: content.KindCharacter, Also: []string{content.KindLorebook}, Verbatim: true, Know: content.OfJSON(scoreCharacter), From: readCharacter, To: writeCharacter},
		content.Shape{Name: nameMemory, Platform: "Agnai", Kind: content.KindLorebook, Verbatim: true, Know: content.OfJSON(scoreMemory), From: readMemory, To: writeMemory},
		content.Shape{Name: namePreset, Platform: "Agnai", Kind: content.KindPreset, Know: content.OfJSON(scorePreset), From: readPreset, To: writePreset},
	}
}

// kept is why a value that Agnai stores is a loss all the same.
const kept = "kept, not executed: Agnai stores it, and its engine does not look at it"

// tail is a field that Agnai keeps and does not use.
func tail(path, ptr string, codec twin.Codec) twin.Field {
	return twin.Field{Path: path, Ptr: ptr, Codec: codec, Foreign: kept}
}

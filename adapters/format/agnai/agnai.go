// Package agnai is the formats of Agnai's own files: characters, memory books, presets.
//
// It is an adapter of the content studio behind content.Format; a format is a table of
// twin.Field over the file's JSON, and codecs of its own where a table is not enough.
// Character cards that Agnai writes are another format's. It knows no other platform,
// reads no disk and evaluates no template.
package agnai

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// The names of the formats.
const (
	nameCharacter = "agnai-character"
	nameMemory    = "agnai-memory"
	namePreset    = "agnai-preset"
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
		format{name: nameCharacter, kind: content.KindCharacter, also: []string{content.KindLorebook}, verbatim: true, score: scoreCharacter, read: readCharacter, write: writeCharacter},
		format{name: nameMemory, kind: content.KindLorebook, verbatim: true, score: scoreMemory, read: readMemory, write: writeMemory},
		format{name: namePreset, kind: content.KindPreset, score: scorePreset, read: readPreset, write: writePreset},
	}
}

// About implements content.Format.
func (f format) About() content.About {
	return content.About{
		Name: f.name, Platform: "Agnai", Ext: ".json", Verbatim: f.verbatim,
		Kinds: append([]string{f.kind}, f.also...), Writes: []string{f.kind},
	}
}

// Score implements content.Format.
func (f format) Score(file content.File) float64 {
	if file.Doc.Kind() != canon.Object {
		return 0
	}
	return f.score(file.Doc)
}

// Read implements content.Format.
func (f format) Read(file content.File) (content.Reading, error) {
	if file.Doc.Kind() != canon.Object {
		return content.Reading{}, fault.New(content.CodeUnread, "agnai.read", "%q is no JSON object", file.Name).
			WithHint("export it from Agnai again")
	}
	return f.read(file)
}

// Write implements content.Format.
func (f format) Write(w content.Writing) (content.Written, error) { return f.write(w) }

// kept is why a value that Agnai stores is a loss all the same.
const kept = "kept, not executed: Agnai stores it, and its engine does not look at it"

// tail is a field that Agnai keeps and does not use.
func tail(path, ptr string, codec twin.Codec) twin.Field {
	return twin.Field{Path: path, Ptr: ptr, Codec: codec, Foreign: kept}
}

// Package rolecall is the formats of RoleCall's own files: personas, lorebooks, presets.
//
// It is an adapter of the content studio behind content.Format. Its presets are those of
// chat completion with more keys, read by content/chatpreset. Character cards that RoleCall
// writes are another format's, with what it adds to them. It knows no other platform,
// reads no disk and runs no hook.
package rolecall

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// The names of the formats.
const (
	namePersona    = "rolecall-persona"
	namePersonaPNG = "rolecall-persona-png"
	nameLorebook   = "rolecall-lorebook"
	namePreset     = "rolecall-preset"
)

// A format is one kind of file.
type format struct {
	name     string
	kind     string
	also     []string // kinds that a file holds beside it
	ext      string
	verbatim bool
	score    func(f content.File) float64
	read     func(f content.File) (content.Reading, error)
	write    func(w content.Writing) (content.Written, error)
}

// Formats are the formats of this platform.
func Formats() []content.Format {
	return []content.Format{
		format{name: namePersona, kind: content.KindPersona, ext: ".json", verbatim: true, score: scorePersona, read: readPersona, write: writePersona},
		format{name: namePersonaPNG, kind: content.KindPersona, ext: ".png", verbatim: true, score: scorePersonaPNG, read: readPersonaPNG, write: writePersonaPNG},
		format{name: nameLorebook, kind: content.KindLorebook, ext: ".json", verbatim: true, score: scoreLorebook, read: readLorebook, write: writeLorebook},
		format{name: namePreset, kind: content.KindPreset, also: []string{content.KindRegex}, ext: ".json", score: scorePreset, read: readPreset, write: writePreset},
	}
}

// About implements content.Format.
func (f format) About() content.About {
	return content.About{
		Name: f.name, Platform: "RoleCall", Ext: f.ext, Verbatim: f.verbatim,
		Kinds: append([]string{f.kind}, f.also...), Writes: []string{f.kind},
	}
}

// Score implements content.Format.
func (f format) Score(file content.File) float64 { return f.score(file) }

// Read implements content.Format.
func (f format) Read(file content.File) (content.Reading, error) {
	if file.Doc.Kind() != canon.Object && f.ext == ".json" {
		return content.Reading{}, fault.New(content.CodeUnread, "rolecall.read", "%q is no JSON object", file.Name).
			WithHint("export it from RoleCall again")
	}
	return f.read(file)
}

// Write implements content.Format.
func (f format) Write(w content.Writing) (content.Written, error) { return f.write(w) }

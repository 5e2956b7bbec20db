// Package marinara is the formats of Marinara's own files: characters, personas,
// lorebooks, presets, regex scripts.
//
// It is an adapter of the content studio behind content.Format. Most files are an
// envelope around rows of a database, in which switches can be texts and lists JSON in
// texts: they are read as what they mean, and written as they stood. It knows no other
// platform, reads no disk, and runs no pattern.
package marinara

import (
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// The names of the formats.
const (
	nameCharacter = "marinara-character"
	namePersona   = "marinara-persona"
	nameLorebook  = "marinara-lorebook"
	namePreset    = "marinara-preset"
	nameRegex     = "marinara-regex"
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
		format{name: nameCharacter, kind: content.KindCharacter, also: []string{content.KindLorebook}, verbatim: true, score: envelope("marinara_character"), read: readCharacter, write: writeCharacter},
		format{name: namePersona, kind: content.KindPersona, verbatim: true, score: envelope("marinara_persona"), read: readPersona, write: writePersona},
		format{name: nameLorebook, kind: content.KindLorebook, verbatim: true, score: envelope("marinara_lorebook"), read: readLorebook, write: writeLorebook},
		format{name: namePreset, kind: content.KindPreset, score: envelope("marinara_preset"), read: readPreset, write: writePreset},
		format{name: nameRegex, kind: content.KindRegex, verbatim: true, score: scoreRegex, read: readRegex, write: writeRegex},
	}
}

// envelope knows a file by its type.
func envelope(kind string) func(doc *canon.Node) float64 {
	return func(doc *canon.Node) float64 {
		if doc.Field("type").Text() == kind && doc.Field("data").Kind() == canon.Object {
			return 1
		}
		return 0
	}
}

// About implements content.Format.
func (f format) About() content.About {
	return content.About{
		Name: f.name, Platform: "Marinara", Ext: ".json", Verbatim: f.verbatim,
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
		return content.Reading{}, fault.New(content.CodeUnread, "marinara.read", "%q is no JSON document", file.Name).
			WithHint("export it from Marinara again")
	}
	return f.read(file)
}

// Write implements content.Format.
func (f format) Write(w content.Writing) (content.Written, error) { return f.write(w) }

// inText is a codec of what a row has as JSON in a text. What is not in a text is read
// as well, and stays so.
func inText(c twin.Codec) twin.Codec {
	open := func(n *canon.Node) (*canon.Node, bool) {
		if n.Kind() != canon.String {
			return n, true
		}
		inner, err := canon.ParseTree([]byte(n.Text()))
		return inner, err == nil
	}
	closed := func(old, now *canon.Node) *canon.Node {
		if now == nil || old != nil && old.Kind() != canon.String && old.Kind() != canon.Null {
			return now
		}
		return canon.NewText(string(now.Bytes()))
	}
	out := twin.Codec{Lossy: c.Lossy}
	out.Read = func(n *canon.Node) (*canon.Node, string) {
		inner, ok := open(n)
		switch {
		case !ok && n.Text() == "":
			return nil, ""
		case !ok:
			return nil, fmt.Sprintf("is the text %s, which is no JSON; it stays in the original file and is not used", twin.Clip(n))
		}
		return c.Read(inner)
	}
	out.Write = func(val, old *canon.Node) *canon.Node {
		inner, ok := open(old)
		if !ok {
			inner = nil
		}
		return closed(old, c.Write(val, inner))
	}
	if c.Lay != nil {
		out.Lay = func(val, old *canon.Node) (*canon.Node, []twin.Loss) {
			inner, ok := open(old)
			if !ok {
				inner = nil
			}
			put, losses := c.Lay(val, inner)
			return closed(old, put), losses
		}
	}
	if c.Empty != "" {
		out.Empty = string(canon.NewText(c.Empty).Bytes())
	}
	return out
}

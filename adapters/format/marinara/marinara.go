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

// Formats are the formats of this platform.
func Formats() []content.Format {
	return []content.Format{
		content.Shape{Name: nameCharacter, Platform: "Marinara", Kind: content.KindCharacter, Also: []string{content.KindLorebook}, Verbatim: true, Know: content.OfJSON(envelope("marinara_character")), From: readCharacter, To: writeCharacter},
		content.Shape{Name: namePersona, Platform: "Marinara", Kind: content.KindPersona, Verbatim: true, Know: content.OfJSON(envelope("marinara_persona")), From: readPersona, To: writePersona},
		content.Shape{Name: nameLorebook, Platform: "Marinara", Kind: content.KindLorebook, Verbatim: true, Know: content.OfJSON(envelope("marinara_lorebook")), From: readLorebook, To: writeLorebook},
		content.Shape{Name: namePreset, Platform: "Marinara", Kind: content.KindPreset, Know: content.OfJSON(envelope("marinara_preset")), From: readPreset, To: writePreset},
		content.Shape{Name: nameRegex, Platform: "Marinara", Kind: content.KindRegex, Verbatim: true, Know: content.OfJSON(scoreRegex), From: readRegex, To: writeRegex},
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

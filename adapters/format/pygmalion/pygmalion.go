// Package pygmalion reads the characters of two old programs: Pygmalion's JSON and
// oobabooga's YAML.
//
// It is an adapter of the content studio behind content.Format. Both formats are only
// read: what they hold fits into every card. It knows no other platform and reads no
// disk.
package pygmalion

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Formats are the formats of this platform.
func Formats() []content.Format {
	return []content.Format{
		format{name: "pygmalion-json", platform: "Pygmalion", ext: ".json", doc: docOfJSON, fields: jsonFields},
		format{name: "ooba-yaml", platform: "oobabooga", ext: ".yaml", doc: docOfYAML, fields: yamlFields},
	}
}

// A format is one of the two.
type format struct {
	name, platform, ext string
	doc                 func(f content.File) *canon.Node // nil where it is not one
	fields              []twin.Field
}

// About implements content.Format.
func (f format) About() content.About {
	return content.About{Name: f.name, Platform: f.platform, Ext: f.ext, Kinds: []string{content.KindCharacter}}
}

// Score implements content.Format.
func (f format) Score(file content.File) float64 {
	if f.doc(file) == nil {
		return 0
	}
	return 0.8
}

// Read implements content.Format.
func (f format) Read(file content.File) (content.Reading, error) {
	doc := f.doc(file)
	if doc == nil {
		return content.Reading{}, fault.New(content.CodeUnread, "pygmalion.read", "%q is no character of %s", file.Name, f.platform)
	}
	body, problems := twin.Read(doc, f.fields)
	return content.Reading{Warnings: problems, Found: []content.Found{{Kind: content.KindCharacter, Body: body}}}, nil
}

// Write implements content.Format. Formats that write nothing are never asked.
func (f format) Write(w content.Writing) (content.Written, error) {
	return content.Written{}, fault.New(content.CodeFormat, "content.export", "the format %q is only read", f.name).
		WithHint("export %s as a character card", w.Piece.Ref)
}

// jsonFields: some files have SillyTavern's first keys beside Pygmalion's.
var jsonFields = []twin.Field{
	{Path: "/identity/name", Ptr: "/char_name", Codec: twin.Text},
	{Path: "/persona/description", Ptr: "/char_persona", Codec: twin.Text},
	{Path: "/persona/scenario", Ptr: "/world_scenario", Codec: twin.Text},
	{Path: "/greetings/first", Ptr: "/char_greeting", Codec: twin.Text},
	{Path: "/examples", Ptr: "/example_dialogue", Codec: twin.Text},
}

// docOfJSON knows the file by its name for a name.
func docOfJSON(f content.File) *canon.Node {
	if f.Doc.Field("char_name").Kind() != canon.String || f.Doc.Field("data") != nil || f.Doc.Field("spec") != nil {
		return nil
	}
	for _, key := range []string{"char_persona", "world_scenario", "char_greeting", "example_dialogue"} {
		if f.Doc.Field(key) != nil {
			return f.Doc
		}
	}
	return nil
}

package sillytavern

import (
	"fmt"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/secret"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// A master export is one preset: its parts belong together, and the file's other keys
// have a home in its escrow alone. The parts' own names are among their values:
// templates.instruct.name, templates.context.name, templates.reasoning.name, and the
// name of the block main.

func scoreMaster(doc *canon.Node) float64 {
	n := 0
	for _, p := range parts {
		if doc.Field(p.name).Kind() == canon.Object {
			n++
		}
	}
	for _, foreign := range []string{"spec", "kind", "type", "schemaVersion", "prompts", "entries"} {
		if doc.Field(foreign) != nil {
			return 0
		}
	}
	switch {
	case n > 1:
		return 0.95
	case n == 1 && onlyKeys(doc, "instruct", "context", "sysprompt", "preset", "reasoning", "srw"):
		return 0.8 // an export of one part
	}
	return 0
}

// masterFields are those of all parts, each below its member.
func masterFields() (fields []twin.Field) {
	for _, p := range parts {
		for _, f := range p.fields {
			fields = append(fields, below(p, f))
		}
	}
	return append(fields,
		twin.Field{Path: "/name", Over: &masterName},
		twin.Field{Path: "/prompts/prefill", Ptr: "/srw/value", Codec: twin.Text},
	)
}

// below is a field of a part, seen from the whole file.
func below(p part, f twin.Field) twin.Field {
	inner := []twin.Field{f}
	naming := ""
	switch f.Path {
	case "/templates/instruct", "/templates/context", "/templates/reasoning":
		naming = "/name"
	case "/blocks":
		naming = "/0/name"
	}
	return twin.Field{Path: f.Path, Over: &twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			body, problems := twin.Read(doc.Field(p.name), inner)
			val := body.At(f.Path)
			if name := doc.Field(p.name).Field("name").Text(); naming != "" && name != "" {
				switch {
				case f.Path == "/blocks" && val.At("/0/id").Text() == "main":
					twin.Set(val, naming, canon.NewText(name))
				case f.Path != "/blocks":
					if val == nil {
						val = canon.NewObject()
					}
					twin.Set(val, naming, canon.NewText(name))
				}
			}
			return val, strings.Join(problems, "; ")
		},
		Write: func(doc, val *canon.Node) []twin.Loss { return writePart(doc, p, f, naming, val) },
	}}
}

func writePart(doc *canon.Node, p part, f twin.Field, naming string, val *canon.Node) []twin.Loss {
	if doc.Field(p.name).Kind() != canon.Object {
		if val == nil {
			return nil
		}
		twin.Set(doc, "/"+p.name, twin.Parsed(p.fresh))
	}
	member, body := doc.Field(p.name), canon.NewObject()
	if val != nil {
		val = val.Clone()
		if naming != "" && (f.Path != "/blocks" || val.At("/0/id").Text() == "main") {
			if name := val.At(naming); name.Text() != member.Field("name").Text() {
				twin.Set(member, "/name", canon.NewText(name.Text()))
			}
			twin.Drop(val, naming)
		}
		if val.Len() > 0 || val.Kind() != canon.Object {
			twin.Set(body, f.Path, val)
		}
	}
	losses := twin.Lay(member, []twin.Field{f}, body)
	for i := range losses {
		losses[i].Path = strings.TrimPrefix(losses[i].Path, f.Path)
	}
	return losses
}

// masterName is the name of the samplers, else that of another part, which a change of
// the whole's name leaves as it is.
var masterName = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		for _, name := range []string{"preset", "instruct", "context", "sysprompt", "reasoning"} {
			if s := doc.Field(name).Field("name").Text(); s != "" {
				return canon.NewText(s), ""
			}
		}
		return nil, ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		if doc.Field("preset").Kind() != canon.Object {
			if val == nil {
				return nil
			}
			twin.Set(doc, "/preset", canon.NewObject())
		}
		twin.Set(doc, "/preset/name", canon.NewText(val.Text()))
		return nil
	},
}

func readMaster(f content.File) (content.Reading, error) {
	body, problems := twin.Read(f.Doc, masterFields())
	r := one(content.KindPreset, f, body, problems)
	var have []string
	for _, p := range parts {
		if f.Doc.Field(p.name).Kind() == canon.Object {
			have = append(have, p.name)
		}
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("the file's %d parts are one preset: %s", len(have), strings.Join(have, ", ")))
	return r, nil
}

func writeMaster(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, "{}", "")
	if err != nil {
		return content.Written{}, err
	}
	if known, _ := masterName.Read(s.Doc); known != nil {
		s.Body = w.Body.Clone()
	}
	losses := twin.Lay(s.Doc, masterFields(), s.Body)
	losses = append(losses, without(s.Body, masterFields(), "a master export of SillyTavern holds presets of text completion, and they do not have this")...)
	stripped := secret.Strip(s.Doc)
	out := s.Written(losses)
	out.Stripped = stripped
	return out, nil
}

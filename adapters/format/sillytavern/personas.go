package sillytavern

import (
	"fmt"
	"path"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// The bounds of a backup. What all personas share is kept with each of them.
const (
	maxPersonas = 5000
	maxShared   = 64 << 20 // bytes of that, for all of them together
)

func scorePersonas(doc *canon.Node) float64 {
	if doc.Field("personas").Kind() == canon.Object && doc.Field("persona_descriptions").Kind() == canon.Object {
		return 1
	}
	return 0
}

const noSuchPersona = "a persona of SillyTavern has no such field"

// personaFields are those of a backup of one persona, whose picture has this name.
func personaFields(avatar string) []twin.Field {
	in := func(key string) string { return canon.JoinPointer("persona_descriptions", avatar, key) }
	fields := []twin.Field{
		{Path: "/name", Ptr: canon.JoinPointer("personas", avatar), Codec: twin.Text, Required: true},
		{Path: "/title", Ptr: in("title"), Codec: twin.Text},
		{Path: "/content", Ptr: in("description"), Codec: twin.Text, Required: true},
		{Path: "/injection/position", Ptr: in("position"), Codec: twin.Words(
			[2]string{"0", "prompt"}, [2]string{"1", "after_chat"}, [2]string{"2", "note_top"}, [2]string{"3", "note_bottom"}, [2]string{"4", "depth"}, [2]string{"9", "none"},
		)},
		{Path: "/injection/depth", Ptr: in("depth"), Codec: twin.Int},
		{Path: "/injection/role", Ptr: in("role"), Codec: roleNumber},
		{Path: "/bookName", Ptr: in("lorebook"), Codec: twin.Text},
		twin.Lost("/portrait", twin.Text, "the picture is a file of its own beside a backup"),
	}
	for _, path := range []string{
		"/brief", "/sections/appearance", "/sections/body", "/sections/personality", "/sections/quirks", "/sections/history", "/sections/scenario",
		"/pronouns/subjective", "/pronouns/objective", "/pronouns/possessive", "/palette", "/tags",
	} {
		fields = append(fields, twin.Lost(path, twin.Text, noSuchPersona))
	}
	return fields
}

// avatars are the pictures that a backup names, in its order: those with a name, then
// those that only have a description.
func avatars(doc *canon.Node) (list []string) {
	names, texts := doc.Field("personas"), doc.Field("persona_descriptions")
	for avatar, n := range names.Members() {
		if n == names.Field(avatar) {
			list = append(list, avatar)
		}
	}
	for avatar, n := range texts.Members() {
		if n == texts.Field(avatar) && names.Field(avatar) == nil {
			list = append(list, avatar)
		}
	}
	return list
}

func readPersonas(f content.File) (content.Reading, error) {
	const op = "sillytavern.personas"
	list := avatars(f.Doc)
	shared := f.Doc.Clone()
	twin.Set(shared, "/personas", canon.NewObject())
	twin.Set(shared, "/persona_descriptions", canon.NewObject())
	if len(list) > maxPersonas || len(list)*len(shared.Bytes()) > maxShared {
		return content.Reading{}, fault.New(fault.TooLarge, op, "%q has %d personas and %d bytes that belong to all of them, the bounds are %d personas and %d bytes for all",
			f.Name, len(list), len(shared.Bytes()), maxPersonas, maxShared).WithHint("split the backup, and leave out of it what is no persona")
	}
	if len(list) == 0 {
		return content.Reading{}, fault.New(content.CodeUnread, op, "%q is a backup without a persona", f.Name).
			WithHint("make the backup again in SillyTavern's persona management")
	}
	var r content.Reading
	for _, avatar := range list {
		doc := only(f.Doc, shared, avatar)
		body, problems := twin.Read(doc, personaFields(avatar))
		if body.Field("name").Text() == "" {
			name := content.NameFromFile(path.Base(avatar), 0)
			twin.Set(body, "/name", canon.NewText(name))
			problems = append(problems, fmt.Sprintf("the persona of %q has no name; it is called %q after its picture", avatar, name))
		}
		r.Warnings = append(r.Warnings, problems...)
		r.Found = append(r.Found, content.Found{
			Kind: content.KindPersona, Body: body,
			Original: &store.Escrow{Format: namePersonas, Name: f.Name, Raw: carrier.WriteJSON(nil, doc.Bytes())},
		})
	}
	return r, nil
}

// only is the backup of one persona out of one of many.
func only(all, shared *canon.Node, avatar string) *canon.Node {
	doc := shared.Clone()
	for _, key := range []string{"personas", "persona_descriptions"} {
		if n := all.Field(key).Field(avatar); n != nil {
			twin.Set(doc, canon.JoinPointer(key, avatar), n)
		}
	}
	if who := doc.Field("default_persona"); who != nil && who.Text() != avatar {
		twin.Set(doc, "/default_persona", canon.NewNull())
	}
	return doc
}

func writePersona(w content.Writing) (content.Written, error) {
	avatar := w.Piece.ID + ".png"
	s, err := content.OpenSheet(w, `{"personas":{},"persona_descriptions":{},"default_persona":null}`, "")
	if err != nil {
		return content.Written{}, err
	}
	s.Body = w.Body.Clone()
	switch list := avatars(s.Doc); {
	case w.Twin == nil:
	case len(list) == 0:
		return content.Written{}, fault.New(content.CodeEscrow, "content.export", "the original of %s has no persona", w.Piece.Ref)
	default:
		avatar = list[0]
	}
	var losses []content.Loss
	if id := s.Body.Field("book").Text(); id != "" && s.Body.Field("bookName") == nil {
		losses = append(losses, bookByName(&s, w.Linked, id))
	}
	if was := s.Doc.At(canon.JoinPointer("personas", avatar)); was.Text() == "" && s.Body.Field("name").Text() == content.NameFromFile(path.Base(avatar), 0) && w.Twin != nil {
		twin.Drop(s.Body, "/name") // it came from the picture
	}
	losses = append(losses, twin.Lay(s.Doc, personaFields(avatar), s.Body)...)
	return s.Written(losses), nil
}

// bookByName writes the link to a book of this studio as SillyTavern does.
func bookByName(s *content.Sheet, linked []store.Piece, id string) content.Loss {
	loss := content.Loss{Path: "/book", Value: id, Verdict: twin.Dropped, Reason: "SillyTavern names a book by its name, and there is no such book here"}
	for _, p := range linked {
		if p.Kind == content.KindLorebook && p.ID == id {
			twin.Set(s.Body, "/bookName", canon.NewText(p.Title))
			loss.Verdict, loss.Reason = twin.Renamed, "SillyTavern names a book by its name: "+strings.TrimSpace(p.Title)
		}
	}
	return loss
}

package agnai

import (
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

const (
	linkedBooks = "/links/lorebooks"
	bookAt      = "/characterBook"
)

// findBook is the memory book of a character as a piece of its own.
func findBook(f content.File, r *content.Reading) {
	node := f.Doc.At(bookAt)
	if node.Kind() != canon.Object || node.Field("entries").Len() == 0 && node.Field("name").Text() == "" {
		return
	}
	body, problems := twin.Read(node, memoryFields)
	for _, p := range append(problems, idle(body)...) {
		r.Warnings = append(r.Warnings, "the memory book: "+p)
	}
	called := strings.NewReplacer("/", " ", `\`, " ").Replace(r.Found[0].Body.At("/identity/name").Text() + " memory")
	if body.Field("name") == nil {
		twin.Set(body, "/name", canon.NewText(called))
		r.Warnings = append(r.Warnings, "the memory book has no name; it is called "+strconv.Quote(called)+" after the character")
	}
	r.Found[0].Notes.BookEntries = body.Field("entries").Len()
	r.Found[0].Links = []content.FoundLink{{Path: linkedBooks, List: true, To: 1}}
	r.Found = append(r.Found, content.Found{
		Kind: content.KindLorebook, Body: body, Notes: content.Notes{BookEntries: body.Field("entries").Len()},
		Original: &store.Escrow{Format: nameMemory, Name: called + ".json", Raw: node.Bytes()}, Place: bookAt,
	})
}

// embed puts the first linked book into the character, over the one that is there. A
// book that is linked and not at hand leaves the character's own; where none is linked
// any more, that goes.
func embed(s content.Sheet, linked []store.Piece) (losses []content.Loss) {
	links := s.Body.At(linkedBooks)
	if links.Len() == 0 {
		if s.Doc.At(bookAt+"/entries").Len() > 0 {
			twin.Drop(s.Doc, bookAt)
		}
		return nil
	}
	for i, id := range links.Items() {
		at := linkedBooks + "/" + strconv.Itoa(i)
		p, body := bookNamed(linked, id.Text())
		switch {
		case i > 0:
			losses = append(losses, content.Loss{Path: at, Value: id.Text(), Verdict: twin.Dropped, Reason: "a character of Agnai holds one memory book; export this one by itself"})
			continue
		case body == nil && s.Doc.At(bookAt) == nil:
			losses = append(losses, content.Loss{Path: at, Value: id.Text(), Verdict: twin.Dropped, Reason: "a character of Agnai holds its memory book, and there is no such lorebook at hand"})
			continue
		case body == nil:
			continue
		}
		node, more := layBook(p, body)
		if was := s.Doc.At(bookAt); was == nil || string(was.Bytes()) != string(node.Bytes()) {
			twin.Set(s.Doc, bookAt, node)
		}
		for _, l := range more {
			l.Path = at + l.Path
			losses = append(losses, l)
		}
	}
	return losses
}

func bookNamed(linked []store.Piece, id string) (store.Piece, *canon.Node) {
	for _, p := range linked {
		if p.Kind == content.KindLorebook && p.ID == id {
			body, err := canon.ParseTree(p.Body)
			if err != nil {
				return p, nil
			}
			return p, body
		}
	}
	return store.Piece{}, nil
}

// layBook is the memory book that means body, over the one that it came from.
func layBook(p store.Piece, body *canon.Node) (*canon.Node, []twin.Loss) {
	node := twin.Parsed(freshMemory)
	for _, e := range p.Escrow {
		if doc := content.Open(e.Name, e.Raw).Doc; e.Format == nameMemory && doc.Kind() == canon.Object {
			node, body = doc.Clone(), body.Clone()
			if node.Field("name").Text() == "" && body.Field("name").Text() == content.NameFromFile(e.Name, 0) {
				twin.Drop(body, "/name")
			}
			break
		}
	}
	return node, twin.Lay(node, memoryFields, body)
}

package marinara

import (
	"fmt"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card/book"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

const (
	linkedBooks    = "/links/lorebooks"
	nameBook       = "character-book" // the escrow of a book out of a card
	freshCharacter = `{"type":"marinara_character","version":1,"data":{}}`
	bookAt         = "/data/character_book"
	extensionsAt   = "/data/extensions"
)

// cardOf is the card in the envelope. Some exports have its fields without the wrapper.
func cardOf(doc *canon.Node) (card.Card, error) {
	c, err := card.ReadTree(doc.Field("data"))
	if err != nil {
		return c, fault.Wrap(err, content.CodeUnread, "marinara.character", "the envelope holds no character card")
	}
	return c, nil
}

func readCharacter(f content.File) (content.Reading, error) {
	c, err := cardOf(f.Doc)
	if err != nil {
		return content.Reading{}, err
	}
	c.Body = withColours(c.Doc, c.Body)
	r := content.Reading{Warnings: c.Warnings, Found: []content.Found{
		{Kind: content.KindCharacter, Body: c.Body, Notes: content.Notes{Spec: c.Version.String(), BookEntries: c.BookEntries}},
	}}
	findBook(c, &r)
	return r, nil
}

// withColours is the body with the three colours in front of its palette.
func withColours(doc, body *canon.Node) *canon.Node {
	list, _ := colours(extensionsAt).Read(doc)
	if list == nil {
		return body
	}
	items := itemsOf(list)
	body = body.Clone()
	twin.Set(body, "/presentation/palette", canon.NewArray(append(items, itemsOf(body.At("/presentation/palette"))...)...))
	return body
}

func itemsOf(list *canon.Node) (items []*canon.Node) {
	for _, it := range list.Items() {
		items = append(items, it)
	}
	return items
}

func findBook(c card.Card, r *content.Reading) {
	node := c.Book()
	if node.Kind() != canon.Object || node.Field("entries").Len() == 0 && node.Field("name").Text() == "" {
		return
	}
	body, problems := book.Read(node)
	for _, p := range problems {
		r.Warnings = append(r.Warnings, "the lorebook: "+p)
	}
	called := strings.NewReplacer("/", " ", `\`, " ").Replace(c.Body.At("/identity/name").Text() + " lorebook")
	if body.Field("name") == nil {
		twin.Set(body, "/name", canon.NewText(called))
		r.Warnings = append(r.Warnings, fmt.Sprintf("the lorebook has no name; it is called %q after the card", called))
	}
	r.Found[0].Links = []content.FoundLink{{Path: linkedBooks, List: true, To: 1}}
	r.Found = append(r.Found, content.Found{
		Kind: content.KindLorebook, Body: body, Notes: content.Notes{BookEntries: body.Field("entries").Len()},
		Original: &store.Escrow{Format: nameBook, Name: called + ".json", Raw: node.Bytes()}, Place: "/data" + bookAt,
	})
}

func writeCharacter(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshCharacter, "/data/data/name")
	if err != nil {
		return content.Written{}, err
	}
	base := baseOf(w, s)
	version := card.V2
	if base != nil && w.Twin != nil {
		version = base.Version
	}
	body, palette := s.Body, s.Body.At("/presentation/palette")
	own, rest := split(palette)
	if base != nil && w.Twin != nil && canon.Equal(palette, withColours(base.Doc, base.Body).At("/presentation/palette")) {
		rest = base.Body.At("/presentation/palette")
		own, _ = colours(extensionsAt).Read(base.Doc)
	}
	twin.Drop(body, "/presentation/palette")
	if rest.Len() > 0 {
		twin.Set(body, "/presentation/palette", rest)
	}
	doc, losses := card.Write(body, version, base)
	losses = slices.DeleteFunc(losses, func(l content.Loss) bool {
		return l.Path == linkedBooks || strings.HasPrefix(l.Path, "/presentation/palette")
	})
	if was, _ := colours(extensionsAt).Read(doc); !canon.Equal(was, own) && version != card.V1 {
		colours(extensionsAt).Write(doc, own)
	}
	if rest.Len() > 0 && (base == nil || !canon.Equal(rest, base.Body.At("/presentation/palette"))) {
		losses = append(losses, content.Loss{
			Path: "/presentation/palette", Value: twin.Clip(palette), Verdict: twin.Embedded,
			Reason: "Marinara has three colours: name, dialogue and box; others are kept under extensions.soundstage, which it ignores",
		})
	}
	if p := s.Body.At("/media/portrait"); p != nil {
		losses = append(losses, content.Loss{Path: "/media/portrait", Value: twin.Clip(p), Verdict: twin.Dropped, Reason: "an export of Marinara carries no picture"})
	}
	if w.Twin == nil {
		dropScripts(doc)
	}
	losses = append(losses, embed(doc, s.Body, w.Linked)...)
	if was := s.Doc.Field("data"); string(was.Bytes()) != string(doc.Bytes()) {
		twin.Set(s.Doc, "/data", doc)
	}
	return s.Written(losses), nil
}

// dropScripts takes the scripts out that came along with a card of another format: they are
// regex sets of their own by now, so that these would be what nobody edits any more.
func dropScripts(doc *canon.Node) {
	for _, at := range []string{"/regex_scripts", "/risuai/customScripts"} {
		twin.Drop(doc, extensionsAt+at)
	}
}

// baseOf is the card to write over: the twin's, else a card that the piece came from, so
// that what nobody here knows goes along.
func baseOf(w content.Writing, s content.Sheet) *card.Card {
	if w.Twin != nil {
		if c, err := cardOf(s.Doc); err == nil {
			return &c
		}
	}
	for _, e := range w.Others {
		for _, d := range content.Open(e.Name, e.Raw).Docs {
			if c, err := card.ReadTree(d.Tree); d.Tree != nil && err == nil {
				return &c
			}
		}
	}
	return nil
}

// split is a palette as Marinara's own colours, each once, and the others.
func split(palette *canon.Node) (own, rest *canon.Node) {
	var a, b []*canon.Node
	has := map[string]bool{}
	for _, sw := range palette.Items() {
		label := sw.Field("label").Text()
		is := slices.ContainsFunc(swatches, func(s [2]string) bool { return s[0] == label }) && !has[label] && sw.Field("color").Text() != ""
		if is {
			has[label] = true
			a = append(a, sw)
		} else {
			b = append(b, sw)
		}
	}
	if a != nil {
		own = canon.NewArray(a...)
	}
	if b != nil {
		rest = canon.NewArray(b...)
	}
	return own, rest
}

// embed puts the first linked lorebook into the card, over the one that is there. A
// lorebook that is linked and not at hand leaves the card's own; where none is linked
// any more, that goes.
func embed(doc, body *canon.Node, linked []store.Piece) (losses []content.Loss) {
	links := body.At(linkedBooks)
	if links.Len() == 0 {
		if doc.At(bookAt+"/entries").Len() > 0 {
			twin.Drop(doc, bookAt)
		}
		return nil
	}
	for i, id := range links.Items() {
		at := fmt.Sprintf("%s/%d", linkedBooks, i)
		k := slices.IndexFunc(linked, func(p store.Piece) bool { return p.Kind == content.KindLorebook && p.ID == id.Text() })
		switch {
		case i > 0:
			losses = append(losses, content.Loss{Path: at, Value: id.Text(), Verdict: twin.Dropped, Reason: "a card holds one lorebook; export this one by itself"})
			continue
		case k < 0 && doc.At(bookAt) == nil:
			losses = append(losses, content.Loss{Path: at, Value: id.Text(), Verdict: twin.Dropped, Reason: "the lorebook is not at hand"})
			continue
		case k < 0:
			continue
		}
		node, more := layBook(linked[k])
		if was := doc.At(bookAt); was == nil || string(was.Bytes()) != string(node.Bytes()) {
			twin.Set(doc, bookAt, node)
		}
		for _, l := range more {
			l.Path = at + l.Path
			losses = append(losses, l)
		}
	}
	return losses
}

// layBook is the book of a card that means the piece, over the one that it came from.
func layBook(p store.Piece) (*canon.Node, []twin.Loss) {
	node, body := book.Fresh(), twin.Parsed(string(p.Body))
	for _, e := range p.Escrow {
		if doc := content.Open(e.Name, e.Raw).Doc; e.Format == nameBook && doc.Kind() == canon.Object {
			node = doc.Clone()
			if node.Field("name").Text() == "" && body.Field("name").Text() == content.NameFromFile(e.Name, 0) {
				twin.Drop(body, "/name")
			}
			break
		}
	}
	return node, book.Lay(node, body)
}

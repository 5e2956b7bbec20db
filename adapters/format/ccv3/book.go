package ccv3

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
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
	twins "github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// The names of the formats of a book alone.
const (
	nameBook  = "character-book"
	nameBook3 = "lorebook-v3"
)

// A bookFormat is a book alone in a JSON file: bare, or in the wrapper of version 3.
type bookFormat struct {
	name string
	root string // where the book stands
}

// About implements content.Format.
func (f bookFormat) About() content.About {
	platform := "Character Card V2, lorebook"
	if f.root != "" {
		platform = "Character Card V3, lorebook"
	}
	return content.About{
		Name: f.name, Platform: platform, Ext: ".json", Verbatim: true,
		Kinds: []string{content.KindLorebook}, Writes: []string{content.KindLorebook},
	}
}

// Score implements content.Format.
func (f bookFormat) Score(file content.File) float64 {
	doc := file.Doc
	wrapped := doc.Field("spec").Text() == "lorebook_v3" && doc.Field("data").Kind() == canon.Object
	if f.root != "" {
		if wrapped {
			return 1
		}
		return 0
	}
	for _, foreign := range []string{"spec", "lorebookVersion", "kind", "type", "schemaVersion", "lorebook", "prompts", "first_mes", "originalData"} {
		if doc.Field(foreign) != nil {
			return 0
		}
	}
	if book.Is(doc) {
		return 0.85
	}
	return 0
}

// Read implements content.Format.
func (f bookFormat) Read(file content.File) (content.Reading, error) {
	node := file.Doc.At(f.root)
	if node.Kind() != canon.Object {
		return content.Reading{}, fault.New(content.CodeUnread, "ccv3.read", "%q holds no lorebook", file.Name)
	}
	body, problems := book.Read(node)
	found := content.Found{Kind: content.KindLorebook, Body: body, Notes: content.Notes{BookEntries: body.Field("entries").Len()}}
	return content.Reading{Found: []content.Found{found}, Warnings: problems}, nil
}

// Write implements content.Format.
func (f bookFormat) Write(w content.Writing) (content.Written, error) {
	doc, raw, same := canon.NewObject(), []byte(nil), false
	if w.Twin != nil {
		file := content.Open(w.Twin.Name, w.Twin.Raw)
		if file.Doc.At(f.root).Kind() != canon.Object {
			return content.Written{}, fault.New(content.CodeEscrow, "content.export", "the original %q of %s no longer reads", w.Twin.Name, w.Piece.Ref)
		}
		doc, raw, same = file.Doc, w.Twin.Raw, true
	}
	node, losses := layBook(w.Piece, w.Body)
	if f.root != "" {
		if !same {
			book.Regular(node)
			must(doc.Set("/spec", canon.NewText("lorebook_v3")))
		}
		must(doc.Set(f.root, node))
	} else {
		doc = node
	}
	return content.Written{Data: carrier.WriteJSON(raw, doc.Bytes()), Losses: losses}, nil
}

// layBook lays a lorebook over the node that it came from, if it came from one.
func layBook(p store.Piece, body *canon.Node) (*canon.Node, []content.Loss) {
	node, body := bookTwin(p), body.Clone()
	if node == nil {
		node = book.Fresh()
	} else if name := body.Field("name").Text(); node.Field("name").Text() == "" && name == nameOfBook(p) {
		drop(body, "/name") // it came from the file's name, and the file has none
	}
	losses := book.Lay(node, body)
	return node, losses
}

// bookTwin is the book in the escrow, as a document of its own; nil where there is none.
func bookTwin(p store.Piece) *canon.Node {
	for _, name := range []string{nameBook, nameBook3} {
		for _, e := range p.Escrow {
			if e.Format != name {
				continue
			}
			doc := content.Open(e.Name, e.Raw).Doc
			if name == nameBook3 {
				doc = doc.Field("data")
			}
			if doc.Kind() == canon.Object {
				return doc.Clone()
			}
		}
	}
	return nil
}

// nameOfBook is what a book without a name is called after its file.
func nameOfBook(p store.Piece) string {
	for _, e := range p.Escrow {
		if e.Format == nameBook || e.Format == nameBook3 {
			return content.NameFromFile(e.Name, 0)
		}
	}
	return ""
}

// findBook is the lorebook of a card as a piece of its own; false where there is none,
// or nothing is in it.
func findBook(c card.Card) (content.Found, []string, bool) {
	node := c.Book()
	if node.Kind() != canon.Object || node.Field("entries").Len() == 0 && node.Field("name").Text() == "" {
		return content.Found{}, nil, false
	}
	body, problems := book.Read(node)
	for i, p := range problems {
		problems[i] = "the lorebook: " + p
	}
	called := bookName(c)
	if body.Field("name") == nil {
		must(body.Set("/name", canon.NewText(called)))
		problems = append(problems, fmt.Sprintf("the lorebook has no name; it is called %q after the card", called))
	}
	return content.Found{
		Kind: content.KindLorebook, Body: body, Notes: content.Notes{BookEntries: body.Field("entries").Len()},
		Original: &store.Escrow{Format: nameBook, Name: called + ".json", Raw: node.Bytes()}, Place: bookAt,
	}, problems, true
}

// bookName is what a lorebook without a name is called after its card.
func bookName(c card.Card) string {
	return strings.NewReplacer("/", " ", `\`, " ").Replace(c.Body.At("/identity/name").Text() + " lorebook")
}

const (
	linkedBooks = "/links/lorebooks"
	bookAt      = "/data/character_book"
)

// embed puts the first linked lorebook into the card, over the one that is there. A
// lorebook that is linked and is not at hand leaves the card's own as it is; where none
// is linked any more, the card's own goes.
func (e *exporter) embed(doc *canon.Node, version card.Version, from *twin) {
	said := version == e.format.version
	links := e.body.At(linkedBooks)
	if said { // the book is a part of the file here
		e.losses = slices.DeleteFunc(e.losses, func(l content.Loss) bool {
			return l.Path == linkedBooks || version == card.V1 && links.Len() > 0 && l.Path == "original:/data/character_book"
		})
	}
	if version == card.V1 {
		for i, id := range links.Items() {
			e.lose(fmt.Sprintf("%s/%d", linkedBooks, i), id.Text(), "version 1 has no place for a lorebook")
		}
		return
	}
	const at = bookAt
	if e.inArchive(from) && hasBook(from.module) {
		if links.Len() == 0 && from.module.Doc.At(rpack.Lorebook).Len() > 0 {
			drop(doc, at)
		}
		return // the module's lorebook counts
	}
	if links.Len() == 0 {
		if doc.At(at+"/entries").Len() > 0 {
			drop(doc, at)
		}
		return
	}
	first := true
	for i, id := range links.Items() {
		p, body, ok := e.linked(id.Text())
		switch {
		case !ok:
			if said && (!first || doc.At(at) == nil || from != nil && hasBook(from.module)) {
				e.lose(fmt.Sprintf("%s/%d", linkedBooks, i), id.Text(), "the lorebook is not in this studio")
			}
			first = false // the card's own stays
			continue
		case !first:
			if said {
				e.lose(fmt.Sprintf("%s/%d", linkedBooks, i), id.Text(), "a card holds one lorebook; export this one by itself")
			}
			continue
		}
		first = false
		node, losses := layBook(p, body)
		if version == card.V3 && (from == nil || from.Version != card.V3) {
			book.Regular(node)
		}
		rename(doc, doc.At(at+"/name").Text(), node.Field("name").Text())
		must(doc.Set(at, node))
		for _, l := range losses {
			if said {
				l.Path = fmt.Sprintf("%s/%d%s", linkedBooks, i, l.Path)
				e.losses = append(e.losses, l)
			}
		}
	}
}

// rename makes the name by which SillyTavern links a card to its lorebook the new one,
// where it was the old one: else the link would break with the first import.
func rename(doc *canon.Node, old, name string) {
	const world = "/data/extensions/world"
	if old != "" && name != "" && name != old && doc.At(world).Text() == old {
		must(doc.Set(world, canon.NewText(name)))
	}
}

func (e *exporter) linked(id string) (store.Piece, *canon.Node, bool) {
	for _, p := range e.pieces {
		if p.Kind != content.KindLorebook || p.ID != id {
			continue
		}
		body, err := canon.ParseTree(p.Body)
		return p, body, err == nil
	}
	return store.Piece{}, nil, false
}

func drop(n *canon.Node, ptr string) {
	_, err := n.Delete(ptr)
	must(err)
}

// must is for pointers of our own into objects.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// clipped is a text for a loss.
func clipped(s string) string { return twins.Clip(canon.NewText(s)) }

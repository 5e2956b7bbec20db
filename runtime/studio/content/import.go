package content

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

// An Imported is what a file gave: all of its pieces, without a revision, because
// nothing is stored. A piece that another names comes before it.
type Imported struct {
	Format   string // that took the file; also the escrow's
	Pieces   []store.Piece
	Notes    []Notes // one a piece
	Warnings []string
}

// Open looks at a file. What cannot be read is for the formats to say: Open itself
// does not fail.
func Open(name string, data []byte) File {
	f := File{Name: path.Base(strings.ReplaceAll(name, `\`, "/")), Raw: data}
	f.Carrier, f.Err = carrier.Read(data)
	if f.Err != nil {
		return f
	}
	for _, p := range f.Carrier.Payloads {
		d := Doc{Keyword: p.Keyword}
		if d.Tree, d.Err = canon.ParseTree(p.Text); d.Err != nil {
			d.Tree = nil
		}
		f.Docs = append(f.Docs, d)
	}
	if f.Carrier.Kind == carrier.JSON {
		f.Doc, f.Err = f.Docs[0].Tree, f.Docs[0].Err
	}
	return f
}

// Import reads a file: every piece in it, or none. name is the file's, for people, and
// names a piece that has no name. The file is kept in the pieces' escrow. taken reports
// an id that is not free: a second piece of one name in the same file is given another.
func (t *Formats) Import(name string, data []byte) (Imported, error) {
	f := Open(name, data)
	best, score := t.detect(f)
	if best == nil {
		return Imported{}, unread(f)
	}
	_ = score
	r, err := t.read(best, f)
	if err != nil {
		return Imported{}, err
	}
	im := Imported{Format: best.About().Name, Warnings: r.Warnings}
	return im, im.build(f, r)
}

// detect is the format that is surest of the file.
func (t *Formats) detect(f File) (best Format, score float64) {
	score = 0.5
	for _, c := range t.list {
		if s := c.Score(f); s >= score && (best == nil || s > score) {
			best, score = c, s
		}
	}
	return best, score
}

func unread(f File) error {
	const op = "content.import"
	switch {
	case f.Err != nil:
		return f.Err
	case f.Doc != nil && isLumiverse(f.Doc):
		return fault.New(CodeUnread, op, "%q is a file of Lumiverse, which is not read: its licence forbids to build on it", f.Name).
			WithHint("export it from there as a Character Card or for SillyTavern")
	case f.Doc != nil:
		return fault.New(CodeUnread, op, "%q is JSON, and of no format that is known here", f.Name).
			WithHint("soundstage formats lists what is read")
	}
	return fault.New(CodeUnread, op, "%q is of no format that is known here: it begins with %q", f.Name, f.Raw[:min(len(f.Raw), 12)]).
		WithHint("soundstage formats lists what is read")
}

func isLumiverse(doc *canon.Node) bool {
	return strings.HasPrefix(doc.Field("format").Text(), "lumiverse") || doc.At("/data/extensions/lumiverse_modules") != nil
}

// read lets a format read, and fills names that are missing.
func (t *Formats) read(format Format, f File) (Reading, error) {
	r, err := format.Read(f)
	if err != nil {
		return r, err
	}
	for i, found := range r.Found {
		at := "/name"
		if found.Kind == KindCharacter {
			at = "/identity/name"
		}
		if found.Body.At(at).Text() != "" {
			continue
		}
		stem := NameFromFile(f.Name, i)
		r.Warnings = append(r.Warnings, fmt.Sprintf("the %s has no name; it is called %q after its file", nounOfKind(found.Kind), stem))
		must(found.Body.Set(at, canon.NewText(stem)))
	}
	return r, nil
}

// NameFromFile is what the nth piece of a file is called that has no name, n from 0.
func NameFromFile(file string, n int) string {
	stem := strings.ToValidUTF8(strings.TrimSuffix(file, path.Ext(file)), "")
	if stem == "" || stem == "." || stem == "/" {
		stem = "Unnamed"
	}
	if n > 0 {
		stem += fmt.Sprintf(" %d", n+1)
	}
	return stem
}

func nounOfKind(kind string) string {
	if kind == KindCharacter {
		return "card"
	}
	return kind
}

func (im *Imported) build(f File, r Reading) error {
	const op = "content.import"
	ids := make([]string, len(r.Found))
	taken := map[store.Ref]bool{}
	for i, found := range r.Found {
		name := found.Body.At("/name").Text()
		if found.Kind == KindCharacter {
			name = found.Body.At("/identity/name").Text()
		}
		id := store.DeriveID(name)
		for n := 2; taken[store.Ref{Kind: found.Kind, ID: id}]; n++ {
			id = fmt.Sprintf("%s-%d", store.DeriveID(name), n)
		}
		taken[store.Ref{Kind: found.Kind, ID: id}] = true
		ids[i] = id
	}
	for i, found := range r.Found {
		for _, l := range found.Links {
			link(found.Body, l, ids[l.To])
		}
		raw, err := canon.JSON(found.Body.Bytes())
		if err != nil {
			return fault.Wrap(err, CodeBody, op, "the %s in %q has no canonical form", found.Kind, f.Name)
		}
		if len(raw) > store.MaxBody {
			return fault.New(fault.TooLarge, op, "the %s in %q has %d bytes without its original, the bound is %d", found.Kind, f.Name, len(raw), store.MaxBody)
		}
		kind, err := kindNamed(found.Kind)
		if err != nil {
			return err
		}
		title, err := kind.Title(raw)
		if err != nil {
			return err
		}
		esc := store.Escrow{Format: im.Format, Name: f.Name, Raw: slices.Clone(f.Raw)}
		if found.Original != nil {
			esc = *found.Original
		}
		im.Pieces = append(im.Pieces, store.Piece{Ref: store.Ref{Kind: found.Kind, ID: ids[i]}, Title: title, Body: raw, Escrow: []store.Escrow{esc}})
		im.Notes = append(im.Notes, found.Notes)
	}
	slices.Reverse(im.Pieces) // what is named comes first
	slices.Reverse(im.Notes)
	return nil
}

// Renamed gives the last of a file's pieces the id, and those that it brings along ids
// made of it: lorebook/ada-lorebook for character/ada. Pieces that do not belong together
// are refused.
func Renamed(pieces []store.Piece, id string) ([]store.Piece, error) {
	const op = "content.import"
	pieces = slices.Clone(pieces)
	last := &pieces[len(pieces)-1]
	kind, err := kindNamed(last.Kind)
	if err != nil {
		return nil, err
	}
	body, err := canon.ParseTree(last.Body)
	if err != nil {
		return nil, err
	}
	links := kind.Links(last.Body)
	count := map[string]int{}
	for i := range pieces[:len(pieces)-1] {
		p := &pieces[i]
		if !slices.Contains(links, p.Ref) {
			return nil, fault.New(fault.Invalid, op, "%s and %s do not belong together", last.Ref, p.Ref)
		}
		was := p.ID
		p.ID = id + "-" + p.Kind
		if count[p.Kind]++; count[p.Kind] > 1 {
			p.ID += fmt.Sprintf("-%d", count[p.Kind])
		}
		if err := store.CheckID(p.ID); err != nil {
			return nil, err
		}
		for _, list := range []string{"/links/" + p.Kind + "s", "/links/" + p.Kind + "es", "/" + p.Kind + "es"} {
			renameLink(body, list, was, p.ID)
		}
		if p.Kind == KindLorebook && body.Field("book").Text() == was {
			must(body.Set("/book", canon.NewText(p.ID)))
		}
	}
	last.ID = id
	last.Body, err = canon.JSON(body.Bytes())
	return pieces, err
}

func renameLink(body *canon.Node, list, was, now string) {
	for i, it := range body.At(list).Items() {
		if it.Text() == was {
			must(body.Set(fmt.Sprintf("%s/%d", list, i), canon.NewText(now)))
		}
	}
}

func link(body *canon.Node, l FoundLink, id string) {
	if !l.List {
		must(body.Set(l.Path, canon.NewText(id)))
		return
	}
	items := []*canon.Node{}
	for _, it := range body.At(l.Path).Items() {
		items = append(items, it)
	}
	must(body.Set(l.Path, canon.NewArray(append(items, canon.NewText(id))...)))
}

package ccv3

import (
	"bytes"
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/risulore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
	twins "github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// moduleUnread is said of an archive of Risu whose module is not read. A module is spelled
// with a table that only Risu has, under a licence that does not let it be built in.
const moduleUnread = "the archive has a module of Risu (module.risum), which is kept and not read: its bytes are spelled with a table of Risu's own. " +
	"In Risu its lorebook, regex and triggers count instead of the card's; here the card's own stay. Where " + rpack.Setting + " in soundstage.yaml names the table, it is read"

// inModule are lists of a module, and where a card has its own.
var inModule = [][2]string{{rpack.Triggers, risuBag + "/triggerscript"}, {rpack.Regex, risuBag + "/customScripts"}}

// moduleOf is the module in an archive; nil, and why, where there is none that reads.
// A table that is no table is an error: the person has named it.
func (f format) moduleOf(file content.File) (*rpack.Module, []string, error) {
	if !file.Carrier.Entries[carrier.Module] {
		return nil, nil, nil
	}
	if !f.spell.Set() {
		return nil, []string{moduleUnread}, nil
	}
	m, err := f.openModule(file)
	switch {
	case fault.CodeOf(err) == rpack.CodeTable:
		return nil, nil, err
	case err != nil:
		return nil, []string{fmt.Sprintf("the module of Risu in the archive (module.risum) is kept and not read; the card's own lists count: %v", err)}, nil
	}
	told := []string{"the archive has a module of Risu (module.risum): its lorebook, regex and triggers count instead of the card's, and edits of them go into it"}
	if m.Assets > 0 {
		told = append(told, fmt.Sprintf("the assets of the module (%d) stay in the archive", m.Assets))
	}
	return &m, told, nil
}

// Unpack implements content.Unpacker.
func (f format) Unpack(file content.File) (content.Doc, error) {
	if !f.spell.Set() || !file.Carrier.Entries[carrier.Module] {
		return content.Doc{}, fault.New(fault.NotFound, "ccv3.unpack", "%q has no module that is read", file.Name)
	}
	m, err := f.openModule(file)
	return content.Doc{Keyword: carrier.Module, Tree: m.Doc}, err
}

func (f format) openModule(file content.File) (rpack.Module, error) {
	for _, d := range file.Docs {
		if d.Keyword == carrier.Module {
			return rpack.Module{Doc: d.Tree}, nil
		}
	}
	data, err := carrier.Entry(file.Raw, carrier.Module)
	if err != nil {
		return rpack.Module{}, err
	}
	return f.spell.Module(carrier.Module, data)
}

// withModule is the card as Risu reads it: with the module's lists in place of its own.
func withModule(c card.Card, m *rpack.Module) (card.Card, error) {
	if m == nil || c.Version == card.V1 {
		return c, nil
	}
	doc := c.Doc.Clone()
	for _, l := range inModule {
		list := m.Doc.At(l[0])
		if list.Kind() != canon.Array {
			list = canon.NewArray() // to Risu the card has none then
		}
		if list.Len() > 0 || doc.At(l[1]) != nil {
			twins.Lift(doc, l[1], list.Clone())
		}
	}
	return card.ReadTree(doc)
}

// hasBook reports a module whose lorebook counts.
func hasBook(m *rpack.Module) bool { return m != nil && m.Doc.At(rpack.Lorebook).Kind() == canon.Array }

// findModuleBook is the module's lorebook as a piece of its own; false where nothing is
// in it.
func findModuleBook(c card.Card, m *rpack.Module) (content.Found, []string, bool) {
	if !hasBook(m) || m.Doc.At(rpack.Lorebook).Len() == 0 {
		return content.Found{}, nil, false
	}
	rows := m.Doc.At(rpack.Lorebook)
	body, problems := risulore.Read(rows)
	for i, p := range problems {
		problems[i] = "the lorebook of the module: " + p
	}
	called := bookName(c)
	must(body.Set("/name", canon.NewText(called)))
	return content.Found{
		Kind: content.KindLorebook, Body: body, Notes: content.Notes{BookEntries: body.Field("entries").Len()},
		Original: &store.Escrow{Format: risulore.Format, Name: called + ".json", Raw: risulore.Alone(rows).Bytes()},
	}, problems, true
}

// embedBook lays the first linked lorebook over the rows of the module. Like embed it
// leaves them as they are where that lorebook is not at hand.
func (e *exporter) embedBook(m *rpack.Module) {
	links := e.body.At(linkedBooks)
	rows := m.Doc.At(rpack.Lorebook)
	if links.Len() == 0 {
		if rows.Len() > 0 {
			twins.Lift(m.Doc, rpack.Lorebook, canon.NewArray())
		}
		return
	}
	for i, id := range links.Items() {
		at := fmt.Sprintf("%s/%d", linkedBooks, i)
		p, body, ok := e.linked(id.Text())
		switch {
		case i > 0:
			e.lose(at, id.Text(), "a card holds one lorebook; export this one by itself")
			continue
		case !ok:
			if rows.Len() == 0 {
				e.lose(at, id.Text(), "the lorebook is not in this studio")
			}
			continue
		}
		put, losses := layRows(p, body, rows)
		if string(put.Bytes()) != string(rows.Bytes()) {
			losses = append(losses, twins.Lift(m.Doc, rpack.Lorebook, put)...)
		}
		for _, l := range losses {
			l.Path = at + l.Path
			e.losses = append(e.losses, l)
		}
	}
}

// layRows lays a lorebook over the rows that it came from: those of the module, while they
// are still the same, so that their white space stays.
func layRows(p store.Piece, body, rows *canon.Node) (*canon.Node, []content.Loss) {
	body = body.Clone()
	var own *canon.Node
	for _, esc := range p.Escrow {
		if esc.Format != risulore.Format {
			continue
		}
		own = content.Open(esc.Name, esc.Raw).Doc.Field("data")
		if body.Field("name").Text() == content.NameFromFile(esc.Name, 0) {
			drop(body, "/name") // it came from the file's name, and rows have none
		}
		break
	}
	switch {
	case own.Kind() != canon.Array:
		own = canon.NewArray()
	case canon.Equal(own, rows):
		own = rows
	}
	put, losses := risulore.Lay(body, own)
	for _, key := range []string{"name", "description", "tags", "settings"} {
		if v := body.Field(key); v != nil {
			losses = append(losses, content.Loss{Path: "/" + key, Value: twins.Clip(v), Verdict: twins.Dropped, Reason: "the lorebook of a module is rows alone"})
		}
	}
	return put, losses
}

// intoModule moves what belongs to the module out of the card's document, in which the
// card's own lists are put back, and gives the module as it is spelled then.
func (e *exporter) intoModule(doc *canon.Node, t *twin) ([]byte, error) {
	m := *t.module
	m.Doc = m.Doc.Clone()
	for _, l := range inModule {
		now, was := doc.At(l[1]), m.Doc.At(l[0])
		switch {
		case now.Len() == 0 && was.Len() == 0, was != nil && now != nil && string(was.Bytes()) == string(now.Bytes()):
		case now == nil:
			e.losses = append(e.losses, twins.Lift(m.Doc, l[0], canon.NewArray())...)
		default:
			e.losses = append(e.losses, twins.Lift(m.Doc, l[0], now.Clone())...)
		}
		if own := t.own.At(l[1]); own != nil {
			twins.Lift(doc, l[1], own.Clone())
		} else if now != nil {
			drop(doc, l[1])
		}
	}
	for _, bag := range []string{risuBag, "/data/extensions"} { // made for the lists alone
		if doc.At(bag) != nil && doc.At(bag).Len() == 0 && t.own.At(bag) == nil {
			drop(doc, bag)
		}
	}
	if hasBook(&m) {
		e.embedBook(&m)
	}
	e.stripped = append(e.stripped, content.Clean(m.Doc)...) // what is spelled is for nobody else to look into
	return e.format.spell.Spell(carrier.Module, m)
}

// moduleArchive writes the archive that t came from, with what changed. Where nothing did
// it is the same file.
func (e *exporter) moduleArchive(doc *canon.Node, t *twin) ([]byte, error) {
	module, err := e.intoModule(doc, t)
	if err != nil {
		return nil, err
	}
	text, was := doc.Bytes(), t.own.Bytes()
	old, err := carrier.Entry(t.raw, carrier.Module)
	switch {
	case err != nil:
		return nil, err
	case bytes.Equal(old, module) && bytes.Equal(text, was) && carrier.Sniff(t.raw) == carrier.Archive:
		return t.raw, nil
	case bytes.Equal(old, module):
		return carrier.WriteArchive(t.raw, text)
	}
	return carrier.WriteModule(t.raw, text, module)
}

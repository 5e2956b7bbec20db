// Package ccv3 is the format of Character Cards, versions 1 to 3, in the files that
// carry them, and of their lorebooks.
//
// It is an adapter of the content studio: the codecs are runtime/studio/content/card and
// content/carrier, the port is content.Format. It knows no other platform, reads no
// disk, and never opens what a card brings to be run.
package ccv3

import (
	"fmt"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
)

// A format is one version in one kind of file.
type format struct {
	name    string
	kind    carrier.Kind
	version card.Version
	spell   *rpack.Speller // of a module in an archive
}

// Formats are the formats of this platform. The module in an archive of Risu is read and
// written with spell.
func Formats(spell *rpack.Speller) []content.Format {
	return []content.Format{
		format{"json-v1", carrier.JSON, card.V1, spell},
		format{"json-v2", carrier.JSON, card.V2, spell},
		format{"json-v3", carrier.JSON, card.V3, spell},
		format{"png-v1", carrier.PNG, card.V1, spell},
		format{"png-v2", carrier.PNG, card.V2, spell},
		format{"png-v3", carrier.PNG, card.V3, spell},
		format{"charx", carrier.Archive, card.V3, spell},
		format{"jpeg-charx", carrier.JPEG, card.V3, spell},
		bookFormat{nameBook, ""},
		bookFormat{nameBook3, "/data"},
	}
}

// About implements content.Format.
func (f format) About() content.About {
	a := content.About{
		Name: f.name, Platform: "Character Card " + strings.ToUpper(f.version.String()), Ext: "." + string(f.kind), Verbatim: true,
		Kinds: []string{content.KindCharacter, content.KindLorebook, content.KindRegex}, Writes: []string{content.KindCharacter},
	}
	switch f.kind {
	case carrier.Archive:
		a.Ext = ".charx"
	case carrier.JPEG:
		a.Ext, a.Writes, a.Instead = ".jpg", nil, "charx"
	}
	return a
}

// packed reports an archive, or one behind a picture.
func (f format) packed() bool { return f.kind == carrier.Archive || f.kind == carrier.JPEG }

// Score implements content.Format: a flat card is the least specific of all.
func (f format) Score(file content.File) float64 {
	if file.Carrier.Kind != f.kind {
		return 0
	}
	c, _, err := pick(file)
	switch {
	case err != nil && (f.packed() || f.version == card.V2 && f.kind == carrier.PNG):
		return 0.5 // to say what is wrong with it
	case err == nil && f.packed():
		return 1
	case err != nil || c.Version != f.version:
		return 0
	case c.Version == card.V1:
		return 0.6
	}
	return 0.9
}

// Read implements content.Format.
func (f format) Read(file content.File) (content.Reading, error) {
	r := content.Reading{Warnings: append([]string{}, file.Carrier.Warnings...)}
	c, warnings, err := pick(file)
	if err != nil {
		return content.Reading{}, err
	}
	m, told, err := f.moduleOf(file)
	if err != nil {
		return content.Reading{}, err
	}
	if c, err = withModule(c, m); err != nil {
		return content.Reading{}, err
	}
	r.Warnings = append(append(append(r.Warnings, warnings...), c.Warnings...), told...)
	if m != nil {
		r.Inside = []string{carrier.Module}
	}
	found := content.Found{Kind: content.KindCharacter, Body: c.Body, Notes: content.Notes{Spec: c.Version.String(), BookEntries: c.BookEntries}}
	r.Warnings = append(r.Warnings, countAssets(&found.Notes, c.Body, file.Carrier)...)
	if file.Carrier.Kind == carrier.PNG {
		if err := c.Body.Set("/media/portrait", canon.NewText(content.OriginalPrefix+f.name)); err != nil {
			return content.Reading{}, err
		}
	}
	lore, problems, ok := findBook(c)
	if hasBook(m) {
		lore, problems, ok = findModuleBook(c, m)
		found.Notes.BookEntries = lore.Notes.BookEntries
	}
	if ok {
		found.Links = []content.FoundLink{{Path: linkedBooks, List: true, To: 1}}
		r.Found, r.Warnings = []content.Found{found, lore}, append(r.Warnings, problems...)
	} else {
		r.Found = []content.Found{found}
	}
	findScripts(c, &r)
	return r, nil
}

// pick reads every card in the file and takes the newest kind.
func pick(file content.File) (best card.Card, warnings []string, err error) {
	cards := map[string]card.Card{}
	err = fault.New(carrier.CodeNoCard, "ccv3.read", "%q carries no card", file.Name)
	if file.Err != nil {
		err = file.Err
	}
	none := err
	for _, d := range file.Docs {
		if d.Keyword != "" && d.Keyword != carrier.Chara && d.Keyword != carrier.CCV3 {
			continue
		}
		c, e := card.Card{}, d.Err
		if e == nil {
			c, e = card.ReadTree(d.Tree)
		}
		if e != nil {
			if err == none {
				err = e
			}
			if len(file.Docs) > 1 {
				warnings = append(warnings, fmt.Sprintf("the %s chunk holds no card and is ignored: %v", d.Keyword, e))
			}
			continue
		}
		cards[d.Keyword] = c
	}
	v3, has3 := cards[carrier.CCV3]
	v2, has2 := cards[carrier.Chara]
	if has2 && has3 {
		if diff := card.Differ(v2, v3); len(diff) > 0 {
			warnings = append(warnings, "chara/ccv3 differ in "+strings.Join(diff, ", ")+"; ccv3 is used")
		}
	}
	switch {
	case has3:
		return v3, warnings, nil
	case has2:
		return v2, warnings, nil
	}
	if c, ok := cards[""]; ok {
		return c, warnings, nil
	}
	return card.Card{}, warnings, err
}

func countAssets(n *content.Notes, body *canon.Node, file carrier.File) (warnings []string) {
	for _, a := range body.At("/media/assets").Items() {
		n.Assets++
		uri := a.Field("uri").Text()
		chunk, inChunk := strings.CutPrefix(uri, assetPrefix)
		entry, inArchive := entryOf(uri)
		if inChunk && !file.Assets[chunk] || inArchive && !file.Entries[entry] {
			if n.Missing++; n.Missing > 3 {
				continue
			}
			warnings = append(warnings, fmt.Sprintf("the asset %q is not in the file: there is nothing for %q", clipped(a.Field("name").Text()), clipped(uri)))
		}
	}
	if n.Missing > 3 {
		warnings = append(warnings, fmt.Sprintf("%d assets are not in the file", n.Missing))
	}
	return warnings
}

// assetPrefix begins the URI of an asset in a chunk of the picture.
const assetPrefix = "__asset:"

// entryOf is the name in the archive of an asset that is there. The specification's
// spelling is the one with a mistake.
func entryOf(uri string) (string, bool) {
	for _, p := range []string{"embeded://", "embedded://"} {
		if name, ok := strings.CutPrefix(uri, p); ok {
			return name, true
		}
	}
	return "", false
}

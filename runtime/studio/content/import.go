package content

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

// Imported is what a file gave.
type Imported struct {
	Piece       store.Piece // without a revision: nothing is stored
	Format      string      // "png-v3"; also the escrow's
	Warnings    []string
	BookEntries int // of a lorebook in the card; it stays in the original file
	Assets      int // that the card names
	Missing     int // of those, the ones that the file should carry and does not
}

// Import reads a character card from a file: JSON or PNG, versions 1 to 3. name is
// the file's, for people, and names a character that has no name. The file is kept
// whole in the piece's escrow.
func Import(name string, data []byte) (Imported, error) {
	file, err := carrier.Read(data)
	if err != nil {
		return Imported{}, err
	}
	im := Imported{Warnings: file.Warnings}
	c, err := im.pick(file)
	if err != nil {
		return Imported{}, err
	}
	im.Format = fmt.Sprintf("%s-%s", file.Kind, c.Version)
	im.Warnings = append(im.Warnings, c.Warnings...)
	im.BookEntries = c.BookEntries
	im.countAssets(c.Body, file)
	if file.Kind == carrier.PNG {
		if err := c.Body.Set("/media/portrait", canon.NewText(originalPrefix+im.Format)); err != nil {
			return Imported{}, err
		}
	}
	return im, im.finish(name, data, c.Body)
}

// originalPrefix begins a portrait that is the picture of an imported file.
const originalPrefix = "original:"

// pick reads every card in the file and takes the newest kind.
func (im *Imported) pick(file carrier.File) (card.Card, error) {
	cards := map[string]card.Card{}
	var first error
	for _, p := range file.Payloads {
		c, err := card.Read(p.Text)
		if err != nil {
			if first == nil {
				first = err
			}
			if len(file.Payloads) > 1 {
				im.Warnings = append(im.Warnings, fmt.Sprintf("the %s chunk holds no card and is ignored: %v", p.Keyword, err))
			}
			continue
		}
		cards[p.Keyword] = c
	}
	v3, has3 := cards[carrier.CCV3]
	v2, has2 := cards[carrier.Chara]
	if has2 && has3 {
		if diff := card.Differ(v2, v3); len(diff) > 0 {
			im.Warnings = append(im.Warnings, "chara/ccv3 differ in "+strings.Join(diff, ", ")+"; ccv3 is used")
		}
	}
	switch {
	case has3:
		return v3, nil
	case has2:
		return v2, nil
	}
	if c, ok := cards[""]; ok {
		return c, nil
	}
	return card.Card{}, first
}

func (im *Imported) countAssets(body *canon.Node, file carrier.File) {
	for _, a := range body.At("/media/assets").Items() {
		im.Assets++
		n, inChunk := strings.CutPrefix(a.Field("uri").Text(), assetPrefix)
		if inChunk && !file.Assets[n] {
			if im.Missing++; im.Missing > 3 {
				continue
			}
			im.Warnings = append(im.Warnings, fmt.Sprintf("the asset %q is not in the file: there is no chunk for %q",
				a.Field("name").Text(), a.Field("uri").Text()))
		}
	}
	if im.Missing > 3 {
		im.Warnings = append(im.Warnings, fmt.Sprintf("%d assets are not in the file", im.Missing))
	}
}

// assetPrefix begins the URI of an asset in a chunk of the picture.
const assetPrefix = "__asset:"

func (im *Imported) finish(name string, data []byte, body *canon.Node) error {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if body.At("/identity/name") == nil {
		stem := strings.ToValidUTF8(strings.TrimSuffix(base, path.Ext(base)), "")
		if stem == "" || stem == "." || stem == "/" {
			stem = "Unnamed"
		}
		im.Warnings = append(im.Warnings, fmt.Sprintf("the card has no name; it is called %q after its file", stem))
		if err := body.Set("/identity/name", canon.NewText(stem)); err != nil {
			return err
		}
	}
	raw, err := canon.JSON(body.Bytes())
	if err != nil {
		return fault.Wrap(err, CodeBody, "content.import", "the card %q has no canonical form", base)
	}
	if len(raw) > store.MaxBody {
		return fault.New(fault.TooLarge, "content.import", "the character has %d bytes without its original, the bound is %d", len(raw), store.MaxBody)
	}
	c, err := ParseCharacter(raw)
	if err != nil {
		return err
	}
	im.Piece = store.Piece{
		Ref:    store.Ref{Kind: KindCharacter, ID: store.DeriveID(c.Identity.Name)},
		Title:  titleOf(c),
		Body:   raw,
		Escrow: []store.Escrow{{Format: im.Format, Name: base, Raw: slices.Clone(data)}},
	}
	return nil
}

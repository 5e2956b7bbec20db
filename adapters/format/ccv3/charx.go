package ccv3

import (
	"fmt"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	twins "github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// charx writes an archive. Files of the original archive come along as they are; a
// picture and its assets become files.
func (e *exporter) charx() ([]byte, error) {
	doc, t := e.write(card.V3)
	original := e.archive()
	if original != nil {
		e.loseAssets(assetPrefix, "the asset's bytes are not in the archive")
		e.losePortrait("the archive keeps the icon that it has")
		if e.inArchive(t) {
			return e.moduleArchive(doc, t)
		}
		return carrier.WriteArchive(original, doc.Bytes())
	}
	e.loseAssets("embed", "the asset's bytes are in an archive that is not here")
	var extras []carrier.Extra
	if picture, err := e.picture(); err == nil {
		plain, err := carrier.WritePNG(picture, nil, nil)
		if err != nil {
			return nil, err
		}
		extras = append(e.unchunk(doc, picture), carrier.Extra{Name: mainIcon, Data: plain})
		e.setIcon(doc)
	} else {
		e.losePortrait("only a PNG can become the icon of an archive")
	}
	return carrier.WriteArchive(nil, doc.Bytes(), extras...)
}

// inArchive reports that a card is written back into the archive of its module.
func (e *exporter) inArchive(t *twin) bool {
	return e.format.kind == carrier.Archive && t != nil && t.module != nil
}

// losePortrait names a picture that does not go along. That of the imported file is
// where it was.
func (e *exporter) losePortrait(why string) {
	if at := e.body.At("/media/portrait"); at != nil && !strings.HasPrefix(at.Text(), content.OriginalPrefix) {
		e.lose("/media/portrait", at.Text(), why)
	}
}

// mainIcon is where the picture of a card goes in an archive.
const mainIcon = "assets/icon/images/main.png"

// spelledURI is the specification's prefix of files in the archive, as it is spelled there.
const spelledURI = "embeded://"

// archive is the archive that the piece came from, or nil.
func (e *exporter) archive() []byte {
	for _, esc := range e.piece.Escrow {
		if kind := carrier.Sniff(esc.Raw); kind == carrier.Archive || kind == carrier.JPEG {
			if _, err := carrier.Read(esc.Raw); err == nil {
				return esc.Raw
			}
		}
	}
	return nil
}

// icon is the main icon out of the archive, if it is a PNG.
func (e *exporter) icon() []byte {
	raw := e.archive()
	if raw == nil {
		return nil
	}
	for _, a := range e.body.At("/media/assets").Items() {
		name, ok := entryOf(a.Field("uri").Text())
		if !ok || a.Field("type").Text() != "icon" {
			continue
		}
		if data, err := carrier.Entry(raw, name); err == nil && carrier.Sniff(data) == carrier.PNG {
			return data
		}
	}
	return nil
}

// setIcon makes the picture the main icon: in place of one that stands for the card's
// picture, or as another where there is none.
func (e *exporter) setIcon(doc *canon.Node) {
	const at = "/data/assets"
	if portrait := e.body.At("/media/portrait"); portrait != nil {
		e.losses = append(e.losses, content.Loss{
			Path: "/media/portrait", Value: twins.Clip(portrait), Verdict: twins.Renamed, Reason: "the picture becomes the asset " + mainIcon,
		})
	}
	for i, a := range doc.At(at).Items() {
		if a.Field("type").Text() != "icon" {
			continue
		}
		if a.Field("uri").Text() == "ccdefault:" {
			must(doc.Set(fmt.Sprintf("%s/%d/uri", at, i), canon.NewText(spelledURI+mainIcon)))
			e.losses = append(e.losses, content.Loss{
				Path: fmt.Sprintf("/media/assets/%d/uri", i), Value: "ccdefault:", Verdict: twins.Renamed, Reason: "the picture becomes the asset " + mainIcon,
			})
		}
		return
	}
	icon := canon.NewObject()
	for _, m := range [][2]string{{"type", "icon"}, {"uri", spelledURI + mainIcon}, {"name", "main"}, {"ext", "png"}} {
		must(icon.Set("/"+m[0], canon.NewText(m[1])))
	}
	if doc.At(at).Kind() != canon.Array {
		must(doc.Set(at, canon.NewArray()))
	}
	must(doc.Set(at+"/-", icon))
}

// unchunk takes the assets out of the picture's chunks, and names them anew.
func (e *exporter) unchunk(doc *canon.Node, picture []byte) (extras []carrier.Extra) {
	for i, a := range doc.At("/data/assets").Items() {
		n, ok := strings.CutPrefix(a.Field("uri").Text(), assetPrefix)
		if !ok {
			continue
		}
		path := fmt.Sprintf("/media/assets/%d", i)
		data := carrier.PNGAsset(picture, n)
		if data == nil {
			e.lose(path, a.Field("uri").Text(), "the asset's bytes are not in the picture")
			continue
		}
		name := fmt.Sprintf("assets/other/other/%d", i)
		if ext := a.Field("ext").Text(); ext != "" && strings.Trim(ext, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
			name += "." + ext
		}
		must(doc.Set(fmt.Sprintf("/data/assets/%d/uri", i), canon.NewText(spelledURI+name)))
		extras = append(extras, carrier.Extra{Name: name, Data: data})
		e.losses = append(e.losses, content.Loss{
			Path: path + "/uri", Value: clipped(a.Field("uri").Text()), Verdict: twins.Renamed, Reason: "the chunk of the picture becomes the file " + name,
		})
	}
	return extras
}

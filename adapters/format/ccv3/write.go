package ccv3

import (
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
	twins "github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Write implements content.Format. Of a changed piece only the changed values differ
// from the file that it came from.
func (f format) Write(w content.Writing) (content.Written, error) {
	e := exporter{piece: w.Piece, format: f, body: w.Body, pieces: w.Linked}
	if err := e.readTwins(); err != nil {
		return content.Written{}, err
	}
	var data []byte
	var err error
	switch f.kind {
	case carrier.PNG:
		data, err = e.png()
	case carrier.Archive:
		data, err = e.charx()
	default:
		data = e.json()
	}
	return content.Written{Data: data, Losses: e.losses, Stripped: e.stripped}, err
}

type exporter struct {
	piece    store.Piece
	format   format
	body     *canon.Node
	pieces   []store.Piece // that the piece names, as far as they are at hand
	twins    []twin
	losses   []content.Loss
	stripped []string // pointers of credentials that were taken out of a module
}

// A twin is a card document out of the escrow.
type twin struct {
	card.Card
	kind   carrier.Kind
	raw    []byte        // of the file
	own    *canon.Node   // the document in the file; Doc has the lists of the module in it
	module *rpack.Module // in the archive; nil where there is none, or it does not read
}

// readTwins reads the cards of the escrow. What does not read is another format's.
func (e *exporter) readTwins() error {
	for _, esc := range e.piece.Escrow {
		file, err := carrier.Read(esc.Raw)
		if err != nil {
			continue
		}
		m, _, err := e.format.moduleOf(content.File{Raw: esc.Raw, Carrier: file})
		if err != nil {
			return err
		}
		for _, p := range file.Payloads {
			own, err := card.Read(p.Text)
			if err != nil {
				continue
			}
			if c, err := withModule(own, m); err == nil {
				e.twins = append(e.twins, twin{Card: c, kind: file.Kind, raw: esc.Raw, own: own.Doc, module: m})
			}
		}
	}
	return nil
}

// nearest is the twin to write version over: of the same version, in the same kind
// of file before another; else the next higher version, else the next lower.
func (e *exporter) nearest(version card.Version) *twin {
	rank := func(t twin) int {
		r := 0
		switch {
		case t.Version > version:
			r = int(t.Version-version) * 2
		case t.Version < version:
			r = int(version-t.Version)*2 + 10
		}
		if t.kind != e.format.kind {
			r++
		}
		return r
	}
	var best *twin
	for i, t := range e.twins {
		if best == nil || rank(t) < rank(*best) {
			best = &e.twins[i]
		}
	}
	return best
}

// write gives the document of a version; its losses only count for the version
// that was asked for.
func (e *exporter) write(version card.Version) (*canon.Node, *twin) {
	t := e.nearest(version)
	var over *card.Card
	if t != nil {
		over = &t.Card
	}
	doc, losses := card.Write(e.body, version, over)
	if version == e.format.version {
		e.losses = append(e.losses, losses...)
	}
	e.embed(doc, version, t)
	e.embedScripts(doc, version)
	return doc, t
}

func (e *exporter) json() []byte {
	doc, t := e.write(e.format.version)
	if at := e.body.At("/media/portrait"); at != nil {
		e.lose("/media/portrait", at.Text(), "a JSON file carries no picture")
	}
	e.loseAssets(assetPrefix, "the asset's bytes are in a chunk of the picture")
	e.loseAssets("embed", "the asset's bytes are in the archive")
	if t != nil && t.kind == carrier.JSON && t.Version == e.format.version {
		return carrier.WriteJSON(t.raw, doc.Bytes())
	}
	return carrier.WriteJSON(nil, doc.Bytes())
}

// loseAssets says which assets stay behind, by how their URIs begin.
func (e *exporter) loseAssets(prefix, why string) {
	for i, a := range e.body.At("/media/assets").Items() {
		if uri := a.Field("uri").Text(); strings.HasPrefix(uri, prefix) {
			e.lose(canon.JoinPointer("media", "assets", strconv.Itoa(i)), uri, why)
		}
	}
}

func (e *exporter) lose(path, value, why string) {
	e.losses = append(e.losses, content.Loss{Path: path, Value: clipped(value), Verdict: twins.Dropped, Reason: why})
}

func (e *exporter) png() ([]byte, error) {
	doc, _ := e.write(e.format.version)
	picture, err := e.picture()
	if err != nil {
		return nil, err
	}
	if e.format.version == card.V3 {
		e.loseAssets("embed", "the asset's bytes are in the archive")
	}
	if e.format.version != card.V3 {
		return carrier.WritePNG(picture, doc.Bytes(), nil)
	}
	older, _ := e.write(card.V2)
	return carrier.WritePNG(picture, older.Bytes(), doc.Bytes())
}

// picture is the portrait as PNG bytes.
func (e *exporter) picture() ([]byte, error) {
	portrait := e.body.At("/media/portrait").Text()
	if raw := content.InlinePNG(portrait); raw != nil {
		return raw, nil
	}
	for _, esc := range e.piece.Escrow {
		if carrier.Sniff(esc.Raw) == carrier.PNG {
			if portrait != "" && !strings.HasPrefix(portrait, content.OriginalPrefix) {
				e.lose("/media/portrait", portrait, "only a PNG as a data: URI can be the picture of a card; that of the imported file is used")
			}
			return esc.Raw, nil
		}
	}
	if icon := e.icon(); icon != nil {
		return icon, nil
	}
	return nil, fault.New(content.CodeNoPicture, "content.export", "%s has no PNG picture to carry the card", e.piece.Ref).
		WithHint("export as json-%s, or import the character from a PNG", e.format.version)
}

package content

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

// A Loss is one value that an export cannot hold whole.
type Loss = card.Loss

type format struct {
	name    string
	kind    carrier.Kind
	version card.Version
}

var formats = []format{
	{"json-v1", carrier.JSON, card.V1},
	{"json-v2", carrier.JSON, card.V2},
	{"json-v3", carrier.JSON, card.V3},
	{"png-v1", carrier.PNG, card.V1},
	{"png-v2", carrier.PNG, card.V2},
	{"png-v3", carrier.PNG, card.V3},
}

// Formats lists the names that Export takes.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Export writes a character as a file of a format, and says what the format cannot
// hold. A piece that was imported from that format and not changed since is the
// same bytes; of a changed one only the changed values differ.
func Export(p store.Piece, formatName string) (name string, data []byte, losses []Loss, err error) {
	const op = "content.export"
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == formatName })
	if i < 0 {
		return "", nil, nil, fault.New(CodeFormat, op, "there is no format %q", formatName).
			WithHint("use one of %s", strings.Join(Formats(), ", "))
	}
	if _, err := ParseCharacter(p.Body); err != nil {
		return "", nil, nil, err
	}
	e := exporter{piece: p, format: formats[i]}
	name = p.ID + "." + string(e.format.kind)
	same, err := e.unchanged()
	if same != nil || err != nil {
		return name, same, nil, err
	}
	if e.body, err = canon.ParseTree(p.Body); err != nil {
		return "", nil, nil, err
	}
	if e.format.kind == carrier.PNG {
		data, err = e.png()
	} else {
		data = e.json()
	}
	for i := range e.losses {
		e.losses[i].Target = formatName
	}
	return name, data, e.losses, err
}

type exporter struct {
	piece  store.Piece
	format format
	body   *canon.Node
	twins  []twin
	losses []Loss
}

// A twin is a card document out of the escrow.
type twin struct {
	card.Card
	kind carrier.Kind
	raw  []byte // of the file
}

// unchanged is the original file where the body is still what it gave, and reads
// the escrow into twins.
func (e *exporter) unchanged() ([]byte, error) {
	for _, esc := range e.piece.Escrow {
		file, err := carrier.Read(esc.Raw)
		if err != nil {
			continue // another studio's or a newer format's original
		}
		for _, p := range file.Payloads {
			if c, err := card.Read(p.Text); err == nil {
				e.twins = append(e.twins, twin{Card: c, kind: file.Kind, raw: esc.Raw})
			}
		}
		if esc.Format != e.format.name {
			continue
		}
		was, err := Import(esc.Name, esc.Raw)
		if err != nil {
			return nil, fault.Wrap(err, CodeEscrow, "content.export", "the original %q of %s no longer reads", esc.Name, e.piece.Ref)
		}
		if bytes.Equal(was.Piece.Body, e.piece.Body) {
			return esc.Raw, nil
		}
	}
	return nil, nil
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
	return doc, t
}

func (e *exporter) json() []byte {
	doc, t := e.write(e.format.version)
	if at := e.body.At("/media/portrait"); at != nil {
		e.lose("/media/portrait", at.Text(), "a JSON file carries no picture")
	}
	for i, a := range e.body.At("/media/assets").Items() {
		if uri := a.Field("uri").Text(); strings.HasPrefix(uri, assetPrefix) {
			e.lose(canon.JoinPointer("media", "assets", itoa(i)), uri, "the asset's bytes are in a chunk of the picture")
		}
	}
	if t != nil && t.kind == carrier.JSON && t.Version == e.format.version {
		return carrier.WriteJSON(t.raw, doc.Bytes())
	}
	return carrier.WriteJSON(nil, doc.Bytes())
}

func (e *exporter) lose(path, value, why string) {
	e.losses = append(e.losses, Loss{Path: path, Value: clip(value, 120), Verdict: card.Dropped, Reason: why})
}

func (e *exporter) png() ([]byte, error) {
	doc, _ := e.write(e.format.version)
	picture, err := e.picture()
	if err != nil {
		return nil, err
	}
	if e.format.version != card.V3 {
		return carrier.WritePNG(picture, doc.Bytes(), nil)
	}
	older, _ := e.write(card.V2)
	return carrier.WritePNG(picture, older.Bytes(), doc.Bytes())
}

// picture is the portrait as PNG bytes.
func (e *exporter) picture() ([]byte, error) {
	const inline = "data:image/png;base64,"
	portrait := e.body.At("/media/portrait").Text()
	if data, ok := strings.CutPrefix(portrait, inline); ok {
		if raw, err := base64.StdEncoding.DecodeString(data); err == nil && carrier.Sniff(raw) == carrier.PNG {
			return raw, nil
		}
	}
	for _, esc := range e.piece.Escrow {
		if carrier.Sniff(esc.Raw) == carrier.PNG {
			return esc.Raw, nil
		}
	}
	return nil, fault.New(CodeNoPicture, "content.export", "%s has no PNG picture to carry the card", e.piece.Ref).
		WithHint("export as json-%s, or import the character from a PNG", e.format.version)
}

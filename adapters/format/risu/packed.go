package risu

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"io"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// maxPacked bounds a packed preset, unpacked, in bytes.
const maxPacked = 32 << 20

// A packed preset is encrypted with a key that everybody has: it hides nothing.
func sealer() cipher.AEAD {
	key := sha256.Sum256([]byte("risupreset"))
	block, err := aes.NewCipher(key[:])
	must(err)
	aead, err := cipher.NewGCM(block)
	must(err)
	return aead
}

func scorePacked(f content.File) float64 {
	gz := bytes.HasPrefix(f.Raw, []byte("\x1f\x8b"))
	switch {
	case gz && strings.HasSuffix(strings.ToLower(f.Name), ".risupreset"):
		return 1
	case gz:
		if _, err := unpack(f.Raw); err == nil {
			return 1
		}
	}
	return 0
}

// unpack gives the preset in a file.
func unpack(raw []byte) (*canon.Node, error) {
	const op = "risu.unpack"
	bad := func(err error, what string) error {
		return fault.Wrap(err, CodePacked, op, "the packed preset %s", what).WithHint("export it from Risu again, or as JSON")
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, bad(err, "does not inflate")
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxPacked+1))
	if err != nil {
		return nil, bad(err, "does not inflate")
	}
	if len(plain) > maxPacked {
		return nil, fault.New(CodePacked, op, "the packed preset has more than %d bytes", maxPacked)
	}
	env, bin, err := unmarshal(plain)
	if err != nil {
		return nil, bad(err, "is not well formed")
	}
	if env.Field("type").Text() != "preset" || bin == nil {
		return nil, fault.New(CodePacked, op, "the packed file is no preset: its type is %q", env.Field("type").Text())
	}
	aead := sealer()
	open, err := aead.Open(nil, make([]byte, aead.NonceSize()), bin, nil)
	if err != nil {
		return nil, bad(err, "does not decrypt")
	}
	doc, _, err := unmarshal(open)
	if err != nil {
		return nil, bad(err, "is not well formed")
	}
	return doc, nil
}

func pack(doc *canon.Node) ([]byte, error) {
	plain, err := marshal(doc)
	if err != nil {
		return nil, err
	}
	aead := sealer()
	sealed := aead.Seal(nil, make([]byte, aead.NonceSize()), plain, nil)
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(envelope(sealed)); err != nil {
		return nil, fault.Wrap(err, CodePacked, "risu.pack", "the preset cannot be packed")
	}
	if err := z.Close(); err != nil {
		return nil, fault.Wrap(err, CodePacked, "risu.pack", "the preset cannot be packed")
	}
	return out.Bytes(), nil
}

// A packedFormat is the Shape of a packed preset, into which only this package sees.
type packedFormat struct{ content.Shape }

// Unpack implements content.Unpacker.
func (packedFormat) Unpack(f content.File) (content.Doc, error) {
	doc, err := unpack(f.Raw)
	return content.Doc{Tree: doc}, err
}

func readPacked(f content.File) (content.Reading, error) {
	doc, err := f.Unpacked(), error(nil)
	if doc == nil {
		doc, err = unpack(f.Raw)
	}
	if err != nil {
		return content.Reading{}, err
	}
	return presetOf(doc)
}

func writePacked(w content.Writing) (content.Written, error) {
	s := sheet{body: w.Body.Clone(), doc: twin.Parsed(freshPreset)}
	if w.Twin != nil {
		doc, err := unpack(w.Twin.Raw)
		if err != nil {
			return content.Written{}, unread(w)
		}
		s.doc = doc
		s.forget("/name", w.Twin.Name, 0)
	}
	found := content.Clean(s.doc) // what is packed is for nobody else to look into
	losses := layPreset(&s)
	stripped := append(strip(s.doc), found...)
	data, err := pack(s.doc)
	if err != nil {
		return content.Written{}, err
	}
	more, err := respelled(s.doc, data)
	return content.Written{Data: data, Losses: append(losses, more...), Stripped: stripped}, err
}

// respelled says which numbers are spelled in another way when they come back: 1e3 is
// 1000 in MessagePack.
func respelled(doc *canon.Node, data []byte) (losses []content.Loss, err error) {
	again, err := unpack(data)
	if err != nil {
		return nil, err
	}
	was, _ := twin.Read(doc, presetFields)
	now, _ := twin.Read(again, presetFields)
	for name, v := range was.Field("samplers").Members() {
		if to := now.At(canon.JoinPointer("samplers", name)); !canon.Equal(v, to) {
			losses = append(losses, content.Loss{
				Path: canon.JoinPointer("samplers", name), Value: twin.Clip(v), Verdict: twin.Approximated, Reason: "a packed number is spelled " + to.Raw(),
			})
		}
	}
	return losses, nil
}

package carrier

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Mask gives a text without what may not leave in it; the text itself where there is
// nothing.
type Mask func(text []byte) []byte

// maxOther bounds the chunks, other than text, that are looked into.
const maxOther = 1 << 20

// Masked is a picture or an archive whose other texts are masked, and where they stood:
// all text chunks and what is behind the picture; files in an archive that are text, and
// what is said of them. The card that counts is the caller's to clean before; a second
// one beside it that has something to mask goes. Other files are data itself.
func Masked(data []byte, mask Mask) (out []byte, found []string, err error) {
	switch Sniff(data) {
	case PNG:
		return maskPNG(data, mask)
	case Archive, JPEG:
		return maskArchive(data, mask)
	}
	return data, nil, nil
}

type pngMasker struct {
	mask  Mask
	out   bytes.Buffer
	found []string
}

func maskPNG(data []byte, mask Mask) ([]byte, []string, error) {
	m := &pngMasker{mask: mask}
	m.out.Grow(len(data))
	m.out.Write(pngMagic)
	tail, err := eachChunk(data, m.visit)
	if err != nil {
		return nil, nil, err
	}
	if m.has(tail) {
		m.found, tail = append(m.found, "png:end"), nil
	}
	m.out.Write(tail)
	if len(m.found) == 0 {
		return data, nil, nil
	}
	return m.out.Bytes(), m.found, nil
}

func (m *pngMasker) has(text []byte) bool { return !bytes.Equal(m.mask(text), text) }

func (m *pngMasker) visit(c chunk) {
	word, isText := keyword(c)
	ancillary := c.kind[0] >= 'a' && c.kind[0] <= 'z'
	switch {
	case isText && m.has([]byte(word)):
		m.found = append(m.found, "png:"+c.kind)
	case isText:
		m.text(c, word)
	case ancillary && len(c.data) <= maxOther && m.has(c.data):
		m.found = append(m.found, "png:"+c.kind)
	default:
		m.out.Write(c.all)
	}
}

// text writes a text chunk, if there is one left of it.
func (m *pngMasker) text(c chunk, word string) {
	_, asset := assetNumber(word)
	if asset || slices.Contains(keywords, strings.ToLower(word)) {
		plain := c.data
		if text, err := chunkText(c, MaxText); err == nil {
			plain = text
		}
		if inner, err := unbase64(plain); err == nil {
			plain = inner
		}
		if (asset && !utf8.Valid(plain)) || !m.has(plain) {
			m.out.Write(c.all)
			return
		}
		m.found = append(m.found, "png:"+word)
		return
	}
	text, err := chunkText(c, MaxText)
	if err != nil { // nobody reads it either
		text = c.data
	}
	masked := m.mask(text)
	if bytes.Equal(masked, text) {
		m.out.Write(c.all)
		return
	}
	m.found = append(m.found, "png:"+word)
	if err == nil {
		m.out.Write(retold(c, masked))
	}
}

// retold is a text chunk with another text.
func retold(c chunk, text []byte) []byte {
	word, rest, _ := bytes.Cut(c.data, []byte{0})
	data := append([]byte(c.kind), word...)
	data = append(data, 0)
	switch c.kind {
	case "zTXt":
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		_, _ = z.Write(text) // a buffer does not fail
		_ = z.Close()
		data = append(append(data, 0), packed.Bytes()...)
	case "iTXt":
		lang, rest, _ := bytes.Cut(rest[2:], []byte{0})
		name, _, _ := bytes.Cut(rest, []byte{0})
		data = bytes.Join([][]byte{append(data, 0, 0), lang, {0}, name, {0}, text}, nil)
	default:
		data = append(data, text...)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)-4))
	return binary.BigEndian.AppendUint32(append(out, data...), crc32.ChecksumIEEE(data))
}

func maskArchive(data []byte, mask Mask) ([]byte, []string, error) {
	z, err := openArchive(data, Sniff(data))
	if err != nil {
		return nil, nil, err
	}
	has := func(text string) bool { return string(mask([]byte(text))) != text }
	var found []string
	if has(z.Comment) {
		found = append(found, "archive:")
	}
	texts := map[*zip.File][]byte{}
	gone := map[*zip.File]bool{}
	for _, e := range z.File {
		text, masked := maskEntry(e, mask)
		gone[e] = has(e.Name) || has(e.Comment) || has(string(e.Extra))
		if !gone[e] && bytes.Equal(masked, text) {
			continue
		}
		texts[e] = masked
		found = append(found, "archive:"+string(mask([]byte(e.Name))))
	}
	if len(found) == 0 {
		return data, nil, nil
	}
	var out bytes.Buffer
	w := behind(&out, pictureOf(data, z))
	for _, e := range z.File {
		masked, changed := texts[e]
		switch {
		case gone[e] && e.Name != CardName:
			continue
		case changed:
			err = addEntry(w, zip.FileHeader{Name: e.Name, Method: e.Method, Modified: e.Modified, ExternalAttrs: e.ExternalAttrs, CreatorVersion: e.CreatorVersion}, masked)
		default:
			err = w.Copy(e)
		}
		if err != nil {
			return nil, nil, notPacked(err, e.Name)
		}
	}
	if err := w.Close(); err != nil {
		return nil, nil, notPacked(err, CardName)
	}
	return out.Bytes(), found, nil
}

// maskEntry is a file in an archive and what it is masked, if it is text by its
// beginning, or a picture. Nothing is what other files are.
func maskEntry(e *zip.File, mask Mask) (is, masked []byte) {
	if e.Mode().IsDir() {
		return nil, nil
	}
	r, err := e.Open()
	if err != nil {
		return nil, nil // nobody reads it either
	}
	defer r.Close() //nolint:errcheck // only read
	head, err := io.ReadAll(io.LimitReader(r, 512))
	picture := Sniff(head) == PNG
	if err != nil || !picture && (bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(whole(head))) {
		return nil, nil
	}
	rest, err := io.ReadAll(io.LimitReader(r, MaxEntry))
	if err != nil {
		return nil, nil
	}
	is = append(head, rest...)
	if !picture {
		return is, mask(is)
	}
	if masked, _, err = maskPNG(is, mask); err != nil {
		return nil, nil // cut off
	}
	return is, masked
}

// whole is a text without the character that it is cut in.
func whole(text []byte) []byte {
	for n := 0; n < utf8.UTFMax-1 && len(text) > 0; n++ {
		if r, size := utf8.DecodeLastRune(text); r != utf8.RuneError || size > 1 {
			return text
		}
		text = text[:len(text)-1]
	}
	return text
}

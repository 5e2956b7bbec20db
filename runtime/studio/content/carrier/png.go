package carrier

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A chunk is a slice of the file: nothing is copied.
type chunk struct {
	kind string
	data []byte
	all  []byte // length, kind, data and checksum as they stand in the file
}

func (c chunk) soundCRC() bool {
	return crc32.ChecksumIEEE(c.all[4:len(c.all)-4]) == binary.BigEndian.Uint32(c.all[len(c.all)-4:])
}

// eachChunk walks to IEND and returns what follows it. Checksums are the visitor's
// business: damaged pictures still carry good cards.
func eachChunk(data []byte, visit func(chunk)) (tail []byte, err error) {
	const op = "carrier.png"
	rest := data[len(pngMagic):]
	for len(rest) >= 12 {
		n := uint64(binary.BigEndian.Uint32(rest))
		if n+12 > uint64(len(rest)) {
			return nil, fault.New(CodeTruncated, op, "chunk %q at byte %d says %d bytes and the file has %d left",
				rest[4:8], len(data)-len(rest), n, len(rest)-12)
		}
		c := chunk{kind: string(rest[4:8]), data: rest[8 : 8+n], all: rest[:n+12]}
		rest = rest[n+12:]
		visit(c)
		if c.kind == "IEND" {
			return rest, nil
		}
	}
	return nil, fault.New(CodeTruncated, op, "the file ends at byte %d without an IEND chunk", len(data))
}

type pngReader struct {
	file   File
	counts map[string]int
	failed map[string]error // the first chunk under the keyword that did not decode
	budget int              // bytes of text left
	badCRC int              // chunks
}

func readPNG(data []byte) (File, error) {
	r := &pngReader{
		file:   File{Kind: PNG, Assets: map[string]bool{}},
		counts: map[string]int{}, failed: map[string]error{}, budget: MaxText,
	}
	if _, err := eachChunk(data, r.visit); err != nil {
		return File{}, err
	}
	for _, key := range keywords {
		if n := r.counts[key]; n > 1 {
			r.warn("the picture has %d %s chunks; the first one that can be read is used", n, key)
		}
	}
	return r.file, r.verdict()
}

// verdict is nil where a card was found; a second copy that does not decode is a
// warning then.
func (r *pngReader) verdict() error {
	for _, key := range keywords {
		err := r.failed[key]
		switch {
		case err == nil:
		case len(r.file.Payloads) == 0:
			return err
		case r.file.Payload(key) == nil:
			r.warn("the %s chunk cannot be read and is ignored: %v", key, err)
		}
	}
	if len(r.file.Payloads) == 0 {
		return fault.New(CodeNoCard, "carrier.png", "the picture carries no card: it has no chara, ccv3, naidata or rcpersona text chunk").
			WithHint("many sites strip the card from a picture; download the original file")
	}
	return nil
}

func (r *pngReader) warn(format string, args ...any) {
	r.file.Warnings = append(r.file.Warnings, fmt.Sprintf(format, args...))
}

func (r *pngReader) visit(c chunk) {
	if !c.soundCRC() {
		r.badCRC++
		if r.badCRC == 1 { // one is enough: a hostile file has millions
			r.warn("crc: the checksum of a %q chunk is wrong; its bytes are used as they are", c.kind)
		}
	}
	word, isText := keyword(c)
	if !isText {
		return
	}
	if n, ok := assetNumber(word); ok {
		r.file.Assets[n] = true
		return
	}
	key := strings.ToLower(word)
	if !slices.Contains(keywords, key) {
		return
	}
	r.counts[key]++
	if r.file.Payload(key) != nil {
		return
	}
	text, err := r.decode(c, key)
	if err != nil {
		if r.failed[key] == nil {
			r.failed[key] = err
		}
		return
	}
	r.file.Payloads = append(r.file.Payloads, Payload{Keyword: key, Text: text})
}

func assetNumber(word string) (string, bool) {
	n, ok := strings.CutPrefix(word, "chara-ext-asset_")
	return strings.TrimPrefix(n, ":"), ok
}

// decode gives the JSON text of a card chunk, which is base64 of UTF-8 by the
// specification and plain JSON from some tools.
func (r *pngReader) decode(c chunk, key string) ([]byte, error) {
	text, err := chunkText(c, r.budget)
	if err != nil {
		return nil, err
	}
	if r.budget -= len(text); r.budget < 0 {
		return nil, tooMuchText(key)
	}
	text = bytes.Trim(bytes.TrimPrefix(text, bom), jsonSpace+"\x00")
	if bytes.HasPrefix(text, []byte("rcc||")) {
		return nil, fault.New(CodeUnsupported, "carrier.png", "the card is encrypted by Risu and can only be opened there").
			WithHint("export it from Risu without a licence")
	}
	if bytes.HasPrefix(text, []byte("{")) {
		r.warn("the %s chunk is plain JSON, not base64", key)
		return text, nil
	}
	plain, err := unbase64(text)
	if err != nil {
		return nil, fault.Wrap(err, CodePayload, "carrier.png", "the %s chunk is neither base64 nor JSON", key)
	}
	return bytes.Trim(bytes.TrimPrefix(plain, bom), jsonSpace), nil
}

func unbase64(text []byte) ([]byte, error) {
	dense := bytes.Join(bytes.Fields(text), nil)
	dense = bytes.TrimRight(dense, "=")
	enc := base64.RawStdEncoding
	if bytes.ContainsAny(dense, "-_") {
		enc = base64.RawURLEncoding
	}
	out := make([]byte, enc.DecodedLen(len(dense)))
	n, err := enc.Decode(out, dense)
	return out[:n], err
}

// WritePNG returns the picture with these cards and no other: every card chunk of
// the three text kinds goes, one tEXt chunk for each text that is not nil comes in
// before IEND. All other bytes stay.
func WritePNG(picture, chara, ccv3 []byte) ([]byte, error) {
	return WriteTexts(picture, Payload{Chara, chara}, Payload{CCV3, ccv3})
}

// WriteTexts is WritePNG for texts under other keywords.
func WriteTexts(picture []byte, texts ...Payload) ([]byte, error) {
	if Sniff(picture) != PNG {
		return nil, fault.New(CodeUnknown, "carrier.write", "the picture is not a PNG")
	}
	out := bytes.NewBuffer(make([]byte, 0, len(picture)))
	out.Write(pngMagic)
	tail, err := eachChunk(picture, func(c chunk) {
		word, isText := keyword(c)
		if isText && slices.ContainsFunc(texts, func(p Payload) bool { return strings.EqualFold(word, p.Keyword) }) {
			return
		}
		if c.kind == "IEND" {
			for _, p := range texts {
				writeText(out, p.Keyword, p.Text)
			}
		}
		out.Write(c.all)
	})
	out.Write(tail)
	return out.Bytes(), err
}

// Bare is the picture without any text under a keyword that carries JSON.
func Bare(picture []byte) ([]byte, error) {
	var none []Payload
	for _, k := range keywords {
		none = append(none, Payload{Keyword: k})
	}
	return WriteTexts(picture, none...)
}

// PNGAsset is the asset of that number out of a chunk of the picture; nil where there is
// none that decodes.
func PNGAsset(picture []byte, number string) (asset []byte) {
	_, err := eachChunk(picture, func(c chunk) {
		word, isText := keyword(c)
		if n, ok := assetNumber(word); !isText || !ok || n != number || asset != nil {
			return
		}
		text, err := chunkText(c, MaxText)
		if err != nil {
			return
		}
		if raw, err := unbase64(text); err == nil {
			asset = raw
		}
	})
	if err != nil {
		return nil
	}
	return asset
}

func writeText(out *bytes.Buffer, key string, text []byte) {
	if text == nil {
		return
	}
	data := base64.StdEncoding.AppendEncode([]byte("tEXt"+key+"\x00"), text)
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data)-4)))
	out.Write(data)
	out.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data)))
}

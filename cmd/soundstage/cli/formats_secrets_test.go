package cli

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

// plantedKeys are credentials by their shape, and under names of them. They are put
// together, so that no scanner takes this file for a leak.
var plantedKeys = map[string]string{
	"api_key": "sk-ant-api03-" + strings.Repeat("Zq8r", 12), "note": "call it with ghp_" + strings.Repeat("a1B2", 9), "access_token": "q8Zr2LkP0vXw7TnB4mJc",
}

// aPixel is the smallest picture, as a portrait.
const aPixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

// pngChunk is a chunk of a picture.
func pngChunk(kind, data string) string {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(out, kind+data...)
	return string(binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE([]byte(kind+data))))
}

func deflated(s string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

// poisoned is a file with credentials under keys that nobody knows, and wherever its
// carrier has room for one.
func poisoned(t *testing.T, data []byte) []byte {
	t.Helper()
	f := content.Open("x", data)
	var texts []carrier.Payload
	for _, d := range f.Docs {
		doc := d.Tree
		if doc == nil || doc.Kind() != canon.Object {
			continue
		}
		for name, v := range plantedKeys {
			for _, at := range []string{"vendor_" + name, "data"} {
				if at == "data" && doc.Field(at).Kind() != canon.Object {
					continue
				}
				deep := canon.JoinPointer(at, "extensions", "deep")
				for _, ptr := range []string{canon.JoinPointer(at), canon.JoinPointer(at, "extensions"), deep} {
					if doc.At(ptr).Kind() != canon.Object {
						must(t, doc.Set(ptr, canon.NewObject()))
					}
				}
				must(t, doc.Set(deep+canon.JoinPointer(name), canon.NewText(v)))
			}
		}
		texts = append(texts, carrier.Payload{Keyword: d.Keyword, Text: doc.Bytes()})
	}
	switch {
	case f.Carrier.Kind == carrier.PNG:
		return poisonedPNG(t, data, texts)
	case f.Carrier.Kind == carrier.Archive:
		key := []byte("key: " + plantedKeys["api_key"])
		out, err := carrier.WriteArchive(data, texts[0].Text, carrier.Extra{Name: "assets/other/notes.txt", Data: key}, carrier.Extra{Name: "assets/other/a.bin", Data: append([]byte("\x00\xff"), "data"...)})
		must(t, err)
		return out
	case len(texts) == 1:
		return carrier.WriteJSON(data, texts[0].Text)
	}
	return data
}

func poisonedPNG(t *testing.T, data []byte, texts []carrier.Payload) []byte {
	t.Helper()
	out, err := carrier.WriteTexts(data, texts...)
	must(t, err)
	key, note := plantedKeys["api_key"], plantedKeys["note"]
	card := base64.StdEncoding.EncodeToString([]byte(`{"name":"old","description":"` + note + `"}`))
	more := pngChunk("tEXt", "Comment\x00steps: 20, "+note+", keep this") + pngChunk("zTXt", "parameters\x00\x00"+deflated(key)) +
		pngChunk("iTXt", "XML\x00\x00\x00en\x00t\x00<a b='"+key+"'/>") + pngChunk("iTXt", "packed\x00\x01\x00\x00\x00"+deflated(note)) +
		pngChunk("tEXt", texts[0].Keyword+"\x00"+card) + pngChunk("eXIf", "MM\x00*"+key) +
		pngChunk("tEXt", "chara-ext-asset_:0\x00"+base64.StdEncoding.EncodeToString([]byte(note)))
	end := pngChunk("IEND", "")
	return append(bytes.Replace(out, []byte(end), []byte(more+end), 1), key...)
}

// Whatever the format, no credential leaves in a file or in what is said of one: neither
// from the body, nor from an original, nor from a linked piece, nor from what a carrier
// holds beside its card.
func TestNoCredentialLeaves(t *testing.T) {
	formats := newFormats()
	note, key := plantedKeys["note"], plantedKeys["api_key"]
	linked := []store.Piece{{
		Ref: store.Ref{Kind: content.KindLorebook, ID: "book"}, Title: "Book",
		Body: []byte(`{"entries":[{"content":"` + note + `","enabled":true,"id":"e1","keys":[{"text":"a"}]}],"name":"Book"}`),
	}}
	bodies := map[string]string{
		content.KindCharacter:  `{"identity":{"name":"Ada"},"links":{"lorebooks":["book"]},"media":{"portrait":"` + aPixel + `"},"persona":{"description":"` + note + `"},"settings":{"variables":{"api_key":"` + key + `"}}}`,
		content.KindLorebook:   `{"description":"` + note + `","entries":[{"content":"` + note + `","enabled":true,"id":"e1","keys":[{"text":"` + key + `"}]}],"name":"Book"}`,
		content.KindPersona:    `{"brief":"` + note + `","content":"` + note + `","name":"Me","portrait":"` + aPixel + `"}`,
		content.KindPreset:     `{"blocks":[{"content":"` + note + `","enabled":true,"id":"b1","name":"Main","role":"system"}],"description":"` + key + `","name":"P"}`,
		content.KindRegex:      `{"description":"` + note + `","name":"R","rules":[{"enabled":true,"find":"x","flags":"g","id":"r1","name":"n","replace":"` + key + `"}]}`,
		content.KindQuickReply: `{"name":"Q","replies":[{"id":"1","label":"L","message":"` + key + `"}]}`,
		content.KindPack:       `{"items":[{"id":"1","label":"` + note + `","ref":"https://x.test/?token=` + key + `"}],"name":"K"}`,
		content.KindHTMLDoc:    `{"html":"<p>` + key + `","name":"H","notes":"` + note + `"}`,
	}
	written := 0
	for _, about := range formats.All() {
		for _, kind := range about.Writes {
			t.Run(about.Name+" "+kind, func(t *testing.T) {
				body, err := canon.JSON([]byte(bodies[kind]))
				must(t, err)
				p := store.Piece{Ref: store.Ref{Kind: kind, ID: "x"}, Title: "X", Body: body}
				clean, err := formats.Convert(p, about.Name, linked)
				free(t, clean, err)
				if len(clean.Stripped) == 0 {
					t.Error("nothing is listed")
				}
				written++
				// Over an original that has them where nobody here knows a field.
				raw := poisoned(t, clean.Data)
				p.Escrow = []store.Escrow{{Format: about.Name, Name: "x" + about.Ext, Raw: raw}}
				over, err := formats.Convert(p, about.Name, linked)
				free(t, over, err)
				// In the original alone, as it was imported and not touched.
				if bytes.Equal(raw, clean.Data) {
					return
				}
				im, err := formats.Import("x"+about.Ext, raw)
				if fault.CodeOf(err) == content.CodeUnread {
					return // with keys that nobody knows it is a file of nobody
				}
				must(t, err)
				q := im.Pieces[len(im.Pieces)-1]
				for _, to := range formats.Writing(q.Kind) {
					c, err := formats.Convert(q, to, im.Pieces)
					if fault.CodeOf(err) == content.CodeNoPicture {
						continue
					}
					free(t, c, err)
					if to == formats.Usual(q) && len(c.Stripped) == 0 {
						t.Error("nothing is listed")
					}
				}
			})
		}
	}
	if written < 40 {
		t.Errorf("%d files: the table is broken", written)
	}
}

// What is left out of a picture or an archive is said by its place, and all else stays.
func TestCarriersKeepTheRest(t *testing.T) {
	formats := newFormats()
	p := store.Piece{Ref: store.Ref{Kind: content.KindCharacter, ID: "x"}, Title: "X", Body: []byte(`{"identity":{"name":"Ada"},"media":{"portrait":"` + aPixel + `"}}`)}
	for format, want := range map[string][]string{
		"png-v1": {"png:Comment", "png:parameters", "png:XML", "png:packed", "png:chara", "png:eXIf", "png:chara-ext-asset_:0", "png:end"},
		"charx":  {"archive:assets/other/notes.txt"},
	} {
		c, err := formats.Convert(p, format, nil)
		must(t, err)
		im, err := formats.Import("x", poisoned(t, c.Data))
		must(t, err)
		out, err := formats.Convert(im.Pieces[0], format, nil)
		free(t, out, err)
		for _, w := range want {
			if w != "png:chara" && !slices.Contains(out.Stripped, w) { // that one goes when the first is cleaned
				t.Errorf("%s: %q is not in %q", format, w, out.Stripped)
			}
		}
		for what, keep := range map[string][]byte{"png-v1": []byte(", keep this"), "charx": []byte("assets/other/a.bin")} {
			if what == format && !bytes.Contains(out.Data, keep) {
				t.Errorf("%s: %q is gone", format, keep)
			}
		}
		if again, err := formats.Import("x", out.Data); err != nil || !bytes.Equal(again.Pieces[0].Body, im.Pieces[0].Body) || len(again.Warnings) > 0 {
			t.Errorf("%s: it reads %s, %q, %v", format, again.Pieces[0].Body, again.Warnings, err)
		}
	}
}

// free wants no planted text in a file, however it is packed, nor in its losses.
func free(t *testing.T, c content.Converted, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
		return
	}
	texts := append(unpacked(c.Data), fmt.Append(nil, c.Losses, c.Stripped))
	for _, text := range texts {
		for name, v := range plantedKeys {
			v = v[strings.LastIndexByte(v, ' ')+1:]
			if bytes.Contains(text, []byte(v)) {
				t.Errorf("%s: %s left in %q", c.Format, name, clipTo(text, 300))
			}
		}
	}
}

// unpacked is a file, what its chunks and its own files hold, and that again as base64
// and inflated. It does not use the code under test.
func unpacked(data []byte) [][]byte {
	texts := [][]byte{data}
	if z, err := zip.NewReader(bytes.NewReader(data), int64(len(data))); err == nil {
		for _, e := range z.File {
			if r, err := e.Open(); err == nil {
				b, _ := io.ReadAll(r)
				texts = append(texts, b)
			}
		}
	}
	if rest, ok := bytes.CutPrefix(data, []byte("\x89PNG\r\n\x1a\n")); ok {
		for len(rest) >= 12 {
			n := int(binary.BigEndian.Uint32(rest))
			_, text, _ := bytes.Cut(rest[8:8+n], []byte{0})
			texts = append(texts, text)
			if plain, err := base64.StdEncoding.DecodeString(string(text)); err == nil {
				texts = append(texts, plain)
			}
			if i := bytes.IndexByte(text, 0x78); i >= 0 {
				if z, err := zlib.NewReader(bytes.NewReader(text[i:])); err == nil {
					b, _ := io.ReadAll(z)
					texts = append(texts, b)
				}
			}
			rest = rest[12+n:]
		}
	}
	return texts
}

func clipTo(b []byte, n int) []byte { return b[:min(len(b), n)] }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

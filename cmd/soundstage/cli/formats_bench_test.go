package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// bigCard is a picture of 1 MB that carries a card of 40 KB with a lorebook.
func bigCard(t testing.TB) []byte {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(name string, data []byte) {
		_ = binary.Write(&b, binary.BigEndian, uint32(len(data)))
		sum := crc32.NewIEEE()
		for _, part := range [][]byte{[]byte(name), data} {
			b.Write(part)
			_, _ = sum.Write(part)
		}
		_ = binary.Write(&b, binary.BigEndian, sum.Sum32())
	}
	chunk("IHDR", []byte{0, 0, 2, 0, 0, 0, 2, 0, 8, 2, 0, 0, 0})
	entry := `{"keys":["lamp"],"content":"` + string(bytes.Repeat([]byte("It burns all night. "), 40)) + `","enabled":true,"insertion_order":1,"id":`
	card := `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada","description":"` + string(bytes.Repeat([]byte("A mathematician. "), 400)) + `","character_book":{"name":"Light","entries":[`
	for i := range 40 {
		if i > 0 {
			card += ","
		}
		card += entry + string(rune('0'+i%10)) + string(rune('0'+i/10)) + `}`
	}
	card += `]}}}`
	card = string(bytes.ReplaceAll([]byte(card), []byte(`"id":0`), []byte(`"id":1`)))
	chunk("tEXt", append([]byte("chara\x00"), base64.StdEncoding.EncodeToString([]byte(card))...))
	pixels := make([]byte, 1<<20-b.Len())
	r := rand.New(rand.NewPCG(1, 1))
	for i := range pixels {
		pixels[i] = byte(r.Uint32())
	}
	chunk("IDAT", pixels)
	chunk("IEND", nil)
	if _, err := newFormats().Import("ada.png", b.Bytes()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What the formats take for a PNG card of 1 MB, with no disk in it.
func BenchmarkCard1MB(b *testing.B) {
	data, formats := bigCard(b), newFormats()
	in, err := formats.Import("ada.png", data)
	if err != nil {
		b.Fatal(err)
	}
	card := in.Pieces[len(in.Pieces)-1]
	edited := card
	edited.Body = bytes.Replace(card.Body, []byte("A mathematician. "), []byte("An engineer. "), 1)
	b.Run("import", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := formats.Import("ada.png", data); err != nil {
				b.Fatal(err)
			}
		}
	})
	export := func(p []byte, format string, exact bool) func(b *testing.B) {
		return func(b *testing.B) {
			q := card
			q.Body = p
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				c, err := formats.Convert(q, format, in.Pieces)
				if err != nil || c.Verbatim != exact || len(c.Data) == 0 {
					b.Fatal(err, c.Verbatim)
				}
			}
		}
	}
	b.Run("export/unedited", export(card.Body, "png-v2", true))
	b.Run("export/edited", export(edited.Body, "png-v2", false))
	b.Run("export/charx", export(card.Body, "charx", false))
	if card.Kind != content.KindCharacter {
		b.Fatal(card.Ref)
	}
}

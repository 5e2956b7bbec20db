package carrier

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"
)

// hide is a mask: what may not leave is the word KEY.
func hide(b []byte) []byte { return bytes.ReplaceAll(b, []byte("KEY"), []byte("...")) }

func TestMaskedPNG(t *testing.T) {
	card, idat := raw("tEXt", "chara\x00"+b64(doc)), raw("IDAT", "pixels KEY")
	tests := map[string]struct {
		chunk, want string // in place of it; "" where it goes
		found       []string
	}{
		"nothing":             {raw("tEXt", "note\x00keep"), raw("tEXt", "note\x00keep"), nil},
		"pixels are not read": {raw("IDAT", "KEY"), raw("IDAT", "KEY"), nil},
		"tEXt":                {raw("tEXt", "note\x00a KEY b"), raw("tEXt", "note\x00a ... b"), []string{"png:note"}},
		"zTXt":                {raw("zTXt", "note\x00\x00"+deflate("a KEY")), raw("zTXt", "note\x00\x00"+deflate("a ...")), []string{"png:note"}},
		"iTXt":                {raw("iTXt", "note\x00\x00\x00en\x00n\x00KEY"), raw("iTXt", "note\x00\x00\x00en\x00n\x00..."), []string{"png:note"}},
		"iTXt packed":         {raw("iTXt", "note\x00\x01\x00en\x00n\x00"+deflate("KEY")), raw("iTXt", "note\x00\x00\x00en\x00n\x00..."), []string{"png:note"}},
		"in the keyword":      {raw("tEXt", "KEY\x00x"), "", []string{"png:tEXt"}},
		"a second card":       {raw("tEXt", "Chara\x00"+b64(`{"k":"KEY"}`)), "", []string{"png:Chara"}},
		"an asset of text":    {raw("tEXt", "chara-ext-asset_:0\x00"+b64("KEY")), "", []string{"png:chara-ext-asset_:0"}},
		"an asset of data":    {raw("tEXt", "chara-ext-asset_:0\x00"+b64("KEY\xff")), raw("tEXt", "chara-ext-asset_:0\x00"+b64("KEY\xff")), nil},
		"damaged":             {raw("zTXt", "note\x00\x00KEY"), "", []string{"png:note"}},
		"EXIF":                {raw("eXIf", "MM KEY"), "", []string{"png:eXIf"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out, found, err := Masked(picture(card, tt.chunk, idat), hide)
			if want := picture(card, tt.want, idat); err != nil || !bytes.Equal(out, want) || !slices.Equal(found, tt.found) {
				t.Errorf("got\n%q\nwant\n%q\nfound %q, %v", out, want, found, err)
			}
		})
	}
	if out, found, err := Masked(append(picture(card), "KEY"...), hide); err != nil || !bytes.Equal(out, picture(card)) || len(found) != 1 {
		t.Errorf("behind the end: %q, %q, %v", out, found, err)
	}
	if _, _, err := Masked(picture(card)[:40], hide); err == nil {
		t.Error("a picture that is cut off passes")
	}
}

func TestMaskedArchive(t *testing.T) {
	in := pack(t, entry("a.txt", "x KEY"), entry("b.bin", "\x00KEY"), entry(CardName, doc), entry("KEY.txt", "x"), entry("dir/", ""),
		entry("c.png", string(picture(raw("tEXt", "note\x00KEY")))), entry("cut.png", string(pngMagic)+"KEY"), entry("long.txt", strings.Repeat("é", 300)+"KEY"),
		header(zip.FileHeader{Name: "d", Comment: "KEY"}))
	out, found, err := Masked(in, hide)
	if err != nil || !slices.Equal(found, []string{"archive:a.txt", "archive:....txt", "archive:c.png", "archive:long.txt", "archive:d"}) {
		t.Fatalf("%q, %v", found, err)
	}
	for name, want := range map[string]string{"a.txt": "x ...", "b.bin": "\x00KEY", CardName: doc, "c.png": string(picture(raw("tEXt", "note\x00..."))), "cut.png": string(pngMagic) + "KEY"} {
		if got, err := Entry(out, name); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if f, err := Read(out); err != nil || f.Entries["KEY.txt"] || f.Entries["d"] || !f.Entries["dir/"] {
		t.Errorf("%v, %v", f.Entries, err)
	}
	if same, found, err := Masked(out, hide); err != nil || len(found) > 0 || !bytes.Equal(same, out) {
		t.Errorf("again %q, %v", found, err)
	}
}

// Whatever the file, what is masked is masked, and the card that counts stays.
func FuzzMasked(f *testing.F) {
	f.Add(picture(raw("tEXt", "chara\x00"+b64(doc)), raw("iTXt", "note\x00\x01\x00en\x00n\x00"+deflate("KEY"))))
	f.Add(pack(f, entry(CardName, doc), entry("a.txt", "KEY")))
	f.Add(append([]byte("\xff\xd8\xff\xe0"), pack(f, entry(CardName, doc), entry("KEY", "KEY"))...))
	f.Fuzz(func(t *testing.T, data []byte) {
		was, err := Read(data)
		if err != nil || !bytes.Equal(hide(was.Payloads[0].Text), was.Payloads[0].Text) {
			return
		}
		out, _, err := Masked(data, hide)
		if err != nil {
			return
		}
		if _, found, err := Masked(out, hide); err != nil || len(found) > 0 {
			t.Errorf("masked, and still %q, %v", found, err)
		}
		if now, err := Read(out); err != nil || !bytes.Equal(now.Payloads[0].Text, was.Payloads[0].Text) {
			t.Errorf("the card is %q, %v; it was %q", now.Payloads, err, was.Payloads)
		}
	})
}

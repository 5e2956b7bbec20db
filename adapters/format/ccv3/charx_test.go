package ccv3_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

func TestArchiveIsEdited(t *testing.T) {
	in, err := carrier.WriteArchive(nil, []byte(strings.Replace(withBook, "_v2", "_v3", 1)), carrier.Extra{Name: "assets/x.bin", Data: []byte("X")}, carrier.Extra{Name: carrier.Module, Data: []byte("o")})
	if err != nil {
		t.Fatal(err)
	}
	im, err := read("ada.charx", in)
	if err != nil || im.Format != "charx" || len(im.Linked) != 1 || !strings.Contains(strings.Join(im.Warnings, "\n"), "module.risum") {
		t.Fatalf("%q, %q, %v", im.Format, im.Warnings, err)
	}
	if _, out, losses, err := write(im.Piece, "charx", im.Linked...); err != nil || !bytes.Equal(out, in) || len(losses) > 0 {
		t.Errorf("unedited: %v, losses %v", err, losses)
	}
	edited := lore(t, im.Linked[0], func(b *content.Lorebook) { b.Entries[0].Content = "Whale oil." })
	_, out, losses, err := write(im.Piece, "charx", edited)
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	again, err := read("ada.charx", out)
	if err != nil || !bytes.Equal(again.Piece.Body, im.Piece.Body) || !bytes.Equal(again.Linked[0].Body, edited.Body) {
		t.Errorf("read back: %v", err)
	}
	if x, err := carrier.Entry(out, "assets/x.bin"); err != nil || string(x) != "X" {
		t.Errorf("the other file is %q, %v", x, err)
	}
}

func TestPictureBecomesAnArchive(t *testing.T) {
	assets := `"assets":[{"type":"icon","uri":"ccdefault:","name":"main","ext":"png"},{"type":"emotion","uri":"__asset:0","name":"joy","ext":"webp"},{"type":"emotion","uri":"__asset:9","name":"gone","ext":"webp"}],`
	doc := strings.Replace(docV3, `"assets":[{"type":"icon","uri":"__asset:4"}]`, strings.TrimSuffix(assets, ","), 1)
	picture, err := carrier.WriteTexts(png(t, "", doc), carrier.Payload{Keyword: "chara-ext-asset_:0", Text: []byte("JOY")})
	if err != nil {
		t.Fatal(err)
	}
	im, err := read("ada.png", picture)
	if err != nil || im.Assets != 3 || im.Missing != 1 {
		t.Fatalf("%+v, %v", im.Notes, err)
	}
	_, out, losses, err := write(im.Piece, "charx")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, l := range losses {
		said = append(said, l.Path+" "+string(l.Verdict))
	}
	if got := strings.Join(said, ", "); got != "/media/assets/1/uri renamed, /media/assets/2 dropped, /media/portrait renamed, /media/assets/0/uri renamed" {
		t.Errorf("losses %s", got)
	}
	again, err := read("ada.charx", out)
	if err != nil || again.Assets != 3 {
		t.Fatalf("%+v, %v", again.Notes, err)
	}
	if joy, err := carrier.Entry(out, "assets/other/other/1.webp"); err != nil || string(joy) != "JOY" {
		t.Errorf("%q, %v", joy, err)
	}
	icon, err := carrier.Entry(out, "assets/icon/images/main.png")
	if err != nil || carrier.Sniff(icon) != carrier.PNG || bytes.Contains(icon, []byte("ccv3")) {
		t.Errorf("the picture is %q, %v", icon, err)
	}
	_, back, _, err := write(again.Piece, "png-v3")
	if err != nil || !bytes.HasPrefix(back, icon[:8]) {
		t.Errorf("a picture out of the archive: %v", err)
	}
}

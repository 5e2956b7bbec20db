package ccv3_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

// A module of Risu, and any other file that no asset names, is kept byte for byte, named
// when it is read, and lost by name where the card leaves its archive.
func TestModuleIsKept(t *testing.T) {
	module := []byte("o\x00\x05\x00\x00\x00\x9f\x00\xff!?")
	in, err := carrier.WriteArchive(nil, []byte(`{"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Ada","assets":[{"type":"icon","uri":"embeded://assets/a.png","name":"main","ext":"png"}],"extensions":{}}}`),
		carrier.Extra{Name: carrier.Module, Data: module}, carrier.Extra{Name: "assets/a.png", Data: []byte("A")}, carrier.Extra{Name: "readme.txt", Data: []byte("Hi")})
	if err != nil {
		t.Fatal(err)
	}
	im, err := read("ada.charx", in)
	if err != nil || !strings.Contains(strings.Join(im.Warnings, "\n"), "module.risum), which is kept and not read") {
		t.Fatalf("%q, %v", im.Warnings, err)
	}
	if _, out, losses, err := write(im.Piece, "charx"); err != nil || !bytes.Equal(out, in) || len(losses) > 0 {
		t.Errorf("unedited: %v, %v", losses, err)
	}
	edited := rename(t, im)
	_, out, losses, err := write(edited, "charx")
	if err != nil || len(losses) > 0 {
		t.Fatal(losses, err)
	}
	if got, err := carrier.Entry(out, carrier.Module); err != nil || !bytes.Equal(got, module) {
		t.Errorf("%q, %v", got, err)
	}
	_, _, losses, err = write(edited, "json-v3")
	if err != nil {
		t.Fatal(err)
	}
	for path, why := range map[string]string{"original:module.risum": "kept in the archive and not read", "original:readme.txt": "only an archive carries it", "/media/assets/0": "bytes are in the archive"} {
		if !slices.ContainsFunc(losses, func(l content.Loss) bool {
			return l.Path == path && strings.Contains(l.Reason, why) && l.Target == "json-v3"
		}) {
			t.Errorf("%s is not named: %+v", path, losses)
		}
	}
	if len(losses) != 3 {
		t.Errorf("%d losses: %+v", len(losses), losses)
	}
}

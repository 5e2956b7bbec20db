package risu

import (
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Nobody else looks into what is packed: its credentials are taken out here.
func TestPackedKey(t *testing.T) {
	key := "sk-ant-api03-" + strings.Repeat("Zq8r", 12)
	formats := content.NewFormats(Formats(nil)...)
	data, err := pack(twin.Parsed(`{"name":"P","vendor":{"api_key":"` + key + `","keep":1},"mainPrompt":"Use ` + key + ` please","openAIKey":"q8Zr2LkP0vXw7TnB4mJc"}`))
	if err != nil {
		t.Fatal(err)
	}
	im, err := formats.Import("x.risupreset", data)
	if err != nil {
		t.Fatal(err)
	}
	c, err := formats.Convert(im.Pieces[0], "risu-risupreset", nil)
	for _, at := range []string{"/vendor/api_key", "/mainPrompt", "/openAIKey"} {
		if !slices.Contains(c.Stripped, at) {
			t.Errorf("%s is not in %q, %v", at, c.Stripped, err)
		}
	}
	doc, err := unpack(c.Data)
	if err != nil || strings.Contains(string(doc.Bytes()), "sk-") || doc.At("/vendor/keep") == nil || !strings.HasSuffix(doc.Field("mainPrompt").Text(), " please") {
		t.Errorf("%s, %v", doc.Bytes(), err)
	}
}

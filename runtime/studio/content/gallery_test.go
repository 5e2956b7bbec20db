package content_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

// dot is a picture of one point.
func dot(t *testing.T) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestPicture(t *testing.T) {
	png := dot(t)
	inline := "data:image/png;base64," + base64.StdEncoding.EncodeToString(png)
	card, err := carrier.WritePNG(png, []byte(`{"spec":"chara_card_v2","data":{"name":"A"}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for _, name := range []string{"card.json", "assets/icon/main.png"} {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	originals := []store.Escrow{{Format: "png-v2", Raw: card}, {Format: "charx", Raw: archive.Bytes()}}
	tests := []struct{ name, kind, body, path, source, missing string }{
		{"nothing", "character", `{"identity":{"name":"A"}}`, "", "", "names none"},
		{"inline", "character", `{"media":{"portrait":"` + inline + `"}}`, "/media/portrait", "data", ""},
		{"inline text", "character", `{"media":{"portrait":"data:image/png;base64,aGVsbG8="}}`, "", "", "no picture"},
		{"inline and broken", "character", `{"media":{"portrait":"data:image/png;base64,%%"}}`, "", "", "does not decode"},
		{"an address", "persona", `{"portrait":"https://example.com/a.png"}`, "/portrait", "url", ""},
		{"no address", "persona", `{"portrait":"https://"}`, "", "", "no address"},
		{"the card itself", "character", `{"media":{"portrait":"original:png-v2"}}`, "/media/portrait", "original", ""},
		{"another original", "character", `{"media":{"portrait":"original:png-v3"}}`, "", "", "is not there"},
		{"an icon", "character", `{"media":{"assets":[{"type":"background","uri":"` + inline + `"},{"type":"icon","name":"main","uri":"ccdefault:"}]}}`, "/media/assets/1/uri", "original", ""},
		{"a background is no icon", "character", `{"media":{"assets":[{"type":"background","uri":"` + inline + `"}]}}`, "", "", "names none"},
		{"in the archive", "character", `{"media":{"assets":[{"type":"icon","name":"main","uri":"embeded://assets/icon/main.png"}]}}`, "/media/assets/0/uri", "archive", ""},
		{"not in the archive", "character", `{"media":{"assets":[{"type":"icon","name":"main","uri":"embeded://assets/icon/other.png"}]}}`, "", "", "does not hold it"},
		{"an archive's text", "character", `{"media":{"portrait":"archive:card.json"}}`, "", "", "does not hold it"},
		{"an asset that is not there", "character", `{"media":{"portrait":"__asset:7"}}`, "", "", "not in the original"},
		{"an asset", "pack", `{"items":[{"id":"a","ref":"asset:assets/icon/main.png"}]}`, "/items/0/ref", "asset", ""},
		{"the default face", "pack", `{"default":"b","items":[{"id":"a","ref":"` + inline + `"},{"id":"b","ref":"https://example.com/b.webp"}]}`, "/items/1/ref", "url", ""},
		{"the next where the first is missing", "pack", `{"default":"b","items":[{"id":"a","ref":"` + inline + `"},{"id":"b","ref":"asset:x"}]}`, "/items/0/ref", "data", ""},
		{"a kind without pictures", "lorebook", `{"name":"B"}`, "", "", "names none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := store.Piece{Ref: store.Ref{Kind: tt.kind, ID: "a"}, Body: []byte(tt.body), Escrow: originals}
			got, missing := content.Gallery{}.Picture(p)
			if got.Path != tt.path || got.Source != tt.source || !strings.Contains(missing, tt.missing) || (missing == "") != (tt.missing == "") {
				t.Errorf("got %+v, missing %q", got, missing)
			}
		})
	}
}

func TestTakeBlock(t *testing.T) {
	const preset = `{"name":"P","blocks":[{"id":"main","name":"Main","content":"x","enabled":true},{"id":"b","enabled":false}],` +
		`"choices":[{"key":"k","options":[{"id":"o","blocks":["main","b"]}]}]}`
	block, rest, name, err := content.Blocks{}.TakeBlock([]byte(preset), "main")
	if err != nil || name != "Main" || !strings.Contains(string(block), `"content":"x"`) {
		t.Fatalf("took %s, %q, %v", block, name, err)
	}
	if got, want := string(rest), `{"blocks":[{"enabled":false,"id":"b"}],"choices":[{"key":"k","options":[{"blocks":["b"],"id":"o"}]}],"name":"P"}`; got != want {
		t.Errorf("left  %s\nwant  %s", got, want)
	}
	for _, id := range []string{"none", ""} {
		if _, _, _, err := (content.Blocks{}).TakeBlock([]byte(preset), id); fault.CodeOf(err) != content.CodeBlock {
			t.Errorf("%q: %v", id, err)
		}
	}
}

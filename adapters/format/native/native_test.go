package native_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/format/native"
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

var table = content.NewFormats(native.Formats()...)

// bodies has one body of each kind.
var bodies = map[string]string{
	"character": `{"identity":{"name":"Ada"},"links":{"lorebooks":["b"]}}`, "lorebook": `{"name":"B","entries":[{"id":"1","enabled":true}]}`,
	"persona": `{"name":"P","brief":"b"}`, "preset": `{"name":"R","samplers":{"topP":null}}`, "regex": `{"name":"X"}`,
	"quickreply": `{"name":"Q"}`, "pack": `{"name":"K","items":[{"id":"1","ref":"https://x/y.png"}]}`, "htmldoc": `{"name":"H","html":"<p>1 & 2</p>"}`,
}

// Every kind goes out and comes back whole.
func TestEveryKindIsWhole(t *testing.T) {
	for _, k := range content.Kinds() {
		raw, err := canon.JSON([]byte(bodies[k.Name()]))
		if err != nil {
			t.Fatal(err)
		}
		body := string(raw)
		title, err := k.Title([]byte(body))
		if err != nil {
			t.Fatal(k.Name(), err)
		}
		p := store.Piece{Ref: store.Ref{Kind: k.Name(), ID: "x"}, Title: title, Body: []byte(body)}
		c, err := table.Convert(p, "soundstage", nil)
		links := 0
		if k.Name() == "character" {
			links = 1 // by its id: the lorebook is a file of its own
		}
		if err != nil || len(c.Losses) != links || c.Name != "x.soundstage.json" {
			t.Fatalf("%s: %s, %v, %v", k.Name(), c.Name, c.Losses, err)
		}
		im, err := table.Import(c.Name, c.Data)
		if err != nil || im.Format != "soundstage" || string(im.Pieces[0].Body) != body {
			t.Fatalf("%s: %s, %v", k.Name(), im.Format, err)
		}
		again, err := table.Convert(im.Pieces[0], "soundstage", nil)
		if err != nil || string(again.Data) != string(c.Data) || len(again.Losses) > 0 {
			t.Errorf("%s: unedited\n%s\nwant\n%s, %v", k.Name(), again.Data, c.Data, err)
		}
	}
}

// The picture of a card goes along, without the card; of other files only the names do.
func TestPictureGoesAlong(t *testing.T) {
	bare, err := carrier.Bare(content.InlinePNG(pixel))
	if err != nil {
		t.Fatal(err)
	}
	card, err := carrier.WritePNG(bare, []byte(`{"name":"Ada"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := store.Piece{
		Ref: store.Ref{Kind: "character", ID: "ada"}, Title: "Ada", Escrow: []store.Escrow{{Format: "png-v1", Name: "ada.png", Raw: card}},
		Body: []byte(`{"identity":{"name":"Ada"},"media":{"assets":[{"uri":"__asset:0"},{"uri":"https://x.test/a.png"}],"portrait":"original:png-v1"}}`),
	}
	c, err := table.Convert(p, "soundstage", nil)
	if err != nil || len(c.Losses) != 1 || c.Losses[0].Path != "/media/assets/0" {
		t.Fatalf("%+v, %v", c.Losses, err)
	}
	im, err := table.Import("ada.soundstage.json", c.Data)
	if err != nil || !strings.Contains(string(im.Pieces[0].Body), `"portrait":"`+pixel+`"`) {
		t.Errorf("%s, %v", im.Pieces[0].Body, err)
	}
	p.Escrow[0].Format = "png-v2" // another picture than the body names
	if c, err = table.Convert(p, "soundstage", nil); err != nil || len(c.Losses) != 2 || c.Losses[0].Path != "/media/portrait" || strings.Contains(string(c.Data), "portrait") {
		t.Errorf("%+v, %v\n%s", c.Losses, err, c.Data)
	}
}

const pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

func TestPages(t *testing.T) {
	const doc = "<!-- by hand -->\n<!DOCTYPE html><html><head><title>A  rail\n map &amp; more</title></head><body onload=x()>é</body></html>\r\n"
	im, err := table.Import("rail.html", []byte(doc))
	if err != nil || im.Pieces[0].Kind != "htmldoc" || im.Pieces[0].Title != "A rail map & more" {
		t.Fatalf("%+v, %v", im, err)
	}
	c, err := table.Convert(im.Pieces[0], "html", nil)
	if err != nil || string(c.Data) != doc || len(c.Losses) > 0 {
		t.Errorf("%q, %v, %v", c.Data, c.Losses, err)
	}
	p := im.Pieces[0]
	p.Body = []byte(strings.Replace(string(p.Body), `"name"`, `"notes":"n","name"`, 1))
	if c, err = table.Convert(p, "html", nil); err != nil || len(c.Losses) != 1 || c.Losses[0].Path != "/notes" || string(c.Data) != doc {
		t.Errorf("%v, %v", c.Losses, err)
	}
	if im, err = table.Import("bare.html", []byte("<div>x</div>")); err != nil || im.Pieces[0].Title != "bare" {
		t.Errorf("%+v, %v", im, err)
	}
	p = im.Pieces[0] // its name is the file's, and no loss where the markup changes
	p.Body = []byte(`{"html":"<div>y</div>","name":"bare"}`)
	if c, err = table.Convert(p, "html", nil); err != nil || len(c.Losses) > 0 || string(c.Data) != "<div>y</div>" {
		t.Errorf("%q, %v, %v", c.Data, c.Losses, err)
	}
}

func TestRefusals(t *testing.T) {
	for name, want := range map[string]fault.Code{
		`{"soundstage":2,"kind":"regex","body":{}}`:          native.CodeNewer,
		`{"soundstage":1,"kind":"song","body":{"name":"x"}}`: content.CodeUnread,
		`{"soundstage":1,"kind":"regex","body":{"wrong":1}}`: content.CodeBody,
		"<html>\xff</html>": content.CodeUnread,
		"<html>" + strings.Repeat("x", content.MaxHTML) + "</html>": content.CodeTooLong,
	} {
		if _, err := table.Import("f.json", []byte(name)); fault.CodeOf(err) != want {
			t.Errorf("%.40q: %v, want %s", name, err, want)
		}
	}
}

func TestCorpus(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", "corpus", "content", "synthetic", "htmldoc", "*.html"))
	if err != nil || len(files) == 0 {
		t.Skip("the content corpus is not beside this repository")
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		im, err := table.Import(filepath.Base(name), raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c, err := table.Convert(im.Pieces[0], "html", nil); err != nil || string(c.Data) != string(raw) {
			t.Errorf("%s: not the same, %v", name, err)
		}
	}
}

func FuzzNative(f *testing.F) {
	f.Add([]byte(`{"soundstage":1,"kind":"persona","id":"p","body":{"name":"P"}}`))
	f.Add([]byte("<!doctype html><title>x</title>"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		im, err := table.Import("x.html", raw)
		if err != nil {
			return
		}
		for _, p := range im.Pieces {
			if _, err := table.Convert(p, im.Format, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

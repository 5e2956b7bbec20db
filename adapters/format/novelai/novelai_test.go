package novelai_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/format/novelai"
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
)

var suite = formattest.Suite{Formats: content.NewFormats(novelai.Formats()...)}

func TestCorpus(t *testing.T) {
	dir, want := formattest.Corpus(t)
	for _, name := range []string{"novelai/nai-v6.lorebook", "novelai/naidata.png"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			im, err := suite.Formats.Import(filepath.Base(name), data)
			if err != nil {
				t.Fatal(err)
			}
			p := formattest.Main(im)
			formattest.Canonical(t, p)
			b, err := content.Parse[content.Lorebook](p.Body)
			if err != nil || len(b.Entries) != int(want[name]["entries"].(float64)) {
				t.Fatalf("%+v, %v", b, err)
			}
			if c, err := suite.Formats.Convert(p, "novelai-lorebook", nil); err != nil || !bytes.Equal(c.Data, data) {
				t.Errorf("unedited: %v", err)
			}
			if strings.HasSuffix(name, ".lorebook") {
				suite.Unedited(t, p, nil)
				if n := suite.OneEdits(t, p, nil); n < 5 {
					t.Errorf("%d edits", n)
				}
			}
			b.Entries[0].Content = "Tallow."
			if p.Body, err = content.Bytes(b); err != nil {
				t.Fatal(err)
			}
			c, err := suite.Formats.Convert(p, "novelai-lorebook", nil)
			if err != nil || len(c.Losses) > 0 || carrier.Sniff(c.Data) != carrier.Sniff(data) {
				t.Fatalf("edited: %v, losses %v", err, c.Losses)
			}
			again, err := suite.Formats.Import(filepath.Base(name), c.Data)
			if err != nil || !bytes.Equal(again.Pieces[0].Body, p.Body) {
				t.Errorf("read back: %v", err)
			}
		})
	}
}

func TestLosses(t *testing.T) {
	suite.Losses(t, formattest.Made{Format: "novelai-lorebook", Kind: content.KindLorebook, Fill: map[string]string{"/entries/*/sortOrder": "400", "/folders/*/enabled": "true"}})
}

const seed = `{"lorebookVersion":6,"entries":[{"text":"T","displayName":"L","keys":["a","/b/i"],"id":"e1","enabled":false,"forceActivation":true,"category":"gone","contextConfig":{"budgetPriority":300,"x":1},"y":2},{"text":"U","id":"e2","category":"c1"}],` +
	`"settings":{},"categories":[{"name":"C","id":"c1","enabled":true,"createSubcontext":false}],"order":["e2","e1","odd"]}`

func TestEntriesThatGoAndCome(t *testing.T) {
	im := suite.Import(t, "book.lorebook", []byte(seed))
	p := im.Pieces[0]
	suite.OneEdits(t, p, nil)
	b, err := content.Parse[content.Lorebook](p.Body)
	if err != nil {
		t.Fatal(err)
	}
	b.Entries[1] = content.LoreEntry{ID: "new", Title: "N", Enabled: true}
	if p.Body, err = content.Bytes(b); err != nil {
		t.Fatal(err)
	}
	out := suite.Write(t, p, "novelai-lorebook", nil)
	doc, err := canon.ParseTree(out.Data)
	if err != nil || string(doc.Field("order").Bytes()) != `["e1","odd","new"]` || doc.At("/entries/0/category").Text() != "gone" {
		t.Errorf("%s, %v", out.Data, err)
	}
}

func TestRefused(t *testing.T) {
	const empty = "\x89PNG\r\n\x1a\n\x00\x00\x00\x00IEND\xaeB`\x82"
	picture, err := carrier.WriteTexts([]byte(empty), carrier.Payload{Keyword: carrier.NAIData, Text: []byte(`{"a":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := suite.Formats.Import("x.png", picture); fault.CodeOf(err) != content.CodeUnread {
		t.Errorf("%v", err)
	}
}

func FuzzLorebook(f *testing.F) { suite.Fuzz(f, "novelai-lorebook", seed) }

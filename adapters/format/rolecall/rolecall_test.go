package rolecall_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/format/rolecall"
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
)

var suite = formattest.Suite{Formats: content.NewFormats(rolecall.Formats()...)}

func TestCorpus(t *testing.T) {
	dir, want := formattest.Corpus(t)
	const name = "rolecall/persona.json"
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	im := suite.Import(t, "persona.json", data)
	b := formattest.Body(t, formattest.Main(im))
	if im.Format != "rolecall-persona" || b.Field("brief").Text() != want[name]["brief"] || b.Field("content").Text() != "I am Ben, a traveller." {
		t.Errorf("%s: %s", im.Format, b.Bytes())
	}
	suite.OneEdits(t, formattest.Main(im), nil)
}

func TestLosses(t *testing.T) {
	for _, g := range []formattest.Made{
		{Format: "rolecall-persona", Kind: content.KindPersona},
		{Format: "rolecall-lorebook", Kind: content.KindLorebook, Fill: map[string]string{
			"/settings/scanDepth": "4", "/settings/tokenBudget": "2048", "/settings/recursive": "false", "/settings/caseSensitive": "false", "/settings/wholeWords": "false",
			"/folders/*/enabled": "true", "/folders/*/order": "0", "/entries/*/placement/position": `"before"`, "/entries/*/placement/depth": "4",
			"/entries/*/placement/role": `"system"`, "/entries/*/sortOrder": "100", "/entries/*/priority": "100", "/entries/*/probability": "100",
			"/entries/*/timing/sticky": "0", "/entries/*/timing/cooldown": "0", "/entries/*/timing/delay": "0", "/entries/*/group/weight": "100",
		}},
		{Format: "rolecall-preset", Kind: content.KindPreset},
	} {
		t.Run(g.Format, func(t *testing.T) { suite.Losses(t, g) })
	}
}

const (
	seedNative   = `{"spec":"rolecall_persona","spec_version":"1.0","data":{"name":"B","description":"brief","content":"","sections":{"quirks":"q","history":"h"},"metadata":{"tags":["t"],"creator":"us"}}}`
	seedCard     = `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"B","description":"I am.\n\nAppearance: Tall.\n\nBody: Thin.","personality":"wry","scenario":"h","creator_notes":"brief","tags":["t"],"extensions":{"rolecall":{"type":"persona","accent_color":"#fff"}}}}`
	seedLorebook = `{"schemaVersion":"1.0.0","exportDate":"x","lorebook":{"name":"L","settings":{"globalScanDepth":3},"metadata":{"genre":"g","tags":["t"]},"categories":[{"id":"c","name":"C","sortOrder":1,"enabled":false}],"tree":{"tree_data":{}},"entries":[{"id":"e","title":"T","content":"c","enabled":true,"constant":false,"triggers":{"mode":"advanced","primary":[{"keyword":"k","isRegex":true,"probability":40},{"isRegex":false}],"secondary":[{"keyword":"s"}],"selectiveLogic":"not_any"},"injection":{"position":"append","depth":2,"role":"user"},"priority":{"sortOrder":1,"priority":9},"grouping":{"categoryId":"c"},"characterFilter":{"names":["A"],"tags":[],"isExclude":true},"scanSources":{"scenario":true},"unsupportedFields":{"vectorized":true,"generationTriggers":["quiet"],"outletName":"o"},"advanced":{"delayUntilRecursion":true}},{"grouping":{"categoryId":"gone"}}]}}`
	seedPreset   = `{"name":"P","readme":"R","temperature":0.90,"prompts":[{"identifier":"main","name":"Main","role":"system","content":"M"},{"identifier":"d","name":"━━━ Style ━━━","content":""},{"identifier":"chatHistory","marker":true}],"prompt_order":[{"character_id":100001,"order":[{"identifier":"main","enabled":true},{"identifier":"d","enabled":true},{"identifier":"chatHistory","enabled":true}]}],"choice_groups":[{"id":"pov","label":"POV","type":"one","options":[{"id":"a","label":"A","prompts":["main"],"set":{"x":"1"}}],"default":"a","suggestions":["s"]},{"id":"n","type":"input","min":2,"default":["x","y"]}],"macro_engine_yaml":"hooks: []\n","extensions":{"linkedRegexScripts":["u"],"regex_scripts":[{"id":"1","scriptName":"s","findRegex":"/a/g","placement":[2]}]},"proxy_password":"secret"}`
)

func TestSeeds(t *testing.T) {
	for _, seed := range []string{seedNative, seedCard, seedLorebook, seedPreset} {
		im := suite.Import(t, "x.json", []byte(seed))
		suite.OneEdits(t, formattest.Main(im), im.Pieces)
	}
}

// TestPictures: both shapes of a persona in a picture, edited, stay in their chunk.
func TestPictures(t *testing.T) {
	const empty = "\x89PNG\r\n\x1a\n\x00\x00\x00\x00IEND\xaeB`\x82"
	for key, doc := range map[string]string{carrier.RCPersona: seedNative, carrier.Chara: seedCard} {
		t.Run(key, func(t *testing.T) {
			png, err := carrier.WriteTexts([]byte(empty), carrier.Payload{Keyword: key, Text: []byte(doc)})
			if err != nil {
				t.Fatal(err)
			}
			im := suite.Import(t, "ben.png", png)
			p := formattest.Main(im)
			b := formattest.Body(t, p)
			if im.Format != "rolecall-persona-png" || b.Field("portrait").Text() != "original:rolecall-persona-png" {
				t.Errorf("%s: %s", im.Format, b.Bytes())
			}
			if err := b.Set("/brief", canon.NewText("another")); err != nil {
				t.Fatal(err)
			}
			if p.Body, err = canon.JSON(b.Bytes()); err != nil {
				t.Fatal(err)
			}
			out := suite.Write(t, p, im.Format, nil)
			f := content.Open("ben.png", out.Data)
			if len(f.Docs) != 1 || f.Docs[0].Keyword != key || len(out.Losses) > 0 {
				t.Fatalf("%v, %+v", f.Docs, out.Losses)
			}
			again := suite.Read(t, im.Format, content.KindPersona, out.Data)
			if got := again.Found[0].Body; !canon.Equal(got, b) {
				t.Errorf("reads %s, want %s", got.Bytes(), b.Bytes())
			}
			// another picture is that of the file; one that is elsewhere cannot be
			const pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
			p.Body = []byte(strings.Replace(string(p.Body), b.Field("portrait").Text(), pixel, 1))
			out = suite.Write(t, p, im.Format, nil)
			if bare, err := carrier.Bare(out.Data); err != nil || !bytes.Equal(bare, content.InlinePNG(pixel)) || len(out.Losses) > 0 {
				t.Errorf("the picture is %q, %+v, %v", bare, out.Losses, err)
			}
			p.Body = []byte(strings.Replace(string(p.Body), pixel, "https://x.test/a.png", 1))
			if out = suite.Write(t, p, im.Format, nil); len(out.Losses) != 1 || out.Losses[0].Path != "/portrait" {
				t.Errorf("losses %+v", out.Losses)
			}
		})
	}
}

func FuzzPersona(f *testing.F)  { suite.Fuzz(f, "rolecall-persona", seedNative, seedCard) }
func FuzzLorebook(f *testing.F) { suite.Fuzz(f, "rolecall-lorebook", seedLorebook) }
func FuzzPreset(f *testing.F)   { suite.Fuzz(f, "rolecall-preset", seedPreset) }

// FuzzPicture reads pictures that carry a persona in either chunk.
func FuzzPicture(f *testing.F) {
	const empty = "\x89PNG\r\n\x1a\n\x00\x00\x00\x00IEND\xaeB`\x82"
	for key, doc := range map[string]string{carrier.RCPersona: seedNative, carrier.Chara: seedCard} {
		png, err := carrier.WriteTexts([]byte(empty), carrier.Payload{Keyword: key, Text: []byte(doc)})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(png)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		im, err := suite.Formats.Import("x.png", data)
		if err != nil || im.Format != "rolecall-persona-png" {
			return
		}
		formattest.Canonical(t, im.Pieces[0])
		suite.Unedited(t, im.Pieces[0], nil)
	})
}

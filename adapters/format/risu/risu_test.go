package risu_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/format/risu"
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
)

var suite = formattest.Suite{Formats: content.NewFormats(risu.Formats(nil)...)}

func TestCorpus(t *testing.T) {
	dir, want := formattest.Corpus(t)
	edits := 0
	for name, format := range map[string]string{
		"risu/lorebook_export.json": "risu-lorebook", "risu/regexscript_export.json": "risu-regex", "risu/ada_preset.json": "risu-preset",
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			im := suite.Import(t, filepath.Base(name), data)
			if im.Format != format {
				t.Errorf("taken by %q", im.Format)
			}
			b := formattest.Body(t, formattest.Main(im))
			for _, key := range []string{"entries", "folders", "rules"} {
				if n, ok := want[name][key].(float64); ok && b.Field(key).Len() != int(n) {
					t.Errorf("%d %s, want %v", b.Field(key).Len(), key, n)
				}
			}
			if _, ok := want[name]["temperature"]; ok && b.At("/samplers/temperature").Raw() != "0.8" {
				t.Errorf("temperature %s", b.At("/samplers/temperature").Raw())
			}
			for _, p := range im.Pieces {
				edits += suite.OneEdits(t, p, im.Pieces, "placement", "phases")
			}
		})
	}
	if edits < 30 {
		t.Errorf("%d edits", edits)
	}
}

func TestLosses(t *testing.T) {
	for _, g := range []formattest.Made{
		{Format: "risu-lorebook", Kind: content.KindLorebook, Fill: map[string]string{"/entries/*/sortOrder": "100"}},
		{Format: "risu-regex", Kind: content.KindRegex, Fill: map[string]string{"/rules/*/flags": `"g"`}},
		{Format: "risu-preset", Kind: content.KindPreset, Fill: map[string]string{
			"/samplers/temperature": "0.8", "/samplers/maxContext": "4000", "/samplers/maxTokens": "300", "/samplers/frequencyPenalty": "0.7", "/samplers/presencePenalty": "0.7",
			"/blocks/*/role": `"system"`,
		}},
		{Format: "risu-risupreset", Kind: content.KindPreset, Fill: map[string]string{
			"/samplers/temperature": "0.8", "/samplers/maxContext": "4000", "/samplers/maxTokens": "300", "/samplers/frequencyPenalty": "0.7", "/samplers/presencePenalty": "0.7",
			"/blocks/*/role": `"system"`,
		}},
	} {
		t.Run(g.Format, func(t *testing.T) { suite.Losses(t, g) })
	}
}

const (
	seedBook = `{"type":"risu","ver":1,"data":[{"key":"a, b","secondkey":"c","insertorder":5,"comment":"T","content":"@@depth 2\n@@role user\n@@mood x\nText","mode":"constant","alwaysActive":true,"selective":true,` +
		`"extentions":{"risu_case_sensitive":true},"activationPercent":50,"x":1,"id":"u1"},{"key":"\uf000folder:f","comment":"F","content":"","mode":"folder","insertorder":1,"alwaysActive":false,"secondkey":"","selective":false},` +
		`{"key":"/x,y/i","useRegex":true,"content":"@@dont_activate\nc","comment":"","mode":"child","insertorder":1,"alwaysActive":false,"secondkey":"","selective":false,"folder":"\uf000folder:f"},7]}`
	seedRegex = `{"type":"regex","data":[{"comment":"a","in":"x","out":"a$nb {{data}}","type":"editprocess","ableFlag":true,"flag":"gi<order -3><cbs><inject>"},{"comment":"b","in":"","out":"@@emo x","type":"edittrans","ableFlag":false,"flag":"keep"}]}`
	seedOld   = `{"name":"Old","apiType":"x","openAIKey":"","proxyKey":"sk-secret","temperature":80,"formatingOrder":["main"],"mainPrompt":"M","jailbreak":"","globalNote":"G","regex":[{}],"textgenWebUIStreamURL":"http://host.invalid"}`
	seedNew   = `{"name":"New","apiType":"x","temperature":"75","promptTemplate":[{"type":"plain","type2":"main","text":"T","role":"bot","name":"N"},{"type":"chat","rangeStart":-2,"rangeEnd":"end"},{"type":"persona","innerFormat":"I"},{"type":"chatML","text":"C"},5],"promptSettings":null,"top_k":null}`
)

func TestSeeds(t *testing.T) {
	for _, seed := range []string{seedBook, seedRegex, seedOld, seedNew} {
		im := suite.Import(t, "x.json", []byte(seed))
		for _, p := range im.Pieces {
			suite.OneEdits(t, p, im.Pieces, "placement", "phases", "id")
		}
	}
}

func FuzzLorebook(f *testing.F) { suite.Fuzz(f, "risu-lorebook", seedBook) }
func FuzzRegex(f *testing.F)    { suite.Fuzz(f, "risu-regex", seedRegex) }
func FuzzPreset(f *testing.F)   { suite.Fuzz(f, "risu-preset", seedOld, seedNew) }

func TestSecretsAreNotWritten(t *testing.T) {
	im := suite.Import(t, "old.json", []byte(seedOld))
	for _, to := range []string{"risu-preset", "risu-risupreset"} {
		c, err := suite.Formats.Convert(im.Pieces[0], to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(c.Data, []byte("sk-secret")) || bytes.Contains(c.Data, []byte("host.invalid")) {
			t.Errorf("%s: %s", to, c.Data)
		}
	}
	c, err := suite.Formats.Convert(im.Pieces[0], "risu-preset", nil)
	if got := strings.Join(c.Stripped, " "); err != nil || got != "/proxyKey /textgenWebUIStreamURL" {
		t.Errorf("stripped %q, %v", got, err)
	}
}

// packed is a packed preset of this document, by way of our own writer.
func packed(t testing.TB, doc string) []byte {
	t.Helper()
	im, err := suite.Formats.Import("x.json", []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	c, err := suite.Formats.Convert(im.Pieces[0], "risu-risupreset", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Data
}

func TestPackedPresets(t *testing.T) {
	data := packed(t, seedNew)
	im, err := suite.Formats.Import("new.risupreset", data)
	if err != nil || im.Format != "risu-risupreset" || im.Pieces[0].Title != "New" {
		t.Fatalf("%+v, %v", im.Pieces, err)
	}
	b := formattest.Body(t, im.Pieces[0])
	if b.At("/samplers/temperature").Raw() != "0.75" || b.Field("blocks").Len() != 4 {
		t.Errorf("%s", b.Bytes())
	}
	c, err := suite.Formats.Convert(im.Pieces[0], "risu-risupreset", nil)
	if err != nil || c.Name != "new.risupreset" || len(c.Losses) > 0 {
		t.Fatal(err, c.Losses)
	}
	again, err := suite.Formats.Import("new.risupreset", c.Data)
	if err != nil || !bytes.Equal(again.Pieces[0].Body, im.Pieces[0].Body) {
		t.Errorf("read back: %v", err)
	}
	if json, err := suite.Formats.Convert(im.Pieces[0], "risu-preset", nil); err != nil || !bytes.Contains(json.Data, []byte(`"New"`)) {
		t.Errorf("as JSON: %v", err)
	}
}

func TestRefused(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 40 {
		if _, err := z.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sound := packed(t, seedNew)
	for _, tt := range []struct {
		name string
		data []byte
		code fault.Code
	}{
		{"ada.risup", []byte("\x01\x02spelled"), rpack.CodeTable},
		{"ada.risum", []byte("o\x00\x01\x02"), rpack.CodeTable},
		{"bomb.risupreset", bomb.Bytes(), risu.CodePacked},
		{"cut.risupreset", sound[:len(sound)/2], risu.CodePacked},
		{"empty.risupreset", []byte("\x1f\x8b"), risu.CodePacked},
	} {
		if _, err := suite.Formats.Import(tt.name, tt.data); fault.CodeOf(err) != tt.code {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.code)
		}
	}
}

func FuzzPacked(f *testing.F) {
	f.Add(packed(f, seedNew))
	f.Add(packed(f, seedOld))
	f.Fuzz(func(t *testing.T, data []byte) {
		im, err := suite.Formats.Import("x.risupreset", data)
		if err != nil {
			return
		}
		formattest.Canonical(t, im.Pieces[0])
		if _, err := suite.Formats.Convert(im.Pieces[0], "risu-risupreset", nil); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFoldersAndEntries(t *testing.T) {
	im := suite.Import(t, "book.json", []byte(seedBook))
	p := im.Pieces[0]
	b, err := content.Parse[content.Lorebook](p.Body)
	if err != nil || len(b.Folders) != 1 || len(b.Entries) != 2 {
		t.Fatalf("%+v, %v", b, err)
	}
	e := b.Entries[0]
	if e.Placement.Position != "depth" || *e.Placement.Depth != 2 || e.Placement.Role != "user" || e.Content != "@@mood x\nText" || e.Logic != "and_any" || *e.Probability != 50 {
		t.Errorf("%+v", e)
	}
	if e := b.Entries[1]; e.Enabled || e.Folder != "f" || !e.Keys[0].Regex || e.Keys[0].Text != "x,y" {
		t.Errorf("%+v", e)
	}
	b.Folders = append(b.Folders, content.LoreFolder{ID: "g", Name: "G"})
	b.Entries[0].Folder = "g"
	b.Entries[1].Folder = ""
	if p.Body, err = content.Bytes(b); err != nil {
		t.Fatal(err)
	}
	out := suite.Write(t, p, "risu-lorebook", nil)
	doc, err := canon.ParseTree(out.Data)
	if err != nil || len(out.Losses) > 0 || doc.At("/data/0/folder").Text() != "\uf000folder:g" || doc.At("/data/2/folder") != nil ||
		doc.At("/data/4/mode").Text() != "folder" || doc.At("/data/3").Raw() != "7" || doc.At("/data/2/mode").Text() != "child" {
		t.Errorf("%s, %v, %v", out.Data, out.Losses, err)
	}
}

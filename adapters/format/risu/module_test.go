package risu_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/format/risu"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// spelt are the formats with a table: the tests' own.
var spelt = formattest.Suite{Formats: content.NewFormats(risu.Formats(formattest.Spelling())...)}

const seedModule = `{
  "module": {
    "name": "Harbour", "description": "Lights.", "id": "11111111-2222-4333-8444-555555555555",
    "lorebook": [
      {"key": "lamp, oil", "secondkey": "", "insertorder": 100, "comment": "Lamp", "content": "Whale oil.", "mode": "normal", "alwaysActive": false, "selective": false, "x": 1e2}
    ],
    "regex": [ {"comment": "bold", "in": "a", "out": "b", "type": "editdisplay", "ableFlag": false, "y": null} ],
    "trigger": [ {"comment": "t", "type": "start", "effect": []} ],
    "assets": [["bg", "", "png"]], "lowLevelAccess": false
  },
  "type": "risuModule"
}`

// change lays a change over the body of a piece.
func change(t *testing.T, p store.Piece, ptr, val string) store.Piece {
	t.Helper()
	b := formattest.Body(t, p)
	twin.Set(b, ptr, twin.Parsed(val))
	p.Body = b.Bytes()
	return p
}

func TestModules(t *testing.T) {
	data := formattest.Module(t, seedModule, "picture")
	im := spelt.Import(t, "harbour.risum", data) // the same bytes where nobody edited
	if im.Format != "risu-module" || len(im.Pieces) != 2 || im.Pieces[1].Title != "Harbour" || im.Pieces[1].Kind != content.KindLorebook || im.Notes[1].BookEntries != 1 || im.Notes[1].Assets != 1 {
		t.Fatalf("%+v", im)
	}
	for _, says := range []string{"triggers of the module (1)", "never run", "assets of the module (1)"} {
		if !strings.Contains(strings.Join(im.Warnings, "\n"), says) {
			t.Errorf("%q lacks %q", im.Warnings, says)
		}
	}
	for _, tt := range []struct {
		piece     int
		ptr, val  string
		was, want string
	}{
		{1, "/entries/0/content", `"Gas."`, `Whale oil.`, `Gas.`},
		{0, "/rules/0/find", `"c"`, `"in": "a"`, `"in": "c"`},
		{1, "/description", `"Dark."`, `Lights.`, `Dark.`},
		{0, "/name", `"Port"`, `Harbour`, `Port`},
	} {
		c, err := spelt.Formats.Convert(change(t, im.Pieces[tt.piece], tt.ptr, tt.val), "risu-module", nil)
		want := formattest.Module(t, strings.Replace(seedModule, tt.was, tt.want, 1), "picture")
		if err != nil || len(c.Losses) > 0 || !bytes.Equal(c.Data, want) {
			t.Errorf("%s: %v, %v\n%s", tt.ptr, err, c.Losses, formattest.ModuleDoc(t, c.Data).Bytes())
		}
	}
}

// What leaves the module behind says what stays in it.
func TestModuleLosses(t *testing.T) {
	im := spelt.Import(t, "harbour.risum", formattest.Module(t, seedModule, "picture"))
	losses, err := spelt.Formats.Losses(im.Pieces[1], "risu-lorebook", nil)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, l := range losses {
		paths = append(paths, l.Path)
	}
	all := strings.Join(paths, " ") + " "
	for _, path := range []string{"original:/module/trigger", "original:/module/assets", "original:/module/lorebook/0/x", "/description "} {
		if !strings.Contains(all, path) {
			t.Errorf("%q lacks %s", paths, path)
		}
	}
}

func TestModuleParts(t *testing.T) {
	for doc, kinds := range map[string]string{
		`{"module":{"name":"A","regex":[{"in":"a","out":"b","type":"editinput"}]},"type":"risuModule"}`: "regex",
		`{"module":{"name":"A","trigger":[{}]},"type":"risuModule"}`:                                    "lorebook",
		`{"module":{"lorebook":[{"key":"a"}],"regex":7},"type":"risuModule"}`:                           "lorebook",
		`{"module":{"name":"A","lorebook":null,"regex":[]},"type":"risuModule"}`:                        "lorebook",
	} {
		im := spelt.Import(t, "a.risum", formattest.Module(t, doc))
		var got []string
		for _, p := range im.Pieces {
			got = append(got, p.Kind)
		}
		if strings.Join(got, " ") != kinds {
			t.Errorf("%s: %q, want %s", doc, got, kinds)
		}
	}
}

func TestModuleWithoutTable(t *testing.T) {
	data := formattest.Module(t, seedModule)
	for _, name := range []string{"a.risum", "nameless"} {
		_, err := suite.Formats.Import(name, data)
		if fault.CodeOf(err) != rpack.CodeTable || !strings.Contains(fault.HintOf(err), "risuTable") {
			t.Errorf("%v, %s", err, fault.HintOf(err))
		}
	}
	im := spelt.Import(t, "a.risum", data)
	if _, err := suite.Formats.Convert(im.Pieces[1], "risu-module", nil); fault.CodeOf(err) != rpack.CodeTable || !strings.Contains(fault.HintOf(err), "risuTable") {
		t.Errorf("written without a table: %v", err)
	}
	if got := suite.Formats.Usual(im.Pieces[1]); got != "risu-lorebook" {
		t.Errorf("usually %q", got)
	}
}

func TestModuleSecrets(t *testing.T) {
	key := "sk-ant-api03-" + strings.Repeat("Zq8r", 12)
	im, err := spelt.Formats.Import("a.risum", formattest.Module(t, strings.Replace(seedModule, `"lowLevelAccess": false`, `"api_key": "`+key+`"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := spelt.Formats.Convert(im.Pieces[1], "risu-module", nil)
	if err != nil || len(c.Stripped) != 1 || strings.Contains(string(formattest.ModuleDoc(t, c.Data).Bytes()), "sk-") {
		t.Errorf("%q, %v", c.Stripped, err)
	}
}

func TestSpeltPresets(t *testing.T) {
	raw, err := formattest.Spelling().Write("a.risup", "preset", packed(t, seedNew))
	if err != nil {
		t.Fatal(err)
	}
	im, err := spelt.Formats.Import("new.risup", raw)
	if err != nil || im.Format != "risu-risup" || im.Pieces[0].Title != "New" {
		t.Fatalf("%+v, %v", im.Pieces, err)
	}
	c, err := spelt.Formats.Convert(change(t, im.Pieces[0], "/samplers/temperature", "0.5"), "risu-risup", nil)
	if err != nil || c.Name != "new.risup" || len(c.Losses) > 0 {
		t.Fatal(err, c.Losses)
	}
	again, err := spelt.Formats.Import("new.risup", c.Data)
	if want := bytes.Replace(im.Pieces[0].Body, []byte("0.75"), []byte("0.5"), 1); err != nil || !bytes.Equal(again.Pieces[0].Body, want) {
		t.Errorf("read back: %v\n%s\nwant\n%s", err, again.Pieces[0].Body, want)
	}
	if c, err = spelt.Formats.Convert(im.Pieces[0], "risu-risupreset", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := suite.Formats.Import("new.risupreset", c.Data); err != nil {
		t.Errorf("without the table: %v", err)
	}
	if _, err := spelt.Formats.Import("cut.risup", raw[:len(raw)/2]); fault.CodeOf(err) != risu.CodePacked {
		t.Errorf("cut off: %v", err)
	}
	if _, err := suite.Formats.Import("new.risup", raw); fault.CodeOf(err) != rpack.CodeTable {
		t.Errorf("without a table: %v", err)
	}
}

func TestSpeltLosses(t *testing.T) {
	for _, g := range []formattest.Made{
		{Format: "risu-module", Kind: content.KindLorebook, Fill: map[string]string{"/entries/*/sortOrder": "100"}},
		{Format: "risu-module", Kind: content.KindRegex, Fill: map[string]string{"/rules/*/flags": `"g"`}},
	} {
		t.Run(g.Kind, func(t *testing.T) { spelt.Losses(t, g) })
	}
}

func FuzzModule(f *testing.F) {
	f.Add(formattest.Module(f, seedModule, "picture"))
	f.Fuzz(func(t *testing.T, data []byte) {
		im, err := spelt.Formats.Import("x.risum", data)
		if err != nil {
			return
		}
		for _, p := range im.Pieces {
			formattest.Canonical(t, p)
			if c, err := spelt.Formats.Convert(p, "risu-module", nil); err != nil && fault.CodeOf(err) != content.CodeSecret || err == nil && len(c.Stripped) == 0 && !bytes.Equal(c.Data, data) {
				t.Fatalf("%v, %q\nwant %q", err, c.Data, data)
			}
		}
	})
}

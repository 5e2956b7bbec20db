package sillytavern_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/format/sillytavern"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
)

var (
	table = content.NewFormats(sillytavern.Formats()...)
	suite = formattest.Suite{Formats: table}
)

// expect is what the corpus says of a file.
type expect struct {
	Entries, Rules, Replies, Personas, Parts *int
	Secrets, Orphans, Ghosts                 []string
	Prompts                                  any // a number, or identifiers
}

// formatOf are the formats that must take the corpus's files.
var formatOf = map[string]string{
	"book-id-clash.json": "sillytavern-world", "world-modern.json": "sillytavern-world", "world-spec-array.json": "sillytavern-world",
	"master-export.json": "sillytavern-master", "personas-backup.json": "sillytavern-personas",
	"preset-legacy.json": "sillytavern-chat", "preset-secrets.json": "sillytavern-chat", "prompt-manager-export.json": "sillytavern-chat",
	"qr-v1.json": "sillytavern-quickreply", "qr-v2.json": "sillytavern-quickreply",
	"regex-array.json": "sillytavern-regex", "regex-legacy.json": "sillytavern-regex", "regex-nasty.json": "sillytavern-regex", "regex-single.json": "sillytavern-regex",
}

// others are of the card specification's formats, which are not here.
var others = []string{"lorebook_v3.json"}

func corpus(t testing.TB) (files map[string][]byte, want map[string]expect) {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "corpus", "content", "synthetic")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the content corpus is not beside this repository: ", err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "EXPECT.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	files = map[string][]byte{}
	list, err := os.ReadDir(filepath.Join(dir, "sillytavern"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, "sillytavern", e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files, want
}

func TestCorpus(t *testing.T) {
	files, want := corpus(t)
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			if slices.Contains(others, name) {
				if _, err := table.Import(name, data); err == nil {
					t.Error("a format of SillyTavern took it")
				}
				return
			}
			im := suite.Import(t, name, data)
			if im.Format != formatOf[name] {
				t.Errorf("taken by %q", im.Format)
			}
			compare(t, im, want["sillytavern/"+name])
		})
	}
	if len(files) < len(formatOf) {
		t.Errorf("%d files", len(files))
	}
}

func compare(t *testing.T, im content.Imported, w expect) {
	t.Helper()
	b := formattest.Body(t, formattest.Main(im))
	for what, n := range map[string]*int{"/entries": w.Entries, "/rules": w.Rules, "/replies": w.Replies} {
		if n != nil && b.At(what).Len() != *n {
			t.Errorf("%d of %s, want %d", b.At(what).Len(), what, *n)
		}
	}
	if w.Personas != nil && len(im.Pieces) != *w.Personas {
		t.Errorf("%d personas, want %d", len(im.Pieces), *w.Personas)
	}
	if w.Parts != nil && !strings.Contains(strings.Join(im.Warnings, "\n"), "4 parts are one preset: instruct, context, sysprompt, preset") {
		t.Errorf("the parts: %q", im.Warnings)
	}
	var ids, orphans []string
	for _, bl := range b.At("/blocks").Items() {
		ids = append(ids, bl.Field("id").Text())
		if bl.Field("unlisted").Raw() == "true" {
			orphans = append(orphans, bl.Field("id").Text())
		}
	}
	switch p := w.Prompts.(type) {
	case float64:
		if len(ids) != int(p) {
			t.Errorf("blocks %q, want %v", ids, p)
		}
	case []any:
		got, _ := json.Marshal(ids)
		if exp, _ := json.Marshal(p); !bytes.Equal(got, exp) {
			t.Errorf("blocks %s, want %s", got, exp)
		}
	}
	if !slices.Equal(orphans, w.Orphans) {
		t.Errorf("orphans %q, want %q", orphans, w.Orphans)
	}
	for _, g := range w.Ghosts {
		if !strings.Contains(strings.Join(im.Warnings, "\n"), `prompts that are not there: ["`+g+`"]`) {
			t.Errorf("the ghost %q is not told: %q", g, im.Warnings)
		}
	}
	c, err := table.Convert(formattest.Main(im), im.Format, nil)
	if err != nil || !slices.Equal(c.Stripped, w.Secrets) {
		t.Errorf("stripped %q, want %q, %v", c.Stripped, w.Secrets, err)
	}
}

// write is what the piece's own format writes, never the original itself.
func write(t testing.TB, p store.Piece, linked []store.Piece) content.Written {
	t.Helper()
	return suite.Write(t, p, p.Escrow[0].Format, linked)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

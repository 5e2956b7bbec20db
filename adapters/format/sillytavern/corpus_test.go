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
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

var table = content.NewFormats(sillytavern.Formats()...)

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
			im, err := table.Import(name, data)
			if err != nil {
				t.Fatal(err)
			}
			if im.Format != formatOf[name] {
				t.Errorf("taken by %q", im.Format)
			}
			compare(t, im, data, want["sillytavern/"+name])
			for i, p := range im.Pieces {
				unedited(t, im, i)
				canonical(t, p)
			}
		})
	}
	if len(files) < len(formatOf) {
		t.Errorf("%d files", len(files))
	}
}

// main is the piece that the file is about: the last, because what it names is before.
func main(im content.Imported) store.Piece { return im.Pieces[len(im.Pieces)-1] }

func body(t testing.TB, p store.Piece) *canon.Node { return parse(t, p.Body) }

func parse(t testing.TB, raw []byte) *canon.Node {
	t.Helper()
	n, err := canon.ParseTree(raw)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func compare(t *testing.T, im content.Imported, data []byte, w expect) {
	t.Helper()
	b := body(t, main(im))
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
	c, err := table.Convert(main(im), im.Format, nil)
	if err != nil || !slices.Equal(c.Stripped, w.Secrets) {
		t.Errorf("stripped %q, want %q, %v", c.Stripped, w.Secrets, err)
	}
	_ = data
}

// unedited wants the tokens of the piece's own original, without secrets, from Write
// itself and not from the file that was kept.
func unedited(t *testing.T, im content.Imported, i int) {
	t.Helper()
	p := im.Pieces[i]
	out := write(t, p, im.Pieces)
	want := parse(t, bytes.TrimPrefix(bytes.TrimSpace(p.Escrow[0].Raw), []byte("\ufeff")))
	for _, ptr := range out.Stripped {
		if ok, err := want.Delete(ptr); !ok || err != nil {
			t.Errorf("%s was not there", ptr)
		}
	}
	if len(out.Losses) > 0 {
		t.Errorf("unedited, and lost: %v", out.Losses)
	}
	if got := bytes.TrimPrefix(bytes.TrimSpace(out.Data), []byte("\ufeff")); !bytes.Equal(got, want.Bytes()) {
		t.Errorf("unedited, and changed:\n%s\nwant\n%s", got, want.Bytes())
	}
	c, err := table.Convert(p, p.Escrow[0].Format, im.Pieces)
	if err != nil || len(c.Losses) > 0 {
		t.Errorf("%v, %v", c.Losses, err)
	}
	if len(out.Stripped) == 0 && !bytes.Equal(c.Data, p.Escrow[0].Raw) {
		t.Errorf("converted:\n%s\nwant\n%s", c.Data, p.Escrow[0].Raw)
	}
}

// write is what the piece's own format writes, never the original itself.
func write(t testing.TB, p store.Piece, linked []store.Piece) content.Written {
	t.Helper()
	return writeAs(t, p, p.Escrow[0].Format, linked)
}

func writeAs(t testing.TB, p store.Piece, name string, linked []store.Piece) content.Written {
	t.Helper()
	w := content.Writing{Piece: p, Body: body(t, p), Linked: linked}
	for i, e := range p.Escrow {
		if e.Format == name {
			w.Twin = &p.Escrow[i]
		}
	}
	f, err := table.Named(name, p.Kind)
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.Write(w)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// canonical wants a body that is its own canonical form.
func canonical(t testing.TB, p store.Piece) {
	t.Helper()
	var again []byte
	var err error
	switch p.Kind {
	case content.KindLorebook:
		again, err = reparse[content.Lorebook](p.Body)
	case content.KindPreset:
		again, err = reparse[content.Preset](p.Body)
	case content.KindRegex:
		again, err = reparse[content.RegexSet](p.Body)
	case content.KindQuickReply:
		again, err = reparse[content.QuickReplySet](p.Body)
	case content.KindPersona:
		again, err = reparse[content.Persona](p.Body)
	}
	if err != nil || !bytes.Equal(again, p.Body) {
		t.Fatalf("the %s is not its own canonical form, %v\n%s\nwant\n%s", p.Kind, err, p.Body, again)
	}
	if _, err := store.Prepare(p, store.Stamp{}); err != nil {
		t.Fatal(err)
	}
}

func reparse[B content.Body](raw []byte) ([]byte, error) {
	b, err := content.Parse[B](raw)
	if err != nil {
		return nil, err
	}
	return content.Bytes(b)
}

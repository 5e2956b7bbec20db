// Package formattest is the suite that every platform's formats must pass: what is
// unedited keeps its tokens, one edit is one change, and of any body what the losses
// leave is read again.
//
// It is for tests of adapters, above content and beside no format of its own. It reads
// the corpus where there is one, and nothing else of the disk.
package formattest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// A Suite is one table of formats under test.
type Suite struct{ Formats *content.Formats }

// Corpus is the directory of the corpus of files, and what it expects of them by name.
// A test skips where there is none.
func Corpus(t testing.TB) (dir string, want map[string]map[string]any) {
	t.Helper()
	dir = filepath.Join("..", "..", "..", "..", "shared", "corpus", "content", "synthetic")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the content corpus is not beside this repository: ", err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "EXPECT.json"))
	must(t, err)
	must(t, json.Unmarshal(raw, &want))
	return dir, want
}

// Import reads a file, and wants each piece in its canonical form and, unedited, the
// tokens of its original.
func (s Suite) Import(t testing.TB, name string, data []byte) content.Imported {
	t.Helper()
	im, err := s.Formats.Import(name, data)
	must(t, err)
	for _, p := range im.Pieces {
		Canonical(t, p)
		s.Unedited(t, p, im.Pieces)
	}
	return im
}

// Main is the piece that the file is about: the last, because what it names is before.
func Main(im content.Imported) store.Piece { return im.Pieces[len(im.Pieces)-1] }

// Body is a piece's.
func Body(t testing.TB, p store.Piece) *canon.Node { return parse(t, p.Body) }

// Unedited wants the tokens of the piece's own original, without secrets, from Write
// itself and not from the file that was kept. A piece of a format that is not under
// test is left out.
func (s Suite) Unedited(t testing.TB, p store.Piece, linked []store.Piece) {
	t.Helper()
	name := p.Escrow[0].Format
	if _, err := s.Formats.Named(name, p.Kind); err != nil {
		return
	}
	out := s.Write(t, p, name, linked)
	if len(out.Losses) > 0 {
		t.Errorf("unedited, and lost: %+v", out.Losses)
	}
	if doc := content.Open("x", p.Escrow[0].Raw).Doc; doc != nil {
		for _, ptr := range out.Stripped {
			if ok, err := doc.Delete(ptr); !ok || err != nil {
				t.Errorf("%s was not there", ptr)
			}
		}
		if got := bytes.TrimPrefix(bytes.TrimSpace(out.Data), []byte("\ufeff")); !bytes.Equal(got, doc.Bytes()) {
			t.Errorf("unedited, and changed:\n%s\nwant\n%s", got, doc.Bytes())
		}
	}
	c, err := s.Formats.Convert(p, name, linked)
	if err != nil || len(c.Losses) > 0 {
		t.Errorf("converted: %v, %+v", err, c.Losses)
	}
	if len(out.Stripped) == 0 && !bytes.Equal(c.Data, p.Escrow[0].Raw) {
		t.Errorf("converted:\n%q\nwant\n%q", c.Data, p.Escrow[0].Raw)
	}
}

// Write is what a format writes, never the original itself.
func (s Suite) Write(t testing.TB, p store.Piece, name string, linked []store.Piece) content.Written {
	t.Helper()
	w := content.Writing{Piece: p, Body: parse(t, p.Body), Linked: linked}
	for i, e := range p.Escrow {
		if e.Format == name && w.Twin == nil {
			w.Twin = &p.Escrow[i]
		} else {
			w.Others = append(w.Others, e)
		}
	}
	f, err := s.Formats.Named(name, p.Kind)
	must(t, err)
	out, err := f.Write(w)
	must(t, err)
	return out
}

// Read is what a format reads out of a file: its first piece.
func (s Suite) Read(t testing.TB, name, kind string, data []byte) content.Reading {
	t.Helper()
	f, err := s.Formats.Named(name, kind)
	must(t, err)
	r, err := f.Read(content.Open("made.json", data))
	if err != nil || len(r.Found) == 0 {
		t.Fatalf("%v\n%s", err, data)
	}
	return r
}

// Canonical wants a body that is its own canonical form.
func Canonical(t testing.TB, p store.Piece) {
	t.Helper()
	again, err := map[string]func([]byte) ([]byte, error){
		content.KindCharacter: reparse[content.Character], content.KindLorebook: reparse[content.Lorebook],
		content.KindPersona: reparse[content.Persona], content.KindPreset: reparse[content.Preset], content.KindRegex: reparse[content.RegexSet],
		content.KindQuickReply: reparse[content.QuickReplySet], content.KindPack: reparse[content.Pack], content.KindHTMLDoc: reparse[content.HTMLDoc],
	}[p.Kind](p.Body)
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

func parse(t testing.TB, raw []byte) *canon.Node {
	t.Helper()
	n, err := canon.ParseTree(raw)
	must(t, err)
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

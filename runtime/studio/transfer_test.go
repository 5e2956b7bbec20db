package studio_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
)

// Usual implements [studio.Converter].
func (b *bench) Usual(p store.Piece) string {
	if p.Kind == "preset" {
		return ""
	}
	return "txt"
}

// Convert implements [studio.Converter].
func (b *bench) Convert(p store.Piece, format string, linked []store.Piece) (studio.File, error) {
	if strings.ContainsAny(format, "/.") {
		return studio.File{}, fault.New("EXPORT_FORMAT", "test", "no format %q", format)
	}
	b.with = linked
	f := b.out
	f.Format, f.Name, f.Data = format, p.ID+".txt", []byte("text")
	return f, nil
}

// Save implements [studio.Exports].
func (b *bench) Save(_ context.Context, who, name string, data []byte) (string, error) {
	path := "Export/now " + who + "/" + name
	if b.saved == nil {
		b.saved = map[string][]byte{}
	}
	b.saved[path] = data
	return path, nil
}

// Lint implements [studio.Linter].
func (b *bench) Lint(p store.Piece, has func(store.Ref) (bool, error)) ([]studio.Finding, error) {
	var found []studio.Finding
	for i := range b.findings {
		found = append(found, studio.Finding{Rule: fmt.Sprint(i), Piece: p.Ref.String()})
	}
	if there, err := has(store.Ref{Kind: "note", ID: "gone"}); there || err != nil {
		return nil, fmt.Errorf("there %v, %w", there, err)
	}
	return found, nil
}

// Fingerprint implements [studio.Importer].
func (b *bench) Fingerprint(p store.Piece) string { return string(p.Body) }

func TestTransferAndExportSayTheSame(t *testing.T) {
	b := newBench(t)
	b.note("book", "Book", "x")
	b.piece("note", "a", `{"title":"A","links":["book","gone","book"]}`)
	b.out = studio.File{Losses: []studio.Loss{{Path: "/x", Value: "v", Target: "txt", Verdict: "dropped", Reason: "no place"}}, Stripped: []string{"/key"}}
	pre := b.must("studio.transfer", `{"kind":"note","id":"a"}`)
	if len(b.with) != 1 || b.with[0].ID != "book" {
		t.Errorf("it was given %v along", b.with)
	}
	if len(b.saved) != 0 || pre["name"] != "a.txt" || !strings.Contains(fmt.Sprint(pre["warnings"]), "note/gone, which is not") {
		t.Errorf("preview %v, saved %v", pre, b.saved)
	}
	req := gate.Request{Tool: "studio.export", Input: []byte(`{"kind":"note","id":"a"}`)}
	card, err := studio.NewCards(b.deps).Card(t.Context(), req)
	for _, want := range []string{`Export note/a ("A", revision 1) as txt, 4 bytes`, "dropped /x (no place)", "left out: /key", "note/gone"} {
		if err != nil || !strings.Contains(card.Title, want) {
			t.Errorf("card %q, %v, want %q in it", card.Title, err, want)
		}
	}
	out := b.must("studio.export", `{"kind":"note","id":"a"}`)
	if out["file"] != "Export/now s/a.txt" || string(b.saved["Export/now s/a.txt"]) != "text" {
		t.Errorf("export %v, saved %v", out, b.saved)
	}
	delete(out, "file")
	if fmt.Sprint(out) != fmt.Sprint(pre) {
		t.Errorf("the preview said %v, the export %v", pre, out)
	}
	b.refused("studio.export", `{"kind":"note","id":"a","revision":2}`, fault.Stale)
	b.refused("studio.export", `{"kind":"note","id":"no"}`, fault.NotFound)
	b.refused("studio.export", `{"kind":"note","id":"../a"}`, "BAD_REF")
	b.refused("studio.export", `{"kind":"note","id":"a","format":"../../x"}`, "EXPORT_FORMAT")
	b.piece("preset", "p", `{"title":"P"}`)
	b.refused("studio.transfer", `{"kind":"preset","id":"p"}`, studio.CodeNoFormat)
}

func TestTheCardOfAnExportIsShort(t *testing.T) {
	b := newBench(t)
	b.note("a", "A", "x")
	title := func() string {
		card, err := studio.NewCards(b.deps).Card(t.Context(), gate.Request{Tool: "studio.export", Input: []byte(`{"kind":"note","id":"a"}`)})
		if err != nil {
			t.Fatal(err)
		}
		return card.Title
	}
	if got := title(); !strings.HasSuffix(got, "Nothing is lost.") {
		t.Error(got)
	}
	b.out.Exact = true
	if got := title(); !strings.HasSuffix(got, "the file that the piece came from.") {
		t.Error(got)
	}
	b.out = studio.File{}
	for i := range 500 {
		b.out.Losses = append(b.out.Losses, studio.Loss{Path: fmt.Sprintf("/%d/%s", i, strings.Repeat("x", 500)), Verdict: "dropped", Reason: strings.Repeat("y", 500)})
		b.out.Stripped = append(b.out.Stripped, fmt.Sprint("/s", i))
	}
	if got := title(); len(got) > 4_000 || !strings.Contains(got, "and 490 more") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

func TestADuplicateIsSaidAndNotMade(t *testing.T) {
	b := newBench(t)
	b.piece("note", "a", `{"text":"same","title":"A"}`)
	b.piece("note", "other", `{"title":"B","text":"A"}`)
	b.folders.files = map[string]string{"a.txt": "x"}
	b.incoming = studio.Incoming{Format: "txt", Pieces: []store.Piece{{Ref: store.Ref{Kind: "note", ID: "b"}, Title: "A", Body: []byte(`{"text":"same","title":"A"}`)}}}
	b.refused("folder.import", `{"path":"cards/a.txt"}`, studio.CodeDuplicate)
	if list, _ := b.drafts.List(t.Context(), true); len(list) != 0 {
		t.Errorf("drafts %v", list)
	}
	b.must("folder.import", `{"path":"cards/a.txt","anyway":true}`)
	b.incoming.Pieces[0].Body = []byte(`{"text":"another","title":"A"}`)
	b.incoming.Pieces[0].ID = "c"
	b.must("folder.import", `{"path":"cards/a.txt"}`)
}

func TestLint(t *testing.T) {
	b := newBench(t)
	b.note("a", "A", "x")
	b.note("b", "B", "x")
	b.piece("preset", "p", `{"title":"P"}`)
	b.findings = 1
	for in, want := range map[string]string{
		`{}`: "3 3", `{"kind":"note"}`: "2 2", `{"kind":"note","id":"b"}`: "1 1",
	} {
		out := b.must("studio.lint", in)
		if got := fmt.Sprint(out["pieces"], " ", len(out["findings"].([]any))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	b.findings = 150
	if out := b.must("studio.lint", `{}`); len(out["findings"].([]any)) != 200 || out["more"] != 250.0 {
		t.Errorf("%d findings, %v more", len(out["findings"].([]any)), out["more"])
	}
	b.refused("studio.lint", `{"id":"a"}`, fault.Invalid)
	b.refused("studio.lint", `{"kind":"song"}`, studio.CodeKind)
	b.refused("studio.lint", `{"kind":"note","id":"z"}`, fault.NotFound)
}

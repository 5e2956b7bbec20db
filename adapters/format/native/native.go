// Package native is Soundstage's own files: a piece of any kind as JSON, whole, and an
// HTML document as the page that it is.
//
// It is an adapter of the content studio behind content.Format. What it writes loses
// nothing but the originals of other formats, which stay in the studio. It knows no other
// platform.
package native

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// CodeNewer says that a file was written by a newer Soundstage.
const CodeNewer fault.Code = "IMPORT_NEWER"

// version is of the JSON that this package writes.
const version = "1"

// Formats are the formats of this package.
func Formats() []content.Format { return []content.Format{piece{}, page{}} }

// A piece is any piece as {"soundstage":1,"kind":…,"id":…,"body":…}.
type piece struct{}

// About implements content.Format.
func (piece) About() content.About {
	var kinds []string
	for _, k := range content.Kinds() {
		kinds = append(kinds, k.Name())
	}
	return content.About{Name: "soundstage", Platform: "Soundstage", Kinds: kinds, Writes: kinds, Ext: ".soundstage.json"}
}

// Score implements content.Format.
func (piece) Score(f content.File) float64 {
	if f.Doc.Field("soundstage").Kind() == canon.Number && f.Doc.Field("body").Kind() == canon.Object {
		return 1
	}
	return 0
}

// Read implements content.Format.
func (piece) Read(f content.File) (content.Reading, error) {
	const op = "native.read"
	if v := f.Doc.Field("soundstage").Raw(); v != version {
		return content.Reading{}, fault.New(CodeNewer, op, "%q has the version %s, and this program reads %s", f.Name, v, version).WithHint("read it with a newer soundstage")
	}
	kind := f.Doc.Field("kind").Text()
	if !slices.Contains(piece{}.About().Kinds, kind) {
		return content.Reading{}, fault.New(content.CodeUnread, op, "%q is of the kind %q, which there is not", f.Name, kind).
			WithHint("use one of %s", strings.Join(piece{}.About().Kinds, ", "))
	}
	return content.Reading{Found: []content.Found{{Kind: kind, Body: f.Doc.Field("body").Clone()}}}, nil
}

// Write implements content.Format. Links are ids of this studio, and mean nothing
// elsewhere: they are written, and said.
func (piece) Write(w content.Writing) (content.Written, error) {
	doc := canon.NewObject()
	if w.Twin != nil {
		if old, err := canon.ParseTree(bytes.TrimPrefix(w.Twin.Raw, []byte("\ufeff"))); err == nil && old.Kind() == canon.Object {
			doc = old
		}
	}
	for _, m := range []struct {
		name string
		val  *canon.Node
	}{{"soundstage", canon.NewInt(1)}, {"kind", canon.NewText(w.Piece.Kind)}, {"id", canon.NewText(w.Piece.ID)}, {"body", w.Body}} {
		if old := doc.Field(m.name); old != nil && (canon.Equal(old, m.val) || m.name == "id") {
			continue // as it was spelled
		}
		if err := doc.Set(canon.JoinPointer(m.name), m.val); err != nil {
			return content.Written{}, err
		}
	}
	return content.Written{Data: append(doc.Bytes(), '\n'), Losses: linkLosses(w)}, nil
}

// linkLosses are the pieces that go along by their ids alone. Of a file of our own that
// is written again they are no news.
func linkLosses(w content.Writing) (losses []content.Loss) {
	if w.Twin != nil {
		return nil
	}
	say := func(path, id string) {
		losses = append(losses, content.Loss{
			Path: path, Value: id, Verdict: twin.Approximated, Reason: "the id is in the file, and the piece is a file of its own: export it too",
		})
	}
	for _, list := range []string{"/links/lorebooks", "/links/packs", "/links/regexes", "/regexes"} {
		for i, id := range w.Body.At(list).Items() {
			say(list+"/"+strconv.Itoa(i), id.Text())
		}
	}
	if book := w.Body.Field("book"); book != nil {
		say("/book", book.Text())
	}
	return losses
}

// A page is an HTML document as a file of its own.
type page struct{}

// About implements content.Format.
func (page) About() content.About {
	kinds := []string{content.KindHTMLDoc}
	return content.About{Name: "html", Platform: "HTML", Kinds: kinds, Writes: kinds, Ext: ".html", Verbatim: true}
}

// Score implements content.Format: a page begins as one.
func (page) Score(f content.File) float64 {
	head := strings.ToLower(strings.TrimLeft(strings.TrimPrefix(string(f.Raw[:min(len(f.Raw), 512)]), "\ufeff"), " \t\r\n"))
	for strings.HasPrefix(head, "<!--") {
		_, rest, ok := strings.Cut(head, "-->")
		if !ok {
			return 0
		}
		head = strings.TrimLeft(rest, " \t\r\n")
	}
	switch {
	case strings.HasPrefix(head, "<!doctype html"), strings.HasPrefix(head, "<html"):
		return 0.9
	case strings.HasSuffix(strings.ToLower(f.Name), ".html") && strings.HasPrefix(head, "<"):
		return 0.8
	}
	return 0
}

// Read implements content.Format. The markup is kept as it is; its title names the
// document.
func (page) Read(f content.File) (content.Reading, error) {
	const op = "native.html"
	text := string(f.Raw)
	if !utf8.ValidString(text) {
		return content.Reading{}, fault.New(content.CodeUnread, op, "%q is not UTF-8", f.Name).WithHint("save it as UTF-8, and import that")
	}
	body := canon.NewObject()
	if name := titleOf(text); name != "" {
		if err := body.Set("/name", canon.NewText(name)); err != nil {
			return content.Reading{}, err
		}
	}
	if err := body.Set("/html", canon.NewText(text)); err != nil {
		return content.Reading{}, err
	}
	return content.Reading{Found: []content.Found{{Kind: content.KindHTMLDoc, Body: body}}}, nil
}

// titleOf is the text of the first title element, on one line and cut at the bound of
// titles.
func titleOf(text string) string {
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			if name, _ := z.TagName(); string(name) != "title" {
				continue
			}
			if z.Next() != html.TextToken {
				return ""
			}
			title := strings.Join(strings.Fields(string(z.Text())), " ")
			if r := []rune(title); len(r) > store.MaxTitle {
				title = string(r[:store.MaxTitle-1]) + "…"
			}
			return title
		}
	}
}

// Write implements content.Format.
func (page) Write(w content.Writing) (content.Written, error) {
	out := content.Written{Data: []byte(w.Body.At("/html").Text())}
	for name, v := range w.Body.Members() {
		if name == "html" || name == "name" && v.Text() == titleOf(w.Body.At("/html").Text()) {
			continue
		}
		out.Losses = append(out.Losses, content.Loss{
			Path: canon.JoinPointer(name), Value: v.Text(), Verdict: "dropped", Reason: "a page holds its markup and nothing beside it",
		})
	}
	return out, nil
}

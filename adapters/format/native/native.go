// Package native is Soundstage's own files: a piece of any kind as JSON, whole, and an
// HTML document as the page that it is.
//
// It is an adapter of the content studio behind content.Format. What it writes loses
// nothing but the originals of other formats, which stay in the studio; the picture of a
// card goes along in the body. It knows no other platform.
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
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
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
	body, losses := portable(w)
	doc := canon.NewObject()
	if w.Twin != nil {
		if old, err := canon.ParseTree(bytes.TrimPrefix(w.Twin.Raw, []byte("\ufeff"))); err == nil && old.Kind() == canon.Object {
			doc = old
		}
	}
	for _, m := range []struct {
		name string
		val  *canon.Node
	}{{"soundstage", canon.NewInt(1)}, {"kind", canon.NewText(w.Piece.Kind)}, {"id", canon.NewText(w.Piece.ID)}, {"body", body}} {
		if old := doc.Field(m.name); old != nil && (canon.Equal(old, m.val) || m.name == "id") {
			continue // as it was spelled
		}
		if err := doc.Set(canon.JoinPointer(m.name), m.val); err != nil {
			return content.Written{}, err
		}
	}
	return content.Written{Data: append(doc.Bytes(), '\n'), Losses: append(losses, linkLosses(w)...)}, nil
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

// portraits are where bodies have a picture, and files where they have lists of files.
var (
	portraits = []string{"/media/portrait", "/portrait"}
	files     = map[string]string{"/media/assets": "uri", "/items": "ref"}
	kept      = []string{"__asset:", "embeded://", "embedded://", "asset:", "archive:", content.OriginalPrefix}
)

// portable is the body with the picture of the imported file in it, as far as a body can
// hold it. Of other files it has the names, and their bytes stay with the original.
func portable(w content.Writing) (body *canon.Node, losses []content.Loss) {
	const why = "its bytes are in the file that it came from, and stay in the studio"
	body = w.Body
	if !slices.ContainsFunc(w.Others, func(e store.Escrow) bool { return carrier.Sniff(e.Raw) != carrier.JSON }) {
		return body, nil // there were no files beside it
	}
	for _, at := range portraits {
		was := body.At(at)
		now := content.Inlined(was.Text(), w.Others)
		if now == was.Text() {
			continue
		}
		body = body.Clone()
		if now != "" && len(now)+len(w.Piece.Body) < store.MaxBody {
			must(body.Set(at, canon.NewText(now)))
			continue
		}
		_, err := body.Delete(at)
		must(err)
		losses = append(losses, content.Loss{Path: at, Value: was.Text(), Verdict: twin.Dropped, Reason: why})
	}
	for list, field := range files {
		for i, it := range body.At(list).Items() {
			ref := it.Field(field)
			if slices.ContainsFunc(kept, func(p string) bool { return strings.HasPrefix(ref.Text(), p) }) {
				losses = append(losses, content.Loss{Path: list + "/" + strconv.Itoa(i), Value: twin.Clip(ref), Verdict: twin.Approximated, Reason: why})
			}
		}
	}
	return body, losses
}

// must is for pointers of our own into objects.
func must(err error) {
	if err != nil {
		panic(err)
	}
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
		if name == "html" || name == "name" && isNameOf(w, v.Text()) {
			continue
		}
		out.Losses = append(out.Losses, content.Loss{
			Path: canon.JoinPointer(name), Value: v.Text(), Verdict: "dropped", Reason: "a page holds its markup and nothing beside it",
		})
	}
	return out, nil
}

// isNameOf reports a name that the page's title says, or, where it has none, the file's
// own name, which is not in a file.
func isNameOf(w content.Writing, name string) bool {
	title := titleOf(w.Body.At("/html").Text())
	return name == title || title == "" && w.Twin != nil && name == content.NameFromFile(w.Twin.Name, 0)
}

package ccv3_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
)

// books are the corpus's lorebooks of the specification, and how many entries they have.
var books = map[string]struct {
	format  string
	entries int
}{
	"world-spec-array.json": {"character-book", 2}, "book-id-clash.json": {"character-book", 7}, "lorebook_v3.json": {"lorebook-v3", 2},
}

func TestCorpusBooks(t *testing.T) {
	for name, want := range books {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(corpus(t), "sillytavern", name))
			if err != nil {
				t.Fatal(err)
			}
			im, err := table.Import(name, data)
			if err != nil {
				t.Fatal(err)
			}
			p := im.Pieces[0]
			b, err := content.Parse[content.Lorebook](p.Body)
			if err != nil || im.Format != want.format || len(b.Entries) != want.entries {
				t.Fatalf("%q with %d entries, %v", im.Format, len(b.Entries), err)
			}
			if again, err := content.Bytes(b); err != nil || !bytes.Equal(again, p.Body) {
				t.Errorf("not its own canonical form: %s, want %s", again, p.Body)
			}
			f, err := table.Named(im.Format, p.Kind)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := canon.ParseTree(p.Body)
			out, err := f.Write(content.Writing{Piece: p, Body: body, Twin: &p.Escrow[0]})
			if err != nil || len(out.Losses) > 0 || !bytes.Equal(out.Data, data) {
				t.Errorf("unedited: %v, losses %v\n%s", err, out.Losses, out.Data)
			}
			b.Entries[1].Content = "New."
			if p.Body, err = content.Bytes(b); err != nil {
				t.Fatal(err)
			}
			for _, to := range []string{"character-book", "lorebook-v3"} {
				c, err := table.Convert(p, to, nil)
				if err != nil || len(c.Losses) > 0 {
					t.Fatalf("%s: %v, losses %v", to, err, c.Losses)
				}
				again, err := table.Import(name, c.Data)
				if err != nil || again.Format != to || !bytes.Equal(again.Pieces[0].Body, p.Body) {
					t.Errorf("%s read back: %v\n%s\nwant\n%s", to, err, again.Pieces[0].Body, p.Body)
				}
			}
		})
	}
}

func TestClashingIDsKeepEveryEntry(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(corpus(t), "sillytavern", "book-id-clash.json"))
	if err != nil {
		t.Fatal(err)
	}
	im, err := table.Import("book-id-clash.json", data)
	if err != nil {
		t.Fatal(err)
	}
	b, err := content.Parse[content.Lorebook](im.Pieces[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	var ids, keys []string
	for _, e := range b.Entries {
		ids, keys = append(ids, e.ID), append(keys, e.Keys[0].Text)
	}
	if got := strings.Join(keys, ""); got != "abcdefg" {
		t.Errorf("keys %s", got)
	}
	if got := strings.Join(ids, " "); got != "1 entry-2 entry-3 x-1 entry-5 entry-6 entry-7" {
		t.Errorf("ids %s", got)
	}
	if !strings.Contains(strings.Join(im.Warnings, "\n"), `has the id "1" of another`) {
		t.Errorf("warnings %q", im.Warnings)
	}
	b.Entries = append(b.Entries[:0:0], b.Entries[1:]...) // without the first, the others are as they were
	p := im.Pieces[0]
	if p.Body, err = content.Bytes(b); err != nil {
		t.Fatal(err)
	}
	c, err := table.Convert(p, "character-book", nil)
	if err != nil {
		t.Fatal(err)
	}
	was, _ := canon.ParseTree(data)
	now, err := canon.ParseTree(c.Data)
	if err != nil || now.At("/entries").Len() != 6 {
		t.Fatalf("%d entries, %v", now.At("/entries").Len(), err)
	}
	for i, e := range now.At("/entries").Items() {
		if i != 1 && !canon.Equal(e, was.At("/entries").At("/"+string(rune('1'+i)))) { // the second of one id has it for itself now
			t.Errorf("entry %d is %s", i, e.Bytes())
		}
	}
}

const withBook = `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada","description":"D",` +
	`"character_book":{"name":"Lore","x":1,"entries":[{"keys":["lamp"],"content":"Oil.","enabled":true,"insertion_order":1,"id":0,"y":2}]},"extensions":{}}}`

func lore(t *testing.T, p store.Piece, edit func(*content.Lorebook)) store.Piece {
	t.Helper()
	b, err := content.Parse[content.Lorebook](p.Body)
	if err != nil {
		t.Fatal(err)
	}
	edit(&b)
	if p.Body, err = content.Bytes(b); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEmbeddedBook(t *testing.T) {
	im, err := read("ada.json", []byte(withBook))
	if err != nil || len(im.Linked) != 1 || im.Linked[0].ID != "lore" {
		t.Fatalf("%+v, %v", im.Linked, err)
	}
	if c, err := content.Parse[content.Character](im.Piece.Body); err != nil || strings.Join(c.Links.Lorebooks, " ") != "lore" {
		t.Errorf("links %v, %v", c.Links, err)
	}
	edited := lore(t, im.Linked[0], func(b *content.Lorebook) { b.Entries[0].Content = "Whale oil." })
	other := lore(t, im.Linked[0], func(b *content.Lorebook) { b.Name = "Other" })
	other.ID, other.Escrow = "other", nil
	two := im.Piece
	two.Body = bytes.Replace(two.Body, []byte(`["lore"]`), []byte(`["lore","other"]`), 1)
	none := im.Piece
	none.Body = bytes.Replace(none.Body, []byte(`"links":{"lorebooks":["lore"]},`), nil, 1)
	another := im.Piece
	another.Body = bytes.Replace(another.Body, []byte(`["lore"]`), []byte(`["other"]`), 1)
	tests := []struct {
		name, format string
		piece        store.Piece
		linked       []store.Piece
		want         string // in the file
		losses       string
	}{
		{"edited", "json-v2", im.Piece, []store.Piece{edited}, strings.Replace(withBook, "Oil.", "Whale oil.", 1), ""},
		{"not at hand", "json-v2", rename(t, im), nil, strings.Replace(withBook, "Ada", "Renamed", 1), ""},
		{"two", "json-v2", two, []store.Piece{im.Linked[0], other}, withBook, "/links/lorebooks/1 dropped"},
		{"none", "json-v2", none, nil, `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada","description":"D","extensions":{}}}`, ""},
		{"another", "json-v2", another, []store.Piece{other}, `"character_book":{"extensions":{},"entries":[{"id":0,"keys":["lamp"],"content":"Oil.","extensions":{},"enabled":true,"insertion_order":1,"name":"","comment":""}],"name":"Other"}`, ""},
		{"version 3", "json-v3", im.Piece, []store.Piece{edited}, `"content":"Whale oil.","enabled":true,"insertion_order":1,"id":0,"y":2,"use_regex":false}`, ""},
		{"version 1", "json-v1", im.Piece, []store.Piece{edited}, `"name": "Ada"`, "/links/lorebooks/0 dropped"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, out, losses, err := write(tt.piece, tt.format, tt.linked...)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, l := range losses {
				said = append(said, l.Path+" "+string(l.Verdict))
			}
			if got := strings.Join(said, ", "); got != tt.losses {
				t.Errorf("losses %q, want %q", got, tt.losses)
			}
			if !bytes.Contains(out, []byte(tt.want)) {
				t.Errorf("got\n%s\nwant\n%s", out, tt.want)
			}
		})
	}
}

func TestBookWithoutAName(t *testing.T) {
	in := strings.Replace(withBook, `"name":"Lore",`, "", 1)
	im, err := read("ada.json", []byte(in))
	if err != nil || len(im.Linked) != 1 || im.Linked[0].Title != "Ada lorebook" {
		t.Fatalf("%+v, %v", im.Linked, err)
	}
	_, out, losses, err := write(rename(t, im), "json-v2", im.Linked...)
	if want := strings.Replace(in, "Ada", "Renamed", 1); err != nil || len(losses) > 0 || string(out) != want {
		t.Errorf("got\n%s\nwant\n%s\n%v, %v", out, want, losses, err)
	}
}

var suite = formattest.Suite{Formats: table}

func TestBookLosses(t *testing.T) {
	for _, name := range []string{"character-book", "lorebook-v3"} {
		t.Run(name, func(t *testing.T) {
			suite.Losses(t, formattest.Made{Format: name, Kind: content.KindLorebook, Fill: map[string]string{"/entries/*/sortOrder": "100"}})
		})
	}
}

const bareBook = `{"name":"B","extensions":{"x":1},"entries":[{"keys":["a","/b/i"],"content":"@@depth 1\n@@mood\nT","enabled":true,"insertion_order":1,"id":4,"use_regex":true,"extensions":{"sticky":1,"probability":null},"x":[1]},{"keys":[],"content":"","enabled":true,"insertion_order":0}]}`

func FuzzBareBook(f *testing.F) { suite.Fuzz(f, "character-book", bareBook) }
func FuzzWrappedBook(f *testing.F) {
	suite.Fuzz(f, "lorebook-v3", `{"spec":"lorebook_v3","data":`+bareBook+`}`)
}

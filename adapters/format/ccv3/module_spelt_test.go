package ccv3_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/format/ccv3"
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// spelt are the formats with a table: the tests' own.
var spelt = formattest.Suite{Formats: content.NewFormats(ccv3.Formats(formattest.Spelling())...)}

const (
	moduleCard = `{ "spec": "chara_card_v3", "spec_version": "3.0", "data": {"name": "Ada", "description": "D",
  "character_book": {"name": "own", "entries": [{"id": 1, "keys": ["own"], "content": "own", "extensions": {}}], "extensions": {}},
  "extensions": { "risuai": {"customScripts": [{"comment": "own", "in": "o", "out": "p", "type": "editinput"}], "triggerscript": [{"comment": "own"}], "license": "x"} }, "tags": []} }`
	bareCard   = `{"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Ada","description":"D"}}`
	moduleText = `{
  "module": {
    "name": "Ada Module", "id": "i",
    "lorebook": [ {"key": "lamp", "secondkey": "", "insertorder": 100, "comment": "Lamp", "content": "Oil.", "mode": "normal", "alwaysActive": false, "selective": false, "z": 1e1} ],
    "regex": [ {"comment": "bold", "in": "a", "out": "b", "type": "editdisplay", "y": 1} ],
    "trigger": [ {"comment": "start", "type": "start", "effect": [] }, {"comment": "end"} ],
    "namespace": "n"
  }, "type": "risuModule"
}`
)

// parts are the pieces of a card: itself, its lorebook, its regex set.
func parts(t *testing.T, im content.Imported) (card, book, rules store.Piece) {
	t.Helper()
	for _, p := range im.Pieces {
		switch p.Kind {
		case content.KindCharacter:
			card = p
		case content.KindLorebook:
			book = p
		case content.KindRegex:
			rules = p
		}
	}
	return card, book, rules
}

func laidOver(t *testing.T, p store.Piece, ptr, val string) store.Piece {
	t.Helper()
	b := formattest.Body(t, p)
	if val == "" {
		twin.Drop(b, ptr)
	} else {
		twin.Set(b, ptr, twin.Parsed(val))
	}
	p.Body = b.Bytes()
	return p
}

// The module's lists count, not the card's; unedited the file is the same, byte for byte.
func TestModuleIsRead(t *testing.T) {
	for _, doc := range []string{moduleCard, bareCard} {
		data := formattest.Archive(t, doc, formattest.Module(t, moduleText, "picture"), carrier.Extra{Name: "readme.txt", Data: []byte("Hi")})
		im := spelt.Import(t, "ada.charx", data)
		card, book, rules := parts(t, im)
		body := formattest.Body(t, card)
		if body.At("/behavior/triggers").Len() != 2 || body.At("/behavior/triggers/0/name").Text() != "start" || body.At("/links/lorebooks/0").Text() != book.ID || body.At("/links/regexes/0").Text() != rules.ID {
			t.Errorf("%s", card.Body)
		}
		if b := formattest.Body(t, book); b.Field("entries").Len() != 1 || b.At("/entries/0/content").Text() != "Oil." || b.Field("name").Text() != "Ada lorebook" {
			t.Errorf("%s", book.Body)
		}
		if b := formattest.Body(t, rules); b.Field("rules").Len() != 1 || b.At("/rules/0/find").Text() != "a" {
			t.Errorf("%s", rules.Body)
		}
		if all := strings.Join(im.Warnings, "\n"); !strings.Contains(all, "count instead of the card's") || !strings.Contains(all, "assets of the module (1)") {
			t.Errorf("%q", im.Warnings)
		}
		if c, err := spelt.Formats.Convert(card, "charx", im.Pieces); err != nil || len(c.Losses) > 0 || !bytes.Equal(c.Data, data) {
			t.Errorf("unedited: %v, %+v", err, c.Losses)
		}
	}
}

// An edit of what the module says changes that in the module, and nothing else anywhere.
func TestModuleIsEdited(t *testing.T) {
	for _, doc := range []string{moduleCard, bareCard} {
		data := formattest.Archive(t, doc, formattest.Module(t, moduleText, "picture"))
		card, book, rules := parts(t, spelt.Import(t, "ada.charx", data))
		for _, tt := range []struct {
			of       *store.Piece
			ptr, val string
			card     []string // what changes in the card
			module   []string // what changes in the module
		}{
			{&book, "/entries/0/content", `"Gas."`, nil, []string{"Oil.", "Gas."}},
			{&rules, "/rules/0/find", `"c"`, nil, []string{`"in": "a"`, `"in": "c"`}},
			{&card, "/behavior/triggers/1", "", nil, []string{`, {"comment": "end"}`, ""}},
			{&card, "/persona/description", `"E"`, []string{`"D"`, `"E"`}, nil},
		} {
			was := *tt.of
			*tt.of = laidOver(t, *tt.of, tt.ptr, tt.val)
			c, err := spelt.Formats.Convert(card, "charx", []store.Piece{book, rules})
			if err != nil {
				t.Fatal(err)
			}
			same := func(name, want string, swap []string, got string) {
				if swap != nil {
					want = strings.Replace(want, swap[0], swap[1], 1)
				}
				if got != want {
					t.Errorf("%s: %s is\n%s\nwant\n%s", tt.ptr, name, got, want)
				}
			}
			text, err := carrier.Entry(c.Data, carrier.CardName)
			if err != nil {
				t.Fatal(err)
			}
			same("the card", doc, tt.card, string(text))
			module, err := carrier.Entry(c.Data, carrier.Module)
			if err != nil {
				t.Fatal(err)
			}
			same("the module", moduleText, tt.module, string(formattest.ModuleDoc(t, module).Bytes()))
			again, err := spelt.Formats.Import("ada.charx", c.Data)
			if err != nil {
				t.Fatal(err)
			}
			a, b, r := parts(t, again)
			for _, pair := range [][2]store.Piece{{a, card}, {b, book}, {r, rules}} {
				if !bytes.Equal(pair[0].Body, canonical(t, pair[1])) {
					t.Errorf("%s: read back\n%s\nwant\n%s", tt.ptr, pair[0].Body, pair[1].Body)
				}
			}
			*tt.of = was
		}
	}
}

func canonical(t *testing.T, p store.Piece) []byte {
	t.Helper()
	raw, err := canon.JSON(p.Body)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// What is no longer linked goes out of the module; what is not at hand stays in it.
func TestModuleLinks(t *testing.T) {
	im := spelt.Import(t, "ada.charx", formattest.Archive(t, moduleCard, formattest.Module(t, moduleText)))
	card, book, _ := parts(t, im)
	moduleOf := func(p store.Piece, linked ...store.Piece) (*canon.Node, []content.Loss) {
		t.Helper()
		c, err := spelt.Formats.Convert(p, "charx", linked)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := carrier.Entry(c.Data, carrier.Module)
		if err != nil {
			t.Fatal(err)
		}
		return formattest.ModuleDoc(t, raw), c.Losses
	}
	if m, losses := moduleOf(laidOver(t, card, "/links/lorebooks", ""), im.Pieces...); m.At(rpack.Lorebook).Len() != 0 || m.At(rpack.Regex).Len() != 1 {
		t.Errorf("no lorebook is linked: %s, %+v", m.Bytes(), losses)
	}
	if m, losses := moduleOf(card); m.At(rpack.Lorebook).Len() != 1 || m.At(rpack.Regex).Len() != 1 || len(losses) > 0 {
		t.Errorf("nothing is at hand: %s, %+v", m.Bytes(), losses)
	}
	other := book
	other.ID, other.Escrow = "other", nil
	other = laidOver(t, other, "/name", `"Other"`)
	m, losses := moduleOf(laidOver(t, card, "/links/lorebooks/0", `"other"`), other)
	if m.At(rpack.Lorebook+"/0/content").Text() != "Oil." || m.At(rpack.Lorebook+"/0/z") != nil || !slices.ContainsFunc(losses, func(l content.Loss) bool { return l.Path == "/links/lorebooks/0/name" }) {
		t.Errorf("another lorebook: %s, %+v", m.Bytes(), losses)
	}
}

// Elsewhere the lists go with the card, and the rest of the module is lost by name.
func TestModuleLeavesItsArchive(t *testing.T) {
	im := spelt.Import(t, "ada.charx", formattest.Archive(t, moduleCard, formattest.Module(t, moduleText, "picture")))
	card, _, _ := parts(t, im)
	c, err := spelt.Formats.Convert(card, "json-v3", im.Pieces)
	if err != nil {
		t.Fatal(err)
	}
	doc := content.Open("x", c.Data).Doc
	if doc.At("/data/character_book/entries/0/content").Text() != "Oil." || doc.At(`/data/extensions/risuai/customScripts/0/in`).Text() != "a" || doc.At(`/data/extensions/risuai/triggerscript`).Len() != 2 {
		t.Errorf("%s", c.Data)
	}
	if !slices.ContainsFunc(c.Losses, func(l content.Loss) bool {
		return l.Path == "original:module.risum" && strings.Contains(l.Reason, "go with the card")
	}) {
		t.Errorf("%+v", c.Losses)
	}
}

// A module that does not read is kept; a table that is none is the person's to mend.
func TestModuleThatDoesNotRead(t *testing.T) {
	data := formattest.Archive(t, moduleCard, []byte("o\x00\xff\xff\xff\x7f"))
	im := spelt.Import(t, "ada.charx", data)
	if _, book, _ := parts(t, im); !strings.Contains(strings.Join(im.Warnings, "\n"), "the card's own lists count") || formattest.Body(t, book).Field("name").Text() != "own" {
		t.Errorf("%q", im.Warnings)
	}
	bad := content.NewFormats(ccv3.Formats(rpack.New(func() ([]byte, error) { return []byte("no table"), nil }))...)
	if _, err := bad.Import("ada.charx", data); fault.CodeOf(err) != rpack.CodeTable && fault.CodeOf(err) != "" {
		t.Errorf("%v", err)
	}
	whole := formattest.Archive(t, moduleCard, formattest.Module(t, moduleText))
	if _, err := bad.Import("ada.charx", whole); fault.CodeOf(err) != rpack.CodeTable {
		t.Errorf("%v", err)
	}
	if _, err := bad.Import("ada.json", []byte(moduleCard)); err != nil {
		t.Errorf("a file without a module: %v", err)
	}
}

func TestModuleSecrets(t *testing.T) {
	key := "sk-ant-api03-" + strings.Repeat("Zq8r", 12)
	im, err := spelt.Formats.Import("ada.charx", formattest.Archive(t, moduleCard, formattest.Module(t, strings.Replace(moduleText, `"n"`, `"`+key+`"`, 1))))
	if err != nil {
		t.Fatal(err)
	}
	card, _, _ := parts(t, im)
	c, err := spelt.Formats.Convert(card, "charx", im.Pieces)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := carrier.Entry(c.Data, carrier.Module)
	if err != nil || len(c.Stripped) != 1 || strings.Contains(string(formattest.ModuleDoc(t, raw).Bytes()), "sk-") {
		t.Errorf("%q, %v", c.Stripped, err)
	}
}

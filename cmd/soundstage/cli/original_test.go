package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// smallBodies are bodies bodies from which every format makes a file to plant keys in.
var smallBodies = map[string]string{
	content.KindCharacter:  `{"identity":{"name":"Ada"},"greetings":{"first":"Hi."},"persona":{"description":"A mathematician."},"prompts":{"depthInjections":[{"content":"Be brief.","depth":4,"role":"system"}]},"links":{"lorebooks":["book"]}}`,
	content.KindLorebook:   `{"name":"Coast","entries":[{"content":"It burns.","enabled":true,"id":"1","keys":[{"text":"lamp"}]},{"content":"It rains.","enabled":true,"id":"2","keys":[{"text":"storm"}]}]}`,
	content.KindPersona:    `{"name":"Ben","brief":"A sailor.","content":"Ben sails."}`,
	content.KindPreset:     `{"name":"Noir","blocks":[{"content":"Write.","enabled":true,"id":"main","name":"Main","role":"system"}],"samplers":{"temperature":0.5}}`,
	content.KindRegex:      `{"name":"Tidy","rules":[{"enabled":true,"find":"x","id":"r1","name":"n","placement":["ai_output"],"replace":"y"}]}`,
	content.KindQuickReply: `{"name":"Quick","replies":[{"id":"1","label":"L","message":"/echo"}]}`,
}

// plant puts a key that nobody knows into every object of a document, but into those
// whose names are data, and says where and what.
func plant(t *testing.T, doc *canon.Node) map[string]string {
	t.Helper()
	planted := map[string]string{}
	var walk func(n *canon.Node, at string)
	walk = func(n *canon.Node, at string) {
		for name, v := range n.Members() {
			walk(v, at+canon.JoinPointer(name))
		}
		for i, v := range n.Items() {
			walk(v, fmt.Sprintf("%s/%d", at, i))
		}
		last := at[strings.LastIndexByte(at, '/')+1:]
		if n.Kind() != canon.Object || n.Len() == 0 || slices.Contains([]string{"entries", "attributes", "personas", "persona_descriptions", "body"}, last) || strings.Contains(at, "/body/") {
			return
		}
		ptr := at + "/x_vendor"
		planted[ptr] = fmt.Sprintf("vendor %d", len(planted))
		if err := n.Set("/x_vendor", canon.NewText(planted[ptr])); err != nil {
			t.Fatal(err)
		}
	}
	walk(doc, "")
	return planted
}

// A key that only the original has either goes along, or is named: in every format of
// every kind, to every other, and back again.
func TestEveryKeyIsKeptOrNamed(t *testing.T) {
	formats := newFormats()
	named, kept := 0, 0
	for kind, text := range smallBodies {
		for _, from := range formats.Writing(kind) {
			if picture(from) || from == "soundstage" || from == "sillytavern-text" { // the last is known by having no other keys
				continue
			}
			pieces, keys := withKeys(t, formats, kind, text, from)
			for _, to := range formats.Writing(kind) {
				if picture(to) || to == from {
					continue
				}
				t.Run(kind+" "+from+" "+to, func(t *testing.T) {
					n, k := crossed(t, formats, pieces, to, keys)
					named, kept = named+n, kept+k
				})
			}
		}
	}
	t.Logf("%d keys were named, %d went along", named, kept)
	if named < 300 || kept < 30 {
		t.Errorf("%d keys were named and %d went along: the table is broken", named, kept)
	}
}

// withKeys are the pieces of a file with keys that nobody knows.
func withKeys(t *testing.T, formats *content.Formats, kind, text, from string) ([]store.Piece, map[string]string) {
	t.Helper()
	body, err := canon.JSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	book, err := canon.JSON([]byte(smallBodies[content.KindLorebook]))
	if err != nil {
		t.Fatal(err)
	}
	linked := []store.Piece{{Ref: store.Ref{Kind: content.KindLorebook, ID: "book"}, Title: "Coast", Body: book}}
	c, err := formats.Convert(store.Piece{Ref: store.Ref{Kind: kind, ID: "x"}, Title: "X", Body: body}, from, linked)
	if err != nil {
		t.Fatal(err)
	}
	data, keys := c.Data, map[string]string(nil)
	if doc := content.Open("x", c.Data).Doc; doc != nil {
		keys = plant(t, doc)
		data = doc.Bytes()
	}
	im, err := formats.Import("x.json", data)
	if err != nil || im.Format != from {
		t.Fatalf("%s: read as %q, %v\n%s", from, im.Format, err, data)
	}
	return im.Pieces, keys
}

func crossed(t *testing.T, formats *content.Formats, pieces []store.Piece, to string, planted map[string]string) (named, kept int) {
	t.Helper()
	c, err := formats.Convert(pieces[len(pieces)-1], to, pieces)
	if err != nil {
		t.Fatal(err)
	}
	out := string(c.Data)
	if f := content.Open("x", c.Data); len(f.Docs) > 0 && f.Docs[0].Tree != nil {
		out = string(f.Docs[0].Tree.Bytes())
	}
	for ptr, val := range planted {
		switch {
		case strings.Contains(out, canon.NewText(val).Raw()):
			kept++
		case loses(c.Losses, ptr):
			named++
		default:
			t.Errorf("%s is neither in the file nor named\n%+v\n%s", ptr, c.Losses, out)
		}
	}
	for _, l := range c.Losses {
		if l.Target != to || l.Verdict == "" || l.Reason == "" || strings.HasPrefix(l.Path, content.InOriginal) && l.Value == "" {
			t.Errorf("a loss with a part missing: %+v", l)
		}
	}
	return named, kept
}

// loses reports a loss that names the place, or what it is in: the book of a card is
// lost with its link.
func loses(losses []content.Loss, ptr string) bool {
	return slices.ContainsFunc(losses, func(l content.Loss) bool {
		if strings.HasPrefix(l.Path, "/links") && l.Verdict != twin.Embedded {
			return strings.Contains(strings.ToLower(ptr), "book")
		}
		want := strings.Split(strings.TrimPrefix(l.Path, content.InOriginal), "/")
		got := strings.Split(ptr, "/")
		return strings.HasPrefix(l.Path, content.InOriginal+"/") && len(want) <= len(got) && slices.EqualFunc(want, got[:len(want)], func(a, b string) bool { return a == b || a == "*" })
	})
}

// Of many keys the first are named and the others counted, long values are cut, and what
// stands in many items has one line.
func TestKeysAreBounded(t *testing.T) {
	formats := newFormats()
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, `"k%d":{"v":%q},`, i, strings.Repeat("long ", 100))
	}
	entries := strings.Repeat(`{"keys":["a"],"content":"b","enabled":true,"insertion_order":1,"extensions":{"x_each":"value"}},`, 300)
	im, err := formats.Import("ada.json", []byte(`{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada","extensions":{`+strings.TrimSuffix(b.String(), ",")+`},
		"character_book":{"name":"B","extensions":{},"entries":[`+strings.TrimSuffix(entries, ",")+`]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := formats.Convert(im.Pieces[1], "agnai-character", im.Pieces)
	if err != nil {
		t.Fatal(err)
	}
	var rows []content.Loss
	for _, l := range c.Losses {
		if strings.HasPrefix(l.Path, content.InOriginal) {
			rows = append(rows, l)
		}
		if n := len([]rune(l.Value)); n > 140 {
			t.Errorf("a value of %d characters", n)
		}
	}
	last := rows[len(rows)-1]
	if len(rows) != 41 || last.Value != "461 more keys" || !strings.Contains(last.Reason, "first 40") {
		t.Errorf("%d rows, the last %+v", len(rows), last)
	}
	c, err = formats.Convert(im.Pieces[0], "novelai-lorebook", nil)
	if err != nil {
		t.Fatal(err)
	}
	each := slices.IndexFunc(c.Losses, func(l content.Loss) bool { return l.Path == content.InOriginal+"/entries/*/extensions/x_each" })
	if each < 0 || c.Losses[each].Value != "value, in 300 places" {
		t.Errorf("%+v", c.Losses)
	}
}

// A credential that only the original has is named by its place, never by its value.
func TestKeysShowNoCredential(t *testing.T) {
	formats := newFormats()
	im, err := formats.Import("p.json", []byte(`{"prompts":[{"identifier":"main","name":"Main","role":"system","content":"x"}],"prompt_order":[],"x_vendor":{"api_key":"hunter2hunter2"},"proxy_password":"hunter2hunter2"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range formats.Writing(content.KindPreset) {
		c, err := formats.Convert(im.Pieces[0], to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(fmt.Sprintf("%s %+v", c.Data, c.Losses), "hunter2") {
			t.Errorf("%s: %s %+v", to, c.Data, c.Losses)
		}
	}
}

package ccv3_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// scripted is a card with scripts of two engines, a number that no parser of floats keeps
// and keys that nobody knows.
const scripted = `{"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Ada", "description": "d", "extensions": {
  "regex_scripts": [{"id": "s1", "scriptName": "Stars", "findRegex": "/\\*(.+?)\\*/g", "replaceString": "$1", "trimStrings": [], "placement": [2], "disabled": false, "x": 1.50}, {"scriptName": "No id", "findRegex": "b", "replaceString": "c", "placement": [1]}],
  "risuai": {"customScripts": [{"comment": "R", "in": "x", "out": "y", "type": "editdisplay", "ableFlag": false, "x": 2.50}], "viewScreen": "none"}}}}`

func readScripted(t *testing.T) imported {
	t.Helper()
	im, err := read("ada.json", []byte(scripted))
	if err != nil || len(im.Linked) != 2 {
		t.Fatalf("%d linked, %v", len(im.Linked), err)
	}
	return im
}

// with is a piece with another text in its body.
func with(t *testing.T, p store.Piece, old, now string) store.Piece {
	t.Helper()
	if !bytes.Contains(p.Body, []byte(old)) {
		t.Fatalf("no %q in %s", old, p.Body)
	}
	body, err := canon.JSON(bytes.Replace(p.Body, []byte(old), []byte(now), 1))
	if err != nil {
		t.Fatal(err)
	}
	p.Body = body
	return p
}

func TestScriptsAreRegexSets(t *testing.T) {
	im := readScripted(t)
	if !bytes.Contains(im.Piece.Body, []byte(`"links":{"regexes":["ada-scripts","ada-risu-scripts"]}`)) {
		t.Errorf("body %s", im.Piece.Body)
	}
	risu, tavern := im.Linked[0], im.Linked[1]
	if tavern.Title != "Ada scripts" || tavern.Escrow[0].Format != "sillytavern-regex" || risu.Escrow[0].Format != "risu-regex" {
		t.Errorf("%s of %s, %s of %s", tavern.Title, tavern.Escrow[0].Format, risu.Title, risu.Escrow[0].Format)
	}
	_, out, losses, err := write(im.Piece, im.Format, im.Linked...)
	if err != nil || string(out) != scripted || len(losses) > 0 {
		t.Errorf("unedited, and not the same: %v, %v", err, losses)
	}
	laid(t, im, []byte(scripted))
}

// What changes in a set changes in the card, there and nowhere else.
func TestScriptsGoBackIntoTheCard(t *testing.T) {
	im := readScripted(t)
	risu, tavern := im.Linked[0], im.Linked[1]
	unlinked := with(t, im.Piece, `"links":{"regexes":["ada-scripts","ada-risu-scripts"]},`, ``)
	another := store.Piece{Ref: store.Ref{Kind: content.KindRegex, ID: "more"}, Body: []byte(`{"name":"More","rules":[{"enabled":true,"find":"z","id":"s1","name":"Z"}]}`)}
	for name, c := range map[string]struct {
		piece  store.Piece
		linked []store.Piece
		want   [2]string // what is in the card in place of what
		losses []string
	}{
		"a rule of SillyTavern": {im.Piece, []store.Piece{risu, with(t, tavern, `"$1"`, `"<i>$1</i>"`)}, [2]string{`"replaceString": "$1"`, `"replaceString": "<i>$1</i>"`}, nil},
		"a rule of Risu":        {im.Piece, []store.Piece{with(t, risu, `"replace":"y"`, `"replace":"why"`), tavern}, [2]string{`"out": "y"`, `"out": "why"`}, nil},
		"a set is not at hand":  {with(t, im.Piece, `"d"`, `"e"`), []store.Piece{risu}, [2]string{`"description": "d"`, `"description": "e"`}, nil},
		"no set is at hand":     {with(t, im.Piece, `"d"`, `"e"`), nil, [2]string{`"description": "d"`, `"description": "e"`}, nil},
		"none is linked": {
			unlinked,
			[]store.Piece{risu, tavern},
			[2]string{scripted[strings.Index(scripted, `[{"id"`):strings.Index(scripted, ",\n  \"risuai")], `[]`},
			[]string{"original:/data/extensions/regex_scripts", "original:/data/extensions/risuai/customScripts"},
		},
		"another is linked": {
			with(t, im.Piece, `"ada-scripts"`, `"ada-scripts","more"`),
			[]store.Piece{risu, tavern, another},
			[2]string{`"placement": [1]}]`, `"placement": [1]}, {"id":"s1-2"`},
			nil,
		},
		"one is nowhere": {
			with(t, with(t, im.Piece, `"ada-scripts","ada-risu-scripts"`, `"none"`), `"d"`, `"e"`),
			[]store.Piece{},
			[2]string{`"description": "d"`, `"description": "e"`},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, out, losses, err := write(c.piece, "json-v2", c.linked...)
			if err != nil {
				t.Fatal(err)
			}
			said(t, losses, c.losses...)
			want := strings.Replace(scripted, c.want[0], c.want[1], 1)
			switch {
			case want == scripted:
				t.Fatalf("no %q", c.want[0])
			case name == "none is linked":
				want = strings.Replace(want, `[{"comment": "R", "in": "x", "out": "y", "type": "editdisplay", "ableFlag": false, "x": 2.50}]`, `[]`, 1)
			case name == "another is linked":
				if !strings.Contains(string(out), c.want[1]) {
					t.Errorf("%s", out)
				}
				return
			}
			if string(out) != want {
				t.Errorf("%s\nwant\n%s", out, want)
			}
		})
	}
}

func said(t *testing.T, losses []content.Loss, paths ...string) {
	t.Helper()
	var got []string
	for _, l := range losses {
		got = append(got, l.Path)
	}
	if strings.Join(got, " ") != strings.Join(paths, " ") {
		t.Errorf("losses %q, want %q", got, paths)
	}
}

// A card without scripts gets them; version 1 has no place for any, and says so.
func TestScriptsOfACardWithoutAny(t *testing.T) {
	im := readScripted(t)
	for name, original := range map[string]string{
		"without extensions": `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada"}}`,
		"no object":          `{"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Ada","extensions":null}}`,
	} {
		card, err := read("ada.json", []byte(original))
		if err != nil {
			t.Fatal(err)
		}
		p := with(t, card.Piece, `"identity"`, `"behavior":{"regex":[{"enabled":true,"find":"q","id":"own","name":"Own"}]},"links":{"regexes":["ada-scripts","ada-risu-scripts"]},"identity"`)
		_, out, losses, err := write(p, card.Format, im.Linked...)
		if err != nil {
			t.Fatal(name, err)
		}
		said(t, losses, "/behavior/regex")
		again, err := read("ada.json", out)
		if err != nil || len(again.Linked) != 1 {
			t.Fatalf("%s: %d linked, %v\n%s", name, len(again.Linked), err, out)
		}
		set, err := content.Parse[content.RegexSet](again.Linked[0].Body)
		if err != nil || len(set.Rules) != 4 || set.Rules[3].Find != "q" {
			t.Errorf("%s: %+v, %v", name, set.Rules, err)
		}
	}
	_, _, losses, err := write(im.Piece, "json-v1", im.Linked...)
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, l := range losses {
		all += l.Path + " "
	}
	if !strings.Contains(all, "/links/regexes ") || strings.Contains(all, "regex_scripts") {
		t.Errorf("losses %s", all)
	}
}

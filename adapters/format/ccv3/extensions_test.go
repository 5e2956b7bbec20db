package ccv3_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
)

// programs are cards as two programs write them, with what is read of their extensions
// and what no other program has.
var programs = map[string]struct{ card, body, only string }{
	"rolecall": {
		`{"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Ada", "alternate_greetings": ["Again?", "You."], "extensions": {"depth_prompt": {"prompt": "Be brief.", "depth": 2, "role": "user"},
  "rolecall": {"tagline": "Keeps the lamp", "genre": "gothic", "fandom": "none", "content_rating": "late_night", "token_count": 1.50, "loadout": "RC:me/preset/noir", "alternate_greeting_titles": [null, "Second evening"],
  "details": {"full_name": "Ada L.", "title": "Keeper", "age": 40, "pronouns": "she", "colors": [{"label": "eyes", "name": "Sea", "hex": "#0af"}], "media_links": ["https://x.invalid/a"], "fieldOrder": ["age", "title"],
  "default_background": {"backgroundId": "bg-1", "customUrl": null, "overlayOpacity": 0.50, "videoPlaybackRate": 1},
  "prompt_depth_injections": [{"id": "i1", "content": "Be brief.", "depth": 2, "role": "user", "enabled": true, "x": 1.50}, {"id": "i2", "content": "Rain.", "depth": 0, "role": "system", "enabled": false}],
  "publicDefinitionDisplay": {"spoilerMode": "some", "spoilers": {"age": true, "title": false}}}}}}}`,
		`{"discovery":{"fandom":"none","genre":"gothic","rating":"late_night"},"greetings":{"alternates":[{"text":"Again?"},{"text":"You.","title":"Second evening"}]},"identity":{"age":"40","fullName":"Ada L.","name":"Ada","pronouns":"she","tagline":"Keeps the lamp","title":"Keeper"},"presentation":{"background":{"opacity":0.50,"rate":1,"ref":"bg-1"},"fieldOrder":["age","title"],"mediaLinks":["https://x.invalid/a"],"palette":[{"color":"#0af","label":"eyes"}],"spoilers":["age"]},"prompts":{"depthInjections":[{"content":"Be brief.","depth":2,"id":"i1","role":"user"},{"content":"Rain.","depth":0,"id":"i2","off":true,"role":"system"}]}}`,
		"loadout token_count spoilerMode",
	},
	"risu": {
		`{"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Ada", "extensions": {"risuai": {"bias": [["lamp", 5], ["oil", -1.50]], "viewScreen": "emotion", "utilityBot": true, "lowLevelAccess": false,
  "additionalText": "More.", "backgroundHTML": "<b>x</b>", "defaultVariables": "mood=calm\nxp=0", "emotions": [["joy", "https://x.invalid/joy"]], "additionalAssets": [["bg", "https://x.invalid/bg", "png"]],
  "triggerscript": [{"comment": "Start", "type": "start", "conditions": [], "effect": [{"type": "setvar", "n": 1.50}]}, {"type": "manual"}], "license": "CC0", "private": false}}}}`,
		`{"behavior":{"triggers":[{"data":{"comment":"Start","conditions":[],"effect":[{"n":1.50,"type":"setvar"}],"type":"start"},"engine":"risu","id":"trigger-1","name":"Start","on":true},{"data":{"type":"manual"},"engine":"risu","id":"trigger-2","on":true}]},"identity":{"name":"Ada"},"media":{"assets":[{"name":"joy","type":"emotion","uri":"https://x.invalid/joy"},{"ext":"png","name":"bg","type":"x-risu-asset","uri":"https://x.invalid/bg"}]},"presentation":{"html":"<b>x</b>"},"prompts":{"additionalText":"More."},"settings":{"bias":[{"text":"lamp","value":5},{"text":"oil","value":-1.50}],"utility":true,"variables":{"mood":"calm","xp":"0"}}}`,
		"license viewScreen",
	},
	"chub": {
		`{"spec": "chara_card_v3", "spec_version": "3.0", "data": {"name": "Ada", "group_only_greetings": [], "extensions": {"chub": {"full_path": "me/ada", "background_image": "https://x.invalid/b.png", "custom_css": "b{}"}}}}`,
		`{"identity":{"name":"Ada"},"presentation":{"background":{"ref":"https://x.invalid/b.png"},"css":"b{}"}}`,
		"full_path",
	},
}

// What has a field of ours is read from a program's extension, written there again and
// nowhere else, and what no field has is untouched.
func TestExtensionsOfPrograms(t *testing.T) {
	suite := formattest.Suite{Formats: table}
	for name, c := range programs {
		t.Run(name, func(t *testing.T) {
			im, err := read("ada.json", []byte(c.card))
			if err != nil {
				t.Fatal(err)
			}
			if string(im.Piece.Body) != c.body {
				t.Fatalf("body\n%s\nwant\n%s", im.Piece.Body, c.body)
			}
			formattest.Canonical(t, im.Piece)
			suite.Unedited(t, im.Piece, nil)
			if n := suite.OneEdits(t, im.Piece, nil, "depthInjections", "triggers", "assets"); n < 3 {
				t.Errorf("%d edits", n)
			}
			for _, only := range strings.Fields(c.only) {
				_, _, losses, err := write(im.Piece, "json-v1")
				if said := strings.Contains(join(losses), only); err != nil || !said {
					t.Errorf("%s is not named: %v", only, losses)
				}
			}
		})
	}
}

func join(losses []content.Loss) (text string) {
	for _, l := range losses {
		text += l.Path + " " + l.Value + "\n"
	}
	return text
}

// Each field that is cleared is absent when the card is read again, and all else is there.
func TestExtensionsAreCleared(t *testing.T) {
	for name, c := range programs {
		im, err := read("ada.json", []byte(c.card))
		if err != nil {
			t.Fatal(err)
		}
		body := formattest.Body(t, im.Piece)
		for section, fields := range body.Members() {
			for field := range fields.Members() {
				ptr := canon.JoinPointer(section, field)
				if ptr == "/identity/name" {
					continue
				}
				left := formattest.Body(t, im.Piece)
				if _, err := left.Delete(ptr); err != nil {
					t.Fatal(err)
				}
				if left.Field(section).Len() == 0 {
					if _, err := left.Delete("/" + section); err != nil {
						t.Fatal(err)
					}
				}
				p := im.Piece
				p.Body = left.Bytes()
				_, out, losses, err := write(p, im.Format)
				if err != nil || len(losses) > 0 {
					t.Fatalf("%s %s: %v, %v", name, ptr, losses, err)
				}
				again, err := read("ada.json", out)
				if err != nil || string(again.Piece.Body) != string(left.Bytes()) {
					t.Errorf("%s without %s, %v\n%s\nwant\n%s\n%s", name, ptr, err, again.Piece.Body, left.Bytes(), out)
				}
			}
		}
	}
}

// A field goes into a program's extension where the card has it, and under our own where
// it has none; there and back nothing is said.
func TestExtensionsAreChosen(t *testing.T) {
	const ours = "/identity/tagline"
	for original, c := range map[string]struct{ want, loss string }{
		`{"rolecall":{}}`:                {`{"rolecall":{"tagline":"T"}}`, ""},
		`{}`:                             {`{"soundstage":{"tagline":"T"}}`, ours},
		`{"rolecall":{"tagline":"old"}}`: {`{"rolecall":{"tagline":"T"}}`, ""},
		`{"rolecall":{},"soundstage":{"tagline":"o"}}`:              {`{"rolecall":{},"soundstage":{"tagline":"T"}}`, ours},
		`{"rolecall":{"tagline":"o"},"soundstage":{"tagline":"o"}}`: {`{"rolecall":{"tagline":"T"},"soundstage":{"tagline":"T"}}`, ours},
		`{"rolecall":{"tagline":"p"},"soundstage":{"tagline":"o"}}`: {`{"rolecall":{"tagline":"p"},"soundstage":{"tagline":"T"}}`, ours},
		`{"rolecall":7}`: {`{"rolecall":7,"soundstage":{"tagline":"T"}}`, ours},
	} {
		im, err := read("ada.json", []byte(`{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada","extensions":`+original+`}}`))
		if err != nil {
			t.Fatal(err)
		}
		p := im.Piece
		p.Body = []byte(`{"identity":{"name":"Ada","tagline":"T"}}`)
		_, out, losses, err := write(p, "json-v2")
		if err != nil || !strings.Contains(string(out), `"extensions":`+c.want) {
			t.Errorf("%s: %s, %v", original, out, err)
		}
		said(t, losses, strings.Fields(c.loss)...)
	}
}

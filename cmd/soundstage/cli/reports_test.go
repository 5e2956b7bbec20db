package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
)

// A reported is what people said of other programs' imports and exports, as a file and
// what is to become of it. Those of SillyTavern's own files stand with that adapter.
type reported struct {
	says   string
	name   string // of the file; "" is x.json
	file   string
	format string
	warns  string              // a part of the warnings
	reads  map[string]string   // "kind/id" and a pointer: JSON
	loses  map[string][]string // by the format that it goes to: places that a loss must name; nil wants none but "original:"
	writes map[string][]string // by the format that it goes to: parts of the file
}

const reportedBook = `{"name":"Harbour","extensions":{},"x_book":1,"entries":[` +
	`{"keys":["lamp"],"secondary_keys":["oil"],"content":"Whale oil.","enabled":true,"insertion_order":7,"priority":3,"selective":true,"use_regex":false,"x_entry":2,` +
	`"extensions":{"position":4,"depth":2,"role":1,"probability":50,"useProbability":true,"sticky":3,"cooldown":4,"delay":5,"group":"g","exclude_recursion":true,"prevent_recursion":true,"scan_depth":6,"match_whole_words":true,"x_e":1}}]}`

const reportedCard = `{"spec":"chara_card_v3","spec_version":"3.0","x_custom_root":{"keep":1.0},"data":{"name":"Ada","description":"d","post_history_instructions":"ph",` +
	`"alternate_greetings":["a"],"group_only_greetings":["g"],"nickname":"Countess","source":["https://x.test/1"],"creation_date":1700000000,"creator_notes_multilingual":{"de":"n"},` +
	`"assets":[{"type":"icon","uri":"https://x.test/a.png","name":"main","ext":"png"}],"x_data":[1],"extensions":{"world":"Harbour","risuai":{"customScripts":[],"additionalText":"more"},"x_ext":true},` +
	`"character_book":` + reportedBook + `}}`

func reports() []reported {
	const entry, script = "lorebook/harbour /entries/0", `{"id":"1","scriptName":"s","findRegex":"/a/","replaceString":"b","trimStrings":["x"],"placement":[1,2,3,5,6],"markdownOnly":true,"promptOnly":true,"runOnEdit":true,"substituteRegex":2}`
	return []reported{
		{
			says: "2699: a card loses its post-history, its book, its extensions and all of version 3", file: reportedCard, format: "json-v3",
			reads: map[string]string{
				"character/ada /prompts/postHistory": `"ph"`, "character/ada /identity/nickname": `"Countess"`, "character/ada /greetings/groupOnly": `["g"]`, "character/ada /attribution/created": "1700000000",
				entry + "/probability": "50", entry + "/timing": `{"cooldown":4,"delay":5,"sticky":3}`, entry + "/placement": `{"depth":2,"position":"depth","role":"user"}`,
				entry + "/secondary/0/text": `"oil"`, entry + "/matching/scanDepth": "6", entry + "/priority": "3", entry + "/sortOrder": "7",
			},
			loses: map[string][]string{"json-v3": nil, "charx": nil, "json-v2": {"/identity/nickname", "/media/assets"}, "json-v1": {"/prompts/postHistory", "/links/lorebooks"}, "marinara-character": {"/identity/nickname"}},
			writes: map[string][]string{
				"json-v2":            {`"x_custom_root"`, `"x_data"`, `"x_ext"`, `"x_entry"`, `"x_e"`, `"x_book"`, `"sticky":3`, `"probability":50`, `"post_history_instructions":"ph"`},
				"marinara-character": {`"x_data"`, `"x_ext"`, `"x_entry"`, `"sticky":3`, `"post_history_instructions":"ph"`},
			},
		},
		{
			says: "39: fields outside of what a program knows are lost", file: reportedCard, format: "json-v3",
			writes: map[string][]string{"json-v3": {`"x_custom_root":{"keep":1.0}`, `"x_data":[1]`, `"x_entry":2`, `"x_e":1`, `"x_book":1`, `"customScripts":[]`}},
		},
		{
			says: "2700, 2935, 3104: a regex script loses phases, placements and how macros are put in", file: script, format: "sillytavern-regex",
			reads: map[string]string{
				"regex/s /rules/0/placement": `["user_input","ai_output","slash_command","world_info","reasoning"]`, "regex/s /rules/0/phases": `["display","prompt"]`,
				"regex/s /rules/0/substitute": `"escaped"`, "regex/s /rules/0/trim": `["x"]`, "regex/s /rules/0/flags": "",
			},
			loses: map[string][]string{
				"sillytavern-regex": nil, "marinara-regex": {"/rules/0/placement/2", "/rules/0/placement/3", "/rules/0/placement/4", "/rules/0/phases", "/rules/0/substitute", "/rules/0/runOnEdit"},
			},
		},
		{
			says: "3104: the older switch is one of three states", file: strings.Replace(script, `"substituteRegex":2`, `"substituteRegex":true`, 1), format: "sillytavern-regex",
			reads: map[string]string{"regex/s /rules/0/substitute": `"raw"`}, loses: map[string][]string{"sillytavern-regex": nil},
		},
		{
			says: "2936: an import stops at the first bad script", file: "[" + script + `,{"scriptName":4,"findRegex":"/(/g"},"none",` + strings.Replace(script, `"1"`, `"2"`, 1) + "]", format: "sillytavern-regex",
			warns: "item 2 is a string", reads: map[string]string{"regex/x /rules/2/id": `"2"`, "regex/x /rules/1/find": `"("`, "regex/x /rules/1/name": `"4"`}, loses: map[string][]string{"sillytavern-regex": nil},
		},
		{
			says: "2703: a preset loses stop sequences, prefill, parameters and the level of reasoning", format: "sillytavern-chat",
			file:   `{"reasoning_effort":"max","assistant_prefill":"Sure","custom_stopping_strings":["a"],"custom_include_body":"x: 1","temperature":null,"prompts":[{"identifier":"main","content":"M"}],"prompt_order":[{"character_id":100001,"order":[{"identifier":"main","enabled":true}]}]}`,
			reads:  map[string]string{"preset/x /prompts/prefill": `"Sure"`, "preset/x /behavior/reasoning": `"max"`, "preset/x /samplers/temperature": "null"},
			loses:  map[string][]string{"marinara-preset": {"/behavior/reasoning", "original:/custom_stopping_strings"}, "sillytavern-chat": nil, "rolecall-preset": nil},
			writes: map[string][]string{"marinara-preset": {`\"reasoningEffort\":\"maximum\"`, `\"assistantPrefill\":\"Sure\"`}},
		},
		{
			says: "1024: an unknown level of reasoning turns it off", format: "sillytavern-chat",
			file:  `{"reasoning_effort":"auto","prompts":[{"identifier":"main","content":"M"}],"prompt_order":[]}`,
			reads: map[string]string{"preset/x /behavior/reasoning": `"auto"`}, loses: map[string][]string{"marinara-preset": {"/behavior/reasoning"}},
			writes: map[string][]string{"marinara-preset": {`\"reasoningEffort\":\"auto\"`}},
		},
		{
			says: "5921: a book with a list of entries is saved as a world, scrambled", file: reportedBook, format: "character-book",
			reads:  map[string]string{"lorebook/harbour /entries/0/keys": `[{"text":"lamp"}]`},
			writes: map[string][]string{"sillytavern-world": {`"entries":{"0":{`, `"key":["lamp"]`, `"keysecondary":["oil"]`}},
		},
		{
			says: "5777: a lorebook is exported with keys of its own where the specification has others", file: `{"entries":{"3":{"uid":3,"key":["lamp"],"content":"c","order":7,"sticky":3,"disable":true}},"name":"Harbour"}`, format: "sillytavern-world",
			writes: map[string][]string{
				"sillytavern-world": {`"key":["lamp"]`, `"sticky":3`}, "character-book": {`"keys":["lamp"]`, `"insertion_order":7`, `"enabled":false`, `"extensions":{"sticky":3`}, "lorebook-v3": {`"spec":"lorebook_v3"`, `"use_regex":false`},
			},
		},
		{
			says: "17, 196: a card does not load because one field is another type", file: `{"spec":"chara_card_v2","spec_version":2,"data":{"name":"Ada","description":"d","tags":"sea, lamp","alternate_greetings":"1687","extensions":{"depth_prompt":{"prompt":"p","depth":"","role":"system"},"talkativeness":"0.5","fav":"true"}}}`, format: "json-v2",
			warns: "single text", reads: map[string]string{
				"character/ada /greetings/alternates": `[{"text":"1687"}]`, "character/ada /prompts/depthInjections/0/depth": "4", "character/ada /discovery/tags": `["sea","lamp"]`, "character/ada /settings/talkativeness": "0.5",
			}, loses: map[string][]string{"json-v2": nil, "json-v3": nil},
		},
		{
			says: "210, 2361: the book within a card is empty after import", file: reportedCard, format: "json-v3",
			reads: map[string]string{"character/ada /links/lorebooks": `["harbour"]`, entry + "/content": `"Whale oil."`},
		},
	}
}

// What was reported of others does not happen here, in the registry as it is wired.
func TestReports(t *testing.T) {
	formats := newFormats()
	suite := formattest.Suite{Formats: formats}
	for _, r := range reports() {
		t.Run(r.says, func(t *testing.T) {
			if r.name == "" {
				r.name = "x.json"
			}
			im := suite.Import(t, r.name, []byte(r.file))
			if warns := strings.Join(im.Warnings, "\n"); im.Format != r.format || !strings.Contains(warns, r.warns) {
				t.Errorf("it is %s, want %s; warnings %q, want %q", im.Format, r.format, warns, r.warns)
			}
			main := formattest.Main(im)
			if c, err := formats.Convert(main, im.Format, im.Pieces); err != nil || !bytes.Contains([]byte(r.file), bytes.TrimSpace(c.Data)) && len(c.Stripped) == 0 || len(c.Losses) > 0 {
				t.Errorf("unedited it is %s, losses %+v, %v", c.Data, c.Losses, err)
			}
			for place, want := range r.reads {
				ref, ptr, _ := strings.Cut(place, " ")
				i := slices.IndexFunc(im.Pieces, func(p store.Piece) bool { return p.Ref.String() == ref })
				if i < 0 {
					t.Fatalf("there is no %s in %v", ref, im.Pieces)
				}
				if n := formattest.Body(t, im.Pieces[i]).At(ptr); n == nil && want != "" || n != nil && string(n.Bytes()) != want {
					t.Errorf("%s is %s, want %s", place, n.Bytes(), want)
				}
			}
			for to, want := range r.loses {
				named(t, formats, im, to, want)
			}
			for to, parts := range r.writes {
				c, err := formats.Convert(main, to, im.Pieces)
				must(t, err)
				dense := strings.Join(strings.Fields(string(c.Data)), "")
				for _, part := range parts {
					if !strings.Contains(dense, strings.Join(strings.Fields(part), "")) {
						t.Errorf("as %s it has no %s:\n%s", to, part, c.Data)
					}
				}
			}
		})
	}
}

// named wants losses at these places, or none.
func named(t *testing.T, formats *content.Formats, im content.Imported, to string, want []string) {
	t.Helper()
	c, err := formats.Convert(formattest.Main(im), to, im.Pieces)
	must(t, err)
	for _, ptr := range want {
		if !slices.ContainsFunc(c.Losses, func(l content.Loss) bool {
			return l.Path == ptr || strings.HasPrefix(ptr, l.Path+"/") || strings.HasPrefix(l.Path, ptr+"/")
		}) {
			t.Errorf("as %s the loss of %s is not named: %+v", to, ptr, c.Losses)
		}
	}
	for _, l := range c.Losses {
		if want == nil && !strings.HasPrefix(l.Path, content.InOriginal) {
			t.Errorf("as %s, lost %+v", to, l)
		}
	}
}

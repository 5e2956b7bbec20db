package marinara_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/format/marinara"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
)

var suite = formattest.Suite{Formats: content.NewFormats(marinara.Formats()...)}

func TestCorpus(t *testing.T) {
	dir, want := formattest.Corpus(t)
	edits := 0
	for name, format := range map[string]string{"marinara/character.marinara.json": "marinara-character", "marinara/persona.marinara.json": "marinara-persona"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			im := suite.Import(t, filepath.Base(name), data)
			p := formattest.Main(im)
			if im.Format != format || p.Title != want[name]["name"] {
				t.Errorf("taken by %q, called %q", im.Format, p.Title)
			}
			edits += suite.OneEdits(t, p, im.Pieces, "palette") // a new label goes to another place
		})
	}
	if edits < 20 {
		t.Errorf("%d edits", edits)
	}
}

func TestLosses(t *testing.T) {
	for _, g := range []formattest.Made{
		{Format: "marinara-character", Kind: content.KindCharacter},
		{Format: "marinara-persona", Kind: content.KindPersona, Words: map[string][]string{"Palette.Label": {"name", "box", "accent"}}},
		{Format: "marinara-lorebook", Kind: content.KindLorebook, Fill: map[string]string{
			"/settings/scanDepth": "2", "/settings/tokenBudget": "2048", "/settings/recursive": "false", "/settings/maxRecursion": "3",
			"/folders/*/enabled": "true", "/folders/*/order": "0", "/entries/*/placement/position": `"before"`, "/entries/*/placement/depth": "4",
			"/entries/*/placement/role": `"system"`, "/entries/*/sortOrder": "100",
		}},
		{Format: "marinara-preset", Kind: content.KindPreset, Fill: map[string]string{
			"/groups/*/enabled": "true", "/groups/*/order": "100", "/blocks/*/role": `"system"`, "/blocks/*/depth": "0", "/blocks/*/order": "100",
			"/behavior/wrapFormat": `"none"`, "/choices/*/separator": `", "`,
		}},
		{Format: "marinara-regex", Kind: content.KindRegex, Fill: map[string]string{"/rules/*/order": "0"}},
	} {
		t.Run(g.Format, func(t *testing.T) { suite.Losses(t, g) })
	}
}

const (
	seedCharacter = `{"type":"marinara_character","version":1,"exportedAt":"x","data":{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"A","description":"d","extensions":{"nameColor":"#fff","boxColor":"","rpgStats":{"hp":1},"backstory":"b"},"character_book":{"name":"B","entries":[{"keys":["k"],"content":"c","enabled":true,"insertion_order":1,"extensions":{}}]}}}}`
	seedPersona   = `{"type":"marinara_persona","version":1,"data":{"name":"B","comment":"brief","description":"sent","tags":"[\"oc\", \"\\u0061\"]","nameColor":"red","isActive":"true","personaStats":"{\"bars\": []}"}}`
	seedLorebook  = `{"type":"marinara_lorebook","version":1,"data":{"lorebook":{"name":"L","category":"npc","tags":["t"]},"entries":[{"id":"e","name":"n","content":"c","keys":["^a+$"],"secondaryKeys":["b"],"useRegex":true,"selective":true,"selectiveLogic":"or","folderId":"f","position":2,"additionalMatchingSources":["character_scenario","moon"],"characterFilterMode":"exclude","characterFilterIds":["1"],"generationTriggerFilterMode":"include","generationTriggerFilters":["normal"],"tag":"x","schedule":{"activeTimes":["night"]}},{"id":"e","keys":"[\"a\"]","enabled":"false","folderId":"gone"}],"folders":[{"id":"f","name":"F","parentFolderId":null,"enabled":true,"order":1}]}}`
	seedPreset    = `{"type":"marinara_preset","version":1,"data":{"preset":{"id":"p","name":"P","sectionOrder":"[\"b\", \"a\"]","groupOrder":"[]","parameters":"{\"temperature\": 0.90,\"reasoningEffort\":\"auto\",\"customParameters\":{\"x\":1}}","defaultChoices":"{\"pov\":[\"1\"],\"x\":\"y\"}","isDefault":"false"},"sections":[{"id":"a","identifier":"hist","name":"H","content":"","role":"system","enabled":"true","isMarker":"true","markerConfig":"{\"type\":\"chat_history\",\"chatHistoryOptions\":{}}","groupId":"gone"},{"id":"b","identifier":"r","name":"R","content":"Be.","role":"user","enabled":"false","isMarker":"false","markerConfig":null,"wrapInXml":"true","xmlTagName":"role","injectionPosition":"depth","injectionDepth":2}],"groups":[{"id":"g","name":"G","enabled":"true","order":1}],"choiceBlocks":[{"id":"c","variableName":"pov","question":"POV?","options":"[{\"id\":\"1\",\"label\":\"First\",\"value\":\"I\"}]","multiSelect":"true","separator":", ","randomPick":"false"}]}}`
	seedRegex     = `[{"id":"1","name":"n","enabled":"true","findRegex":"a","replaceString":"b","trimStrings":"[\"x\"]","placement":"[\"ai_output\", \"moon\"]","flags":"gi","promptOnly":"true","order":2,"minDepth":null,"targetCharacterIds":[1]},{"name":"m","findRegex":"c","placement":["user_input"]}]`
	seedRule      = `{"id":"1","name":"n","enabled":true,"findRegex":"a","placement":["ai_output"]}`
)

func TestSeeds(t *testing.T) {
	for _, seed := range []string{seedCharacter, seedPersona, seedLorebook, seedPreset, seedRegex, seedRule} {
		im := suite.Import(t, "x.json", []byte(seed))
		suite.OneEdits(t, formattest.Main(im), im.Pieces, "regex", "palette")
	}
}

func FuzzCharacter(f *testing.F) { suite.Fuzz(f, "marinara-character", seedCharacter) }
func FuzzPersona(f *testing.F)   { suite.Fuzz(f, "marinara-persona", seedPersona) }
func FuzzLorebook(f *testing.F)  { suite.Fuzz(f, "marinara-lorebook", seedLorebook) }
func FuzzPreset(f *testing.F)    { suite.Fuzz(f, "marinara-preset", seedPreset) }
func FuzzRegex(f *testing.F)     { suite.Fuzz(f, "marinara-regex", seedRegex, seedRule) }

package sillytavern_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/format/sillytavern"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// scored is the surest of the formats.
func scored(name string, data []byte) (format string, score float64) {
	f := content.Open(name, data)
	for _, x := range sillytavern.Formats() {
		if s := x.Score(f); s > score {
			format, score = x.About().Name, s
		}
	}
	return format, score
}

// TestOthersFilesAreNotTaken looks at the corpus files of every other platform.
func TestOthersFilesAreNotTaken(t *testing.T) {
	_, _ = corpus(t)
	dir := filepath.Join("..", "..", "..", "..", "shared", "corpus", "content", "synthetic")
	n := 0
	for _, platform := range []string{"agnai", "character", "htmldoc", "marinara", "novelai", "risu", "rolecall"} {
		files, err := filepath.Glob(filepath.Join(dir, platform, "*"))
		must(t, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			must(t, err)
			n++
			if format, score := scored(file, data); score >= 0.5 {
				t.Errorf("%s is %s, as sure as %v", file, format, score)
			}
		}
	}
	if n < 40 {
		t.Errorf("%d files", n)
	}
}

func TestDetection(t *testing.T) {
	for _, tt := range []struct{ what, data, want string }{
		{"an empty world", `{"entries":{}}`, "sillytavern-world"},
		{"entries with uids", `{"entries":{"0":{"uid":0,"content":"x"}}}`, "sillytavern-world"},
		{"a list saved in SillyTavern", `{"entries":[{"uid":0,"key":[]}]}`, "sillytavern-world"},
		{"a card", `{"name":"A","description":"d","first_mes":"f"}`, ""},
		{"a card of version 2", `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"A","character_book":{"entries":[]}}}`, ""},
		{"a lorebook of the card's spec", `{"spec":"lorebook_v3","data":{"entries":[]}}`, ""},
		{"NovelAI's", `{"lorebookVersion":6,"entries":[{"text":"t","keys":["k"]}]}`, ""},
		{"Agnai's", `{"kind":"memory","entries":[{"keywords":["k"],"entry":"e"}]}`, ""},
		{"Risu's", `{"type":"risu","ver":1,"data":[{"key":"k"}]}`, ""},
		{"RoleCall's", `{"schemaVersion":"1.0.0","lorebook":{"entries":[]}}`, ""},
		{"Marinara's rules", `[{"scriptName":"x","findRegex":"a","placement":["ai_output"]}]`, ""},
		{"Marinara's rules by name", `[{"name":"x","findRegex":"a","placement":["ai_output"]}]`, ""},
		{"Lumiverse's rules", `[{"script_id":"x","find_regex":"a"}]`, ""},
		{"one part beside what is foreign", `{"preset":{"top_k":1,"name":"N"},"sections":[]}`, ""},
		{"a preset without prompts yet", `{"prompts":[],"prompt_order":[]}`, "sillytavern-chat"},
		{"an envelope", `{"type":"marinara_preset","version":1,"data":{"preset":{},"sections":[]}}`, ""},
		{"a script", `{"scriptName":"x","findRegex":"a"}`, "sillytavern-regex"},
		{"no scripts", `[]`, ""},
		{"prompts alone", `{"prompts":[{"identifier":"main"}]}`, "sillytavern-chat"},
		{"settings alone", `{"openai_max_context":4095,"temperature":1}`, "sillytavern-chat"},
		{"three texts", `{"main_prompt":"a","jailbreak_prompt":"b"}`, "sillytavern-chat"},
		{"the prompt manager's", `{"version":1,"type":"character","data":{"prompts":[],"prompt_order":[]}}`, "sillytavern-chat"},
		{"samplers", `{"temp":1,"top_k":0,"top_p":1,"rep_pen":1}`, "sillytavern-text"},
		{"instruct", `{"name":"x","input_sequence":"","output_sequence":""}`, "sillytavern-text"},
		{"context", `{"name":"x","story_string":""}`, "sillytavern-text"},
		{"a system prompt", `{"name":"x","content":"c"}`, "sillytavern-text"},
		{"reasoning", `{"name":"x","prefix":"","suffix":"","separator":""}`, "sillytavern-text"},
		{"a text with more", `{"name":"x","content":"c","description":"d"}`, ""},
		{"an HTML document", `{"name":"x","html":"<p>","content":"c"}`, ""},
		{"two parts", `{"context":{"story_string":""},"sysprompt":{"content":""}}`, "sillytavern-master"},
		{"one part", `{"context":{"story_string":""}}`, "sillytavern-master"},
		{"version 1", `{"quickReplySlots":[]}`, "sillytavern-quickreply"},
		{"version 2", `{"qrList":[]}`, "sillytavern-quickreply"},
		{"a backup", `{"personas":{},"persona_descriptions":{}}`, "sillytavern-personas"},
		{"names alone", `{"personas":{}}`, ""},
		{"a number", `7`, ""},
		{"no JSON", `{`, ""},
	} {
		format, score := scored("x.json", []byte(tt.data))
		if score < 0.5 {
			format = ""
		}
		if format != tt.want {
			t.Errorf("%s is %q, as sure as %v, want %q", tt.what, format, score, tt.want)
		}
	}
	if _, score := scored("x.json", []byte(`{"name":"b","entries":[{"keys":["k"],"content":"c"}]}`)); score >= 0.85 {
		t.Errorf("the card's own shape of a book is taken from its format: %v", score)
	}
}

package sillytavern_test

import (
	"bytes"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/format/sillytavern"
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// fuzz wants of any file that a format takes: bodies in their canonical form, the same
// tokens unedited, and a change that is read again.
func fuzz(f *testing.F, name string, seeds ...string) {
	var only *content.Formats
	for _, x := range sillytavern.Formats() {
		if x.About().Name == name {
			only = content.NewFormats(x)
		}
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		im, err := only.Import("x.json", data)
		if err != nil {
			return
		}
		for i, p := range im.Pieces {
			canonical(t, p)
			unedited(t, im, i)
			if p.Escrow[0].Format == name {
				renamed(t, p, name, only)
			}
		}
	})
}

func renamed(t *testing.T, p store.Piece, name string, only *content.Formats) {
	b := body(t, p)
	must(t, b.Set("/name", canon.NewText("Renamed 7")))
	raw, err := canon.JSON(b.Bytes())
	must(t, err)
	p.Body = raw
	out := writeAs(t, p, name, nil)
	again, err := only.Import("Renamed 7.json", out.Data)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.Data)
	}
	got := main(again)
	for _, l := range out.Losses {
		if l.Path != "/name" && l.Path != "original:/originalData" {
			t.Errorf("a new name, and a loss: %+v", l)
		}
	}
	if got.Title != "Renamed 7" && len(out.Losses) == 0 {
		t.Errorf("called %q\n%s", got.Title, out.Data)
	}
	if want := body(t, p); bytes.Equal(raw, p.Body) && !canon.Equal(without(t, want), without(t, body(t, got))) {
		t.Errorf("renamed\n%s\nreads\n%s", want.Bytes(), got.Body)
	}
}

// without leaves out what a new name may take with it.
func without(t *testing.T, b *canon.Node) *canon.Node {
	for _, ptr := range []string{"/name", "/regexes"} {
		_, err := b.Delete(ptr)
		must(t, err)
	}
	return b
}

const (
	seedWorld = `{"entries":{"0":{"uid":0,"key":["lamp","/a\/b/i"],"keysecondary":["x"],"comment":"T","content":"C","selective":true,"selectiveLogic":3,"order":100,"position":4,"depth":2,"role":1,"disable":false,"delayUntilRecursion":true,"probability":50,"useProbability":true,"characterFilter":{"isExclude":true,"names":["B"],"tags":[]},"matchScenario":true,"vendor":1e400},"x":{"uid":"7"}},"name":"w"}`
	seedChat  = `{"temperature":null,"names_behavior":2,"reverse_proxy":"https://p","prompts":[{"identifier":"main","role":"user","content":"M"},{"identifier":"u","marker":true},{"identifier":"main"}],"prompt_order":[{"character_id":100000,"order":[]},{"character_id":100001,"order":[{"identifier":"g","enabled":true},{"identifier":"main","enabled":false},{"identifier":"chatHistory","enabled":true}]}],"extensions":{"regex_scripts":[{"id":"1","scriptName":"s","findRegex":"/a/g","placement":[2]}]}}`
	seedOld   = `{"temp_openai":0.9,"main_prompt":"M","nsfw_prompt":"","jailbreak_prompt":"J","nsfw_toggle":true,"nsfw_first":true}`
	seedRegex = `[{"id":"1","scriptName":"s","findRegex":"/a\n/gi","replaceString":"$1","trimStrings":[""],"placement":[0,4,9],"substituteRegex":true,"minDepth":null},3]`
	seedQR1   = `{"name":"Q","quickReplySlots":[{"mes":"m","label":"l","enabled":false,"contextMenu":[{"preset":"P","chain":true}],"autoExecute_chatLoad":true}],"numberOfSlots":1}`
	seedQR2   = `{"version":2,"name":"Q","qrList":[{"id":1,"label":"l","contextList":[{"set":"S","isChained":true}],"executeOnUser":true},{"id":1}],"idIndex":1,"color":"red"}`
	seedAll   = `{"personas":{"a.png":"A","b.png":""},"persona_descriptions":{"a.png":{"description":"d","position":4,"depth":2,"role":1},"c.png":{"position":9}},"default_persona":"a.png","x":1}`
	seedParts = `{"instruct":{"input_sequence":"i","output_sequence":"o","wrap":true,"name":"I"},"context":{"story_string":"s","name":"C"},"sysprompt":{"name":"S","content":"c","post_history":"p"},"preset":{"temp":1,"name":"P"},"srw":{"value":"v"}}`
)

func FuzzWorld(f *testing.F) {
	fuzz(f, "sillytavern-world", seedWorld, `{"entries":[{"key":"a","keys":["b"],"enabled":false,"insertion_order":5}]}`)
}

func FuzzChat(f *testing.F) {
	fuzz(f, "sillytavern-chat", seedChat, seedOld, `{"version":1,"type":"full","data":{"prompts":[],"prompt_order":[]}}`)
}

func FuzzText(f *testing.F) {
	fuzz(f, "sillytavern-text", `{"temp":1,"top_k":null,"top_p":0.5,"rep_pen":1,"name":"N","api_key":"s"}`, `{"name":"N","story_string":"s","single_line":true}`, `{"name":"N","content":"c"}`)
}
func FuzzMaster(f *testing.F)       { fuzz(f, "sillytavern-master", seedParts) }
func FuzzRegex(f *testing.F)        { fuzz(f, "sillytavern-regex", seedRegex, seedRegex[1:len(seedRegex)-3]) }
func FuzzQuickReplies(f *testing.F) { fuzz(f, "sillytavern-quickreply", seedQR1, seedQR2) }
func FuzzPersonas(f *testing.F)     { fuzz(f, "sillytavern-personas", seedAll) }

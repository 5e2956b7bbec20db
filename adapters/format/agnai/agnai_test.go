package agnai_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/format/agnai"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
)

var suite = formattest.Suite{Formats: content.NewFormats(agnai.Formats()...)}

func TestCorpus(t *testing.T) {
	dir, want := formattest.Corpus(t)
	edits := 0
	for name, format := range map[string]string{"agnai/memory-book.json": "agnai-memory", "character/agnai-native-full.json": "agnai-character"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			im := suite.Import(t, filepath.Base(name), data)
			if im.Format != format {
				t.Errorf("taken by %q", im.Format)
			}
			b := formattest.Body(t, formattest.Main(im))
			if n, ok := want[name]["entries"].(float64); ok && b.Field("entries").Len() != int(n) {
				t.Errorf("%d entries, want %v", b.Field("entries").Len(), n)
			}
			if kind, ok := want[name]["persona_kind"]; ok && b.At("/persona/structured/kind").Text() != kind {
				t.Errorf("%s, want %v", b.At("/persona/structured").Bytes(), kind)
			}
			for _, p := range im.Pieces {
				edits += suite.OneEdits(t, p, im.Pieces)
			}
		})
	}
	if edits < 30 {
		t.Errorf("%d edits", edits)
	}
}

func TestLosses(t *testing.T) {
	for _, g := range []formattest.Made{
		{Format: "agnai-memory", Kind: content.KindLorebook, Fill: map[string]string{"/entries/*/priority": "0", "/entries/*/sortOrder": "0"}},
		{Format: "agnai-character", Kind: content.KindCharacter, Moves: map[string]string{
			"/persona/personality": "/persona/description", "/persona/backstory": "/persona/description", "/persona/structured": "/persona/description",
		}},
		{Format: "agnai-preset", Kind: content.KindPreset, Fill: map[string]string{
			"/samplers/temperature": "1", "/samplers/maxContext": "8192", "/samplers/maxTokens": "300", "/blocks/*/role": `"system"`,
		}},
	} {
		t.Run(g.Format, func(t *testing.T) { suite.Losses(t, g) })
	}
}

const (
	seedCharacter = `{"kind":"character","name":"A","description":"n","persona":{"kind":"text","attributes":{"text":["a","b"]}},"greeting":"g","insert":{"depth":"2","prompt":"p"},"avatar":"x.png","voice":{"v":1},"characterBook":{"kind":"memory","name":"","entries":[{"name":"e","entry":"c","keywords":["k"],"priority":1,"weight":2,"enabled":true}]}}`
	seedTraits    = `{"kind":"character","name":"A","persona":{"kind":"boostyle","attributes":{"mind":["calm",""],"none":[]}},"alternateGreetings":["x"],"tags":"t","culture":"en-us"}`
	seedMemory    = `{"kind":"memory","name":"M","entries":[{"name":"e","entry":"c","keywords":["k","/x/"],"priority":1,"weight":2,"enabled":true,"id":7,"constant":true,"position":"after_char","selective":true,"selectiveLogic":2,"secondaryKeys":["s"],"probability":50,"useProbability":true,"excludeRecursion":true},{"enabled":"false"}],"scanDepth":2}`
	seedPreset    = `{"name":"P","temp":0.8,"maxTokens":300,"maxContextLength":8000,"gaslight":"{{history}}","systemPrompt":"S","ultimeJailbreak":"U","useAdvancedPrompt":"basic","promptOrder":[{"placeholder":"scenario","enabled":true},{"placeholder":"system_prompt","enabled":false},{"placeholder":"odd","enabled":true},{"x":1}],"thirdPartyKey":"sk-secret","phraseBias":[{"seq":"a","bias":1}],"stopSequences":["x"],"topK":null}`
	seedPlain     = `{"name":"P","temp":0.8,"maxTokens":300,"gaslight":"","systemPrompt":"S","ultimeJailbreak":"U","antiBond":false}`
)

func TestSeeds(t *testing.T) {
	for _, seed := range []string{seedCharacter, seedTraits, seedMemory, seedPreset, seedPlain} {
		im := suite.Import(t, "x.json", []byte(seed))
		for _, p := range im.Pieces {
			suite.OneEdits(t, p, im.Pieces, "description", "enabled")
		}
	}
}

func FuzzCharacter(f *testing.F) { suite.Fuzz(f, "agnai-character", seedCharacter, seedTraits) }
func FuzzMemory(f *testing.F)    { suite.Fuzz(f, "agnai-memory", seedMemory) }
func FuzzPreset(f *testing.F)    { suite.Fuzz(f, "agnai-preset", seedPreset, seedPlain) }

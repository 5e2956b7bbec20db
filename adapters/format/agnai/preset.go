package agnai

import (
	"fmt"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/secret"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// scorePreset knows a preset by settings that only Agnai spells so.
func scorePreset(doc *canon.Node) float64 {
	for _, foreign := range []string{"spec", "prompts", "entries", "schemaVersion", "body", "type", "data", "persona"} {
		if doc.Field(foreign) != nil {
			return 0
		}
	}
	if k := doc.Field("kind"); k != nil && k.Text() != "gen-setting" {
		return 0
	}
	n := 0
	for _, key := range []string{
		"maxTokens", "maxContextLength", "gaslight", "ultimeJailbreak", "useAdvancedPrompt", "promptOrder", "antiBond", "tailFreeSampling",
		"repetitionPenaltySlope", "memoryContextLimit", "memoryReverseWeight", "ignoreCharacterSystemPrompt", "promptTemplateId", "streamResponse",
	} {
		if doc.Field(key) != nil {
			n++
		}
	}
	if n >= 3 && (doc.Field("temp") != nil || doc.Field("maxTokens") != nil || doc.Field("gaslight") != nil) {
		return 0.95
	}
	return 0
}

const (
	noSuchSetting = "a preset of Agnai has no such field"
	freshPreset   = `{"name":"","temp":1,"maxTokens":300,"maxContextLength":8192,"gaslight":"","systemPrompt":"","ultimeJailbreak":"","useAdvancedPrompt":"basic"}`
)

func sampler(path, ptr, def string) twin.Field {
	if def == "" {
		return twin.Field{Path: path, Ptr: ptr, Codec: twin.Sampler}
	}
	return twin.Field{Path: path, Ptr: ptr, Codec: twin.WithEmpty(twin.Sampler, def), Required: true}
}

var presetFields = []twin.Field{
	{Path: "/name", Ptr: "/name", Codec: twin.Text, Required: true},
	{Path: "/description", Ptr: "/description", Codec: twin.Text},
	{Path: "/blocks", Over: &blocks},
	sampler("/samplers/temperature", "/temp", "1"),
	sampler("/samplers/topP", "/topP", ""), sampler("/samplers/topK", "/topK", ""), sampler("/samplers/topA", "/topA", ""),
	sampler("/samplers/minP", "/minP", ""), sampler("/samplers/typicalP", "/typicalP", ""), sampler("/samplers/tailFree", "/tailFreeSampling", ""),
	sampler("/samplers/repetitionPenalty", "/repetitionPenalty", ""), sampler("/samplers/repetitionRange", "/repetitionPenaltyRange", ""),
	sampler("/samplers/frequencyPenalty", "/frequencyPenalty", ""), sampler("/samplers/presencePenalty", "/presencePenalty", ""),
	sampler("/samplers/maxContext", "/maxContextLength", "8192"), sampler("/samplers/maxTokens", "/maxTokens", "300"),
	{Path: "/behavior/stream", Ptr: "/streamResponse", Codec: twin.Bool},
	{Path: "/behavior/ignoreCardPrompt", Ptr: "/ignoreCharacterSystemPrompt", Codec: twin.Bool},
	{Path: "/prompts/prefill", Ptr: "/prefill", Codec: twin.Text},
	{Path: "/templates/prompt", Ptr: "/gaslight", Codec: twin.Text, Required: true},
	{Path: "/stops", Ptr: "/stopSequences", Codec: twin.TextList},
	twin.Rest(noSuchSetting),
}

// places are what Agnai's order of a prompt names, and what it is here. Two of them have
// a text of the preset's own.
var places = [][2]string{
	{"system_prompt", ""},
	{"ujb", ""},
	{"scenario", "scenario"},
	{"personality", "description"},
	{"impersonating", "persona"},
	{"chat_embed", "memory"},
	{"memory", "lore_before"},
	{"example_dialogue", "examples"},
	{"history", "chat_history"},
	{"user_embed", "other"},
}

// texts are where those two texts stand.
var texts = map[string]string{"system_prompt": "/systemPrompt", "ujb": "/ultimeJailbreak"}

func markerOf(place string) string {
	for _, p := range places {
		if p[0] == place {
			return p[1]
		}
	}
	return "other"
}

// blocks are the order of the prompt, and its two texts, which are first and last where
// the order does not name them.
var blocks = twin.Over{Read: readBlocks, Write: writeBlocks}

func readBlocks(doc *canon.Node) (*canon.Node, string) {
	var list []*canon.Node
	problem, has := "", map[string]bool{}
	add := func(place string, on bool) *canon.Node {
		b := canon.NewObject()
		has[place] = true
		twin.Set(b, "/id", canon.NewText(place))
		twin.Set(b, "/enabled", canon.NewBool(on))
		if at := texts[place]; at != "" {
			twin.Set(b, "/role", canon.NewText("system"))
			text, p := twin.ReadText(doc.At(at))
			if problem == "" && p != "" {
				problem = at + ": " + p
			}
			if text != nil {
				twin.Set(b, "/content", text)
			}
		} else {
			twin.Set(b, "/marker", canon.NewText(markerOf(place)))
		}
		return b
	}
	for i, it := range doc.Field("promptOrder").Items() {
		place := it.Field("placeholder").Text()
		if place == "" || has[place] {
			problem = fmt.Sprintf("/promptOrder/%d names nothing, or what is named already; it stays in the original file and is not used", i)
			continue
		}
		on, _ := twin.Bool.Read(it.Field("enabled"))
		list = append(list, add(place, on.Raw() != "false"))
	}
	if !has["system_prompt"] && doc.Field("systemPrompt").Text() != "" {
		list = append([]*canon.Node{add("system_prompt", true)}, list...)
	}
	if !has["ujb"] && doc.Field("ultimeJailbreak").Text() != "" {
		list = append(list, add("ujb", true))
	}
	if list == nil {
		return nil, problem
	}
	return canon.NewArray(list...), problem
}

// placeOf is the place that a block can have, "" where there is none.
func placeOf(b *canon.Node, known map[string]bool) string {
	id, mark := b.Field("id").Text(), b.Field("marker").Text()
	if mark == "" {
		switch id {
		case "system_prompt", "main":
			return "system_prompt"
		case "ujb", "jailbreak":
			return "ujb"
		}
		return ""
	}
	if known[id] && markerOf(id) == mark {
		return id
	}
	for _, p := range places {
		if p[1] == mark && mark != "other" {
			return p[0]
		}
	}
	return ""
}

// writeBlocks lays the blocks over the order and the two texts.
func writeBlocks(doc, val *canon.Node) (losses []twin.Loss) {
	entries, known := map[string]*canon.Node{}, map[string]bool{}
	var strange []*canon.Node
	for _, it := range doc.Field("promptOrder").Items() {
		if place := it.Field("placeholder").Text(); place != "" && !known[place] {
			entries[place], known[place] = it, true
		} else {
			strange = append(strange, it)
		}
	}
	var slots []slot
	text, taken := map[string]string{}, map[string]bool{}
	for i, b := range val.Items() {
		lose := func(path string, v twin.Verdict, why string) {
			losses = append(losses, twin.Loss{Path: fmt.Sprintf("/%d%s", i, path), Value: twin.Clip(b.At(path)), Verdict: v, Reason: why})
		}
		place := placeOf(b, known)
		switch {
		case place == "" && b.Field("marker") == nil:
			lose("", twin.Dropped, "a preset of Agnai has two texts: the block system_prompt and the block ujb")
			continue
		case place == "":
			lose("", twin.Dropped, "Agnai has no place for "+b.Field("marker").Text())
			continue
		case taken[place]:
			lose("", twin.Dropped, "Agnai puts "+place+" in one place only")
			continue
		}
		taken[place] = true
		if b.Field("id").Text() != place {
			lose("/id", twin.Renamed, "its name in Agnai is "+place)
		}
		loseRest(b, place, lose)
		text[place] = b.Field("content").Text()
		on := b.Field("enabled").Raw() == "true"
		entry := entries[place].Clone()
		if entry == nil {
			entry = entryOf(place, on)
		}
		if was, _ := twin.Bool.Read(entry.Field("enabled")); (was.Raw() != "false") != on {
			twin.Set(entry, "/enabled", twin.Bool.Write(canon.NewBool(on), entry.Field("enabled")))
		}
		slots = append(slots, slot{place, entry, known[place]})
	}
	for place, at := range texts {
		if doc.At(at).Text() != text[place] {
			twin.Set(doc, at, canon.NewText(text[place]))
		}
	}
	return append(losses, layOrder(doc, slots, strange)...)
}

// loseRest says what else of a block has no place.
func loseRest(b *canon.Node, place string, lose func(path string, v twin.Verdict, why string)) {
	for key := range b.Members() {
		switch {
		case key == "role" && texts[place] != "":
			if b.Field(key).Text() != "system" {
				lose("/role", twin.Approximated, "the texts of a preset of Agnai are the system's")
			}
		case key == "content" && texts[place] != "" || slices.Contains([]string{"id", "enabled", "marker"}, key):
		default:
			lose("/"+key, twin.Dropped, "the order of Agnai's prompt says what is there and whether it is on")
		}
	}
}

// usual is the order of a preset that does not say one.
var usual = []string{"system_prompt", "scenario", "personality", "impersonating", "chat_embed", "memory", "example_dialogue", "history", "ujb"}

// A slot is an entry of the order to be written.
type slot struct {
	place string
	entry *canon.Node
	old   bool // the order has it already
}

// layOrder writes the order. The two texts need no entry where they stand first and last
// and are on. An order that begins here has all places that a chat needs.
func layOrder(doc *canon.Node, slots []slot, strange []*canon.Node) (losses []twin.Loss) {
	if n := len(slots); n > 0 && implied(doc, slots[0], "system_prompt") {
		slots = slots[1:]
	}
	if n := len(slots); n > 0 && implied(doc, slots[n-1], "ujb") {
		slots = slots[:n-1]
	}
	old := doc.Field("promptOrder")
	if old.Kind() != canon.Array {
		if len(slots) == 0 {
			return nil
		}
		if !slices.ContainsFunc(slots, func(s slot) bool { return s.place == "history" }) {
			losses = append(losses, twin.Loss{
				Value: "promptOrder", Verdict: twin.Approximated,
				Reason: "an order of a prompt without the chat would send none; Agnai's own places are added in their usual order",
			})
			slots = withUsual(slots)
		}
	}
	var order []*canon.Node
	for _, s := range slots {
		order = append(order, s.entry)
	}
	twin.Set(doc, "/promptOrder", twin.Refill(old, append(order, strange...)))
	return losses
}

func implied(doc *canon.Node, s slot, place string) bool {
	return s.place == place && !s.old && s.entry.Field("enabled").Raw() == "true" && doc.At(texts[place]).Text() != ""
}

// withUsual puts those of the usual places that are missing in front of those that come
// behind them.
func withUsual(slots []slot) []slot {
	for i, place := range usual {
		if slices.ContainsFunc(slots, func(s slot) bool { return s.place == place }) {
			continue
		}
		at := slices.IndexFunc(slots, func(s slot) bool { return slices.Contains(usual[i+1:], s.place) })
		if at < 0 {
			at = len(slots)
		}
		slots = slices.Insert(slots, at, slot{place: place, entry: entryOf(place, texts[place] == "")})
	}
	return slots
}

func entryOf(place string, on bool) *canon.Node {
	entry := canon.NewObject()
	twin.Set(entry, "/placeholder", canon.NewText(place))
	twin.Set(entry, "/enabled", canon.NewBool(on))
	return entry
}

func readPreset(f content.File) (content.Reading, error) {
	body, problems := twin.Read(f.Doc, presetFields)
	return content.Reading{Warnings: problems, Found: []content.Found{{Kind: content.KindPreset, Body: body}}}, nil
}

func writePreset(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshPreset, "/name")
	if err != nil {
		return content.Written{}, err
	}
	losses := twin.Lay(s.Doc, presetFields, s.Body)
	stripped := secret.Strip(s.Doc)
	out := s.Written(losses)
	out.Stripped = stripped
	return out, nil
}

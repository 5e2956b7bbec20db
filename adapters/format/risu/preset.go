package risu

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/secret"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

func scorePreset(f content.File) float64 {
	if isPreset(f.Doc) {
		return 0.95
	}
	return 0
}

func isPreset(doc *canon.Node) bool {
	return doc.Field("formatingOrder").Kind() == canon.Array || doc.Field("promptTemplate").Kind() == canon.Array && doc.Field("apiType") != nil
}

// hundred is a number that Risu keeps times a hundred.
var hundred = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		num, problem := twin.Sampler.Read(n)
		f, err := strconv.ParseFloat(num.Raw(), 64)
		if num.Kind() == canon.Null || err != nil {
			return num, problem
		}
		return decimal(f / 100), problem
	},
	Write: func(val, _ *canon.Node) *canon.Node {
		f, err := strconv.ParseFloat(val.Raw(), 64)
		if err != nil {
			return val // null, the provider's default
		}
		return decimal(f * 100)
	},
	Lossy: func(val *canon.Node) string {
		f, err := strconv.ParseFloat(val.Raw(), 64)
		if err != nil {
			return ""
		}
		if g, _ := strconv.ParseFloat(decimal(f*100).Raw(), 64); decimal(g/100).Raw() != val.Raw() {
			return "Risu keeps it times a hundred; it becomes " + decimal(g/100).Raw()
		}
		return ""
	},
	Empty: "100",
}

// decimal is a number without the noise of binary fractions.
func decimal(f float64) *canon.Node {
	if math.Abs(f) > 1e12 {
		return canon.NewInt(0)
	}
	return twin.Parsed(strconv.FormatFloat(math.Round(f*1e6)/1e6, 'f', -1, 64))
}

const noSuch = "a preset of Risu does not have it"

var presetFields = slices.Concat([]twin.Field{
	{Path: "/name", Ptr: "/name", Codec: twin.Text},
	{Path: "/samplers/temperature", Ptr: "/temperature", Codec: hundred},
	{Path: "/samplers/frequencyPenalty", Ptr: "/frequencyPenalty", Codec: hundred},
	{Path: "/samplers/presencePenalty", Ptr: "/PresensePenalty", Codec: hundred},
	{Path: "/samplers/maxContext", Ptr: "/maxContext", Codec: twin.Sampler},
	{Path: "/samplers/maxTokens", Ptr: "/maxResponse", Codec: twin.Sampler},
	{Path: "/samplers/topP", Ptr: "/top_p", Codec: twin.Sampler},
	{Path: "/samplers/topK", Ptr: "/top_k", Codec: twin.Sampler},
	{Path: "/samplers/topA", Ptr: "/top_a", Codec: twin.Sampler},
	{Path: "/samplers/minP", Ptr: "/min_p", Codec: twin.Sampler},
	{Path: "/samplers/repetitionPenalty", Ptr: "/repetition_penalty", Codec: twin.Sampler},
	{Path: "/prompts/prefill", Ptr: "/promptSettings/assistantPrefill", Codec: twin.Text},
	{Path: "/blocks", Over: &blocks},
}, lostAll("/description", "/author", "/groups", "/choices", "/behavior", "/templates", "/stops", "/hooks", "/regexes",
	"/samplers/typicalP", "/samplers/tailFree", "/samplers/repetitionRange", "/samplers/seed", "/samplers/n",
	"/prompts/impersonation", "/prompts/impersonationPrefill", "/prompts/newChat", "/prompts/newGroupChat", "/prompts/newExample",
	"/prompts/continue", "/prompts/continueGlue", "/prompts/groupNudge", "/prompts/sendIfEmpty", "/prompts/firstUser"))

func lostAll(paths ...string) (fields []twin.Field) {
	for _, p := range paths {
		fields = append(fields, lost(p, twin.Text, noSuch))
	}
	return fields
}

const (
	freshBlock  = `{"type":"plain","type2":"normal","text":"","role":"system"}`
	freshPreset = `{"name":"","apiType":"","temperature":80,"maxContext":4000,"maxResponse":300,"frequencyPenalty":70,"PresensePenalty":70,` +
		`"formatingOrder":["main","description","personaPrompt","chats","lastChat","jailbreak","lorebook","globalNote","authorNote"],` +
		`"mainPrompt":"","jailbreak":"","globalNote":"","promptTemplate":[],"promptSettings":{"assistantPrefill":"","postEndInnerFormat":"","sendChatAsSystem":false,"sendName":false,"utilOverride":false}}`
)

var blockFields = slices.Concat([]twin.Field{
	{Path: "/id", Codec: twin.Text},
	{Path: "/name", Ptr: "/name", Codec: twin.Text},
	{Path: "/marker", Over: &marker},
	{Path: "/role", Ptr: "/role", Codec: twin.Words([2]string{`"system"`, "system"}, [2]string{`"user"`, "user"}, [2]string{`"bot"`, "assistant"}, [2]string{`""`, ""})},
	{Path: "/content", Over: &blockText},
	{Path: "/enabled", Over: &blockOn},
}, lostAll("/unlisted", "/position", "/depth", "/order", "/triggers", "/forbidOverrides", "/group", "/wrap", "/sealed"))

var template = twin.Objects(blockFields, "/id", "block-", freshBlock)

// markers are what an item stands for, by its type.
var markers = [][2]string{
	{"chat", "chat_history"},
	{"description", "description"},
	{"persona", "persona"},
	{"lorebook", "lore_before"},
	{"memory", "memory"},
	{"authornote", "note"},
	{"postEverything", "other"},
	{"cache", "other"},
}

var marker = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		for _, m := range markers {
			if doc.Field("type").Text() == m[0] {
				return canon.NewText(m[1]), ""
			}
		}
		return nil, ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		to := "plain"
		for _, m := range slices.Backward(markers) {
			if m[1] == val.Text() {
				to = m[0]
			}
		}
		twin.Set(doc, "/type", canon.NewText(to))
		if to == "plain" {
			if doc.Field("type2") == nil {
				twin.Set(doc, "/type2", canon.NewText("normal"))
			}
			if val != nil {
				return []twin.Loss{{Value: val.Text(), Verdict: twin.Dropped, Reason: "Risu has no such place; it becomes a plain text"}}
			}
			return nil
		}
		for _, key := range []string{"/type2", "/text"} {
			twin.Drop(doc, key)
		}
		if to == "chat" {
			twin.Set(doc, "/rangeStart", canon.NewInt(0))
			twin.Set(doc, "/rangeEnd", canon.NewText("end"))
		}
		return nil
	},
}

// textKey is where an item has its text.
func textKey(doc *canon.Node) string {
	if v, _ := marker.Read(doc); v != nil {
		return "/innerFormat"
	}
	return "/text"
}

var blockText = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) { return twin.ReadText(doc.At(textKey(doc))) },
	Write: func(doc, val *canon.Node) []twin.Loss {
		if at := textKey(doc); val != nil || at == "/text" {
			twin.Set(doc, at, canon.NewText(val.Text()))
		} else {
			twin.Drop(doc, at)
		}
		return nil
	},
}

var blockOn = twin.Over{
	Read: func(*canon.Node) (*canon.Node, string) { return canon.NewBool(true), "" },
	Write: func(_, val *canon.Node) []twin.Loss {
		if val.Raw() != "false" {
			return nil
		}
		return []twin.Loss{{Value: "false", Verdict: twin.Approximated, Reason: "Risu has no switch for a part of a prompt: it is sent there"}}
	},
}

// oldTexts are the prompts of a preset from before templates.
var oldTexts = []string{"mainPrompt", "jailbreak", "globalNote"}

// blocks are the template, or the three texts where there is none.
var blocks = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if doc.Field("promptTemplate").Kind() == canon.Array {
			return template.Read(doc.Field("promptTemplate"))
		}
		var list []*canon.Node
		for _, key := range oldTexts {
			if text := doc.Field(key).Text(); text != "" {
				b := canon.NewObject()
				twin.Set(b, "/id", canon.NewText(key))
				twin.Set(b, "/content", canon.NewText(text))
				twin.Set(b, "/enabled", canon.NewBool(true))
				list = append(list, b)
			}
		}
		if list == nil {
			return nil, ""
		}
		return canon.NewArray(list...), ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		if val == nil {
			val = canon.NewArray()
		}
		old := doc.Field("promptTemplate")
		if old.Kind() != canon.Array {
			if losses, ok := writeOld(doc, val); ok {
				return losses
			}
			old = nil
		}
		put, losses := template.Lay(val, old)
		twin.Set(doc, "/promptTemplate", put)
		back, _ := template.Read(put)
		return append(losses, renamed("", val, back)...)
	},
}

// writeOld keeps the three texts, while they hold the blocks.
func writeOld(doc, val *canon.Node) (losses []twin.Loss, ok bool) {
	next := 0
	for n, b := range val.Items() {
		i := slices.Index(oldTexts, b.Field("id").Text())
		if i < next || b.Len() != 3 || b.Field("content") == nil {
			return nil, false
		}
		next = i + 1
		for _, l := range blockOn.Write(nil, b.Field("enabled")) {
			l.Path = fmt.Sprintf("/%d/enabled", n)
			losses = append(losses, l)
		}
	}
	for _, key := range oldTexts {
		text := ""
		for _, b := range val.Items() {
			if b.Field("id").Text() == key {
				text = b.Field("content").Text()
			}
		}
		if doc.Field(key).Text() != text {
			twin.Set(doc, "/"+key, canon.NewText(text))
		}
	}
	return losses, true
}

func readPreset(f content.File) (content.Reading, error) {
	return presetOf(f.Doc)
}

func presetOf(doc *canon.Node) (content.Reading, error) {
	body, problems := twin.Read(doc, presetFields)
	if n := doc.Field("regex").Len(); n > 0 {
		problems = append(problems, fmt.Sprintf("the preset has %d regex scripts, which stay in the original file", n))
	}
	return content.Reading{Found: []content.Found{{Kind: content.KindPreset, Body: body}}, Warnings: problems}, nil
}

func writePreset(w content.Writing) (content.Written, error) {
	s, err := sheetOf(w, freshPreset, "/name")
	if err != nil {
		return content.Written{}, err
	}
	losses := layPreset(&s)
	stripped := strip(s.doc)
	out := s.written(losses)
	out.Stripped = stripped
	return out, nil
}

func layPreset(s *sheet) []content.Loss { return twin.Lay(s.doc, presetFields, s.body) }

// sensitive are keys of Risu that hold credentials or somebody's address.
var sensitive = []string{"openAIKey", "proxyKey", "forceReplaceUrl", "forceReplaceUrl2", "koboldURL", "textgenWebUIStreamURL", "textgenWebUIBlockingURL"}

func strip(doc *canon.Node) []string {
	stripped := secret.Strip(doc)
	for _, key := range sensitive {
		if doc.Field(key).Text() != "" {
			twin.Drop(doc, "/"+key)
			stripped = append(stripped, "/"+key)
		}
	}
	return stripped
}

package chatpreset

import (
	"slices"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Before it had prompts, a preset had three texts.
var legacyPrompts = [][3]string{
	{"main", "main_prompt", "Main Prompt"}, {"nsfw", "nsfw_prompt", "Auxiliary Prompt"}, {"jailbreak", "jailbreak_prompt", "Post-History Instructions"},
}

// isLegacy knows such a preset.
func isLegacy(doc *canon.Node) bool {
	return doc.Field("prompts") == nil && slices.ContainsFunc(legacyPrompts, func(p [3]string) bool { return doc.Field(p[1]) != nil })
}

func switchedOn(doc *canon.Node, key string) bool {
	v, _ := twin.Bool.Read(doc.Field(key))
	return v.Raw() == "true"
}

func readLegacy(doc *canon.Node) *canon.Node {
	var blocks []*canon.Node
	for _, p := range legacyPrompts {
		if doc.Field(p[1]) == nil {
			continue
		}
		b := canon.NewObject()
		twin.Set(b, "/id", canon.NewText(p[0]))
		twin.Set(b, "/name", canon.NewText(p[2]))
		twin.Set(b, "/role", canon.NewText("system"))
		if text := doc.Field(p[1]).Text(); text != "" {
			twin.Set(b, "/content", canon.NewText(text))
		}
		twin.Set(b, "/enabled", canon.NewBool(p[0] != "nsfw" || doc.Field("nsfw_toggle") == nil || switchedOn(doc, "nsfw_toggle")))
		blocks = append(blocks, b)
	}
	if len(blocks) > 1 && blocks[0].Field("id").Text() == "main" && blocks[1].Field("id").Text() == "nsfw" && switchedOn(doc, "nsfw_first") {
		blocks[0], blocks[1] = blocks[1], blocks[0]
	}
	return canon.NewArray(blocks...)
}

// writeLegacy writes the texts, and reports whether that is all that has changed.
func writeLegacy(doc, val *canon.Node) bool {
	try := doc.Clone()
	for _, b := range val.Items() {
		for _, p := range legacyPrompts {
			if p[0] != b.Field("id").Text() {
				continue
			}
			if text := b.Field("content").Text(); text != doc.Field(p[1]).Text() {
				twin.Set(try, canon.JoinPointer(p[1]), canon.NewText(text))
			}
			if on := b.Field("enabled").Raw() == "true"; p[0] == "nsfw" && on != switchedOn(doc, "nsfw_toggle") && doc.Field("nsfw_toggle") != nil {
				twin.Set(try, "/nsfw_toggle", twin.Bool.Write(canon.NewBool(on), doc.Field("nsfw_toggle")))
			}
		}
	}
	if !canon.Equal(readLegacy(try), val) {
		return false
	}
	twin.Set(doc, "", try)
	return true
}

// writeModern writes blocks that the three texts cannot hold as prompts, with the
// built-in markers around them: a preset whose order lacks them would send no chat.
func writeModern(doc, val *canon.Node) []twin.Loss {
	var prompts []*canon.Node
	for _, b := range readLegacy(doc).Items() {
		p := twin.Parsed(freshPrompt)
		twin.Set(p, "/identifier", b.Field("id"))
		twin.Set(p, "/system_prompt", canon.NewBool(true))
		twin.Lay(p, promptFields, b)
		prompts = append(prompts, p)
	}
	blocks, from := withMarkers(doc, val)
	for _, key := range []string{"main_prompt", "nsfw_prompt", "jailbreak_prompt", "nsfw_toggle", "nsfw_first", "enhance_definitions"} {
		twin.Drop(doc, "/"+key)
	}
	twin.Set(doc, "/prompts", canon.NewArray(prompts...))
	twin.Set(doc, "/prompt_order", canon.NewArray())
	losses := []twin.Loss{{
		Value: "main_prompt, nsfw_prompt, jailbreak_prompt", Verdict: twin.Approximated,
		Reason: "the three texts of an old preset cannot hold the blocks; they become prompts, with SillyTavern's own markers in their usual places",
	}}
	for _, l := range planOf(doc, "").write(doc, blocks) {
		toks, err := canon.SplitPointer(l.Path)
		if err == nil && len(toks) > 0 {
			if i, err := strconv.Atoi(toks[0]); err == nil {
				toks[0] = itoa(from[i])
			}
			l.Path = canon.JoinPointer(toks...)
		}
		losses = append(losses, l)
	}
	return losses
}

// withMarkers is the blocks with those markers that they lack, and where each was.
func withMarkers(doc, val *canon.Node) (blocks *canon.Node, from []int) {
	has := map[string]bool{}
	for _, b := range val.Items() {
		has[b.Field("marker").Text()] = true
	}
	var list []*canon.Node
	add := func(on bool, ids ...string) {
		for _, id := range ids {
			if m := markerOf(id); m == "" || !has[m] {
				b, _ := row{id: id, enabled: on}.block()
				list, from = append(list, b), append(from, 0)
			}
		}
	}
	before := func() {
		add(true, "worldInfoBefore", "personaDescription", "charDescription", "charPersonality", "scenario")
	}
	after := func() { add(true, "worldInfoAfter", "dialogueExamples", "chatHistory") }
	put := 0
	for i, b := range val.Items() {
		if id := b.Field("id").Text(); put < 2 && (id == "jailbreak" || i == 1) {
			if put == 0 {
				before()
				put = 1
			}
			if id == "jailbreak" {
				after()
				put = 2
			}
		}
		list, from = append(list, b), append(from, i)
	}
	if put == 0 {
		before()
	}
	if put < 2 {
		after()
	}
	if doc.Field("enhance_definitions") != nil {
		add(switchedOn(doc, "enhance_definitions"), "enhanceDefinitions")
	}
	return canon.NewArray(list...), from
}

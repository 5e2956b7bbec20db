package sillytavern

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// scoreChat knows a preset of chat completion by its prompts and their order, else by
// keys that only such presets have; and an export of the prompt manager.
func scoreChat(doc *canon.Node) float64 {
	for _, foreign := range []string{"spec", "entries", "findRegex", "qrList", "kind"} {
		if doc.Field(foreign) != nil {
			return 0
		}
	}
	if isManager(doc) {
		return 0.95
	}
	prompts := hasPrompts(doc.Field("prompts"))
	switch {
	case prompts && doc.Field("prompt_order").Kind() == canon.Array:
		return 0.9
	case doc.Field("type") != nil || doc.Field("data") != nil:
		return 0
	case prompts:
		return 0.85
	}
	for _, key := range []string{"chat_completion_source", "openai_max_context", "openai_max_tokens", "temp_openai", "openai_model"} {
		if doc.Field(key) != nil {
			return 0.8
		}
	}
	if doc.Field("main_prompt") != nil && (doc.Field("jailbreak_prompt") != nil || doc.Field("nsfw_prompt") != nil) {
		return 0.8
	}
	return 0
}

func hasPrompts(list *canon.Node) bool {
	for _, p := range list.Items() {
		if p.Field("identifier").Kind() == canon.String {
			return true
		}
	}
	return false
}

// isManager knows an export of the prompt manager: prompts and one order, no settings.
func isManager(doc *canon.Node) bool {
	t := doc.Field("type").Text()
	return (t == "full" || t == "character") && doc.At("/data/prompts").Kind() == canon.Array
}

const (
	freshChat  = `{"prompts":[],"prompt_order":[]}`
	noSuchChat = "a chat preset of SillyTavern has no such field"
)

// chatSettings are all values of a chat preset but its blocks.
var chatSettings = []twin.Field{
	{Path: "/name", Ptr: "/name", Codec: twin.Text},
	lost("/description", twin.Text, noSuchChat),
	lost("/author", twin.Text, noSuchChat),
	lost("/groups", twin.TextList, "SillyTavern has no groups of prompts"),
	lost("/choices", twin.TextList, "SillyTavern asks no questions; write the answers into the prompts"),
	lost("/stops", twin.TextList, "SillyTavern keeps stop strings in its settings, not in a preset"),
	alt("/samplers/temperature", sampler("/temperature"), sampler("/temp_openai")),
	alt("/samplers/frequencyPenalty", sampler("/frequency_penalty"), sampler("/freq_pen_openai")),
	alt("/samplers/presencePenalty", sampler("/presence_penalty"), sampler("/pres_pen_openai")),
	alt("/samplers/topP", sampler("/top_p"), sampler("/top_p_openai")),
	alt("/samplers/topK", sampler("/top_k"), sampler("/top_k_openai")),
	alt("/samplers/topA", sampler("/top_a"), sampler("/top_a_openai")),
	alt("/samplers/minP", sampler("/min_p"), sampler("/min_p_openai")),
	alt("/samplers/repetitionPenalty", sampler("/repetition_penalty"), sampler("/repetition_penalty_openai")),
	lost("/samplers/typicalP", twin.Number, noSuchChat),
	lost("/samplers/tailFree", twin.Number, noSuchChat),
	lost("/samplers/repetitionRange", twin.Number, noSuchChat),
	{Path: "/samplers/seed", Ptr: "/seed", Codec: twin.Sampler},
	{Path: "/samplers/n", Ptr: "/n", Codec: twin.Sampler},
	{Path: "/samplers/maxContext", Ptr: "/openai_max_context", Codec: twin.Sampler},
	{Path: "/samplers/maxTokens", Ptr: "/openai_max_tokens", Codec: twin.Sampler},
	{Path: "/behavior/stream", Ptr: "/stream_openai", Codec: twin.Bool},
	{Path: "/behavior/reasoning", Ptr: "/reasoning_effort", Codec: twin.Text},
	{Path: "/behavior/showThoughts", Ptr: "/show_thoughts", Codec: twin.Bool},
	{Path: "/behavior/verbosity", Ptr: "/verbosity", Codec: twin.Text},
	{Path: "/behavior/squashSystem", Ptr: "/squash_system_messages", Codec: twin.Bool},
	alt("/behavior/systemPrompt", plain("/use_sysprompt", twin.Bool), plain("/claude_use_sysprompt", twin.Bool), plain("/use_makersuite_sysprompt", twin.Bool)),
	{Path: "/behavior/names", Over: &names},
	{Path: "/behavior/wrapQuotes", Ptr: "/wrap_in_quotes", Codec: twin.Bool},
	lost("/behavior/wrapFormat", twin.Text, "SillyTavern puts no wrapper around prompts"),
	{Path: "/behavior/maxContextFree", Ptr: "/max_context_unlocked", Codec: twin.Bool},
	{Path: "/behavior/continuePrefill", Ptr: "/continue_prefill", Codec: twin.Bool},
	{Path: "/behavior/functionCalling", Ptr: "/function_calling", Codec: twin.Bool},
	{Path: "/behavior/webSearch", Ptr: "/enable_web_search", Codec: twin.Bool},
	alt("/behavior/images", plain("/image_inlining", twin.Bool), plain("/media_inlining", twin.Bool)),
	{Path: "/behavior/imageQuality", Ptr: "/inline_image_quality", Codec: twin.Text},
	{Path: "/behavior/videos", Ptr: "/video_inlining", Codec: twin.Bool},
	{Path: "/behavior/audio", Ptr: "/audio_inlining", Codec: twin.Bool},
	{Path: "/behavior/postProcessing", Ptr: "/custom_prompt_post_processing", Codec: twin.Text},
	lost("/behavior/ignoreCardPrompt", twin.Bool, "SillyTavern has one such setting for all presets"),
	{Path: "/prompts/prefill", Ptr: "/assistant_prefill", Codec: twin.Text},
	{Path: "/prompts/impersonation", Ptr: "/impersonation_prompt", Codec: twin.Text},
	{Path: "/prompts/impersonationPrefill", Ptr: "/assistant_impersonation", Codec: twin.Text},
	{Path: "/prompts/newChat", Ptr: "/new_chat_prompt", Codec: twin.Text},
	{Path: "/prompts/newGroupChat", Ptr: "/new_group_chat_prompt", Codec: twin.Text},
	{Path: "/prompts/newExample", Ptr: "/new_example_chat_prompt", Codec: twin.Text},
	{Path: "/prompts/continue", Ptr: "/continue_nudge_prompt", Codec: twin.Text},
	{Path: "/prompts/continueGlue", Ptr: "/continue_postfix", Codec: twin.Text},
	{Path: "/prompts/groupNudge", Ptr: "/group_nudge_prompt", Codec: twin.Text},
	{Path: "/prompts/sendIfEmpty", Ptr: "/send_if_empty", Codec: twin.Text},
	{Path: "/prompts/firstUser", Ptr: "/human_sysprompt_message", Codec: twin.Text},
	{Path: "/templates/lore", Ptr: "/wi_format", Codec: twin.Text},
	{Path: "/templates/scenario", Ptr: "/scenario_format", Codec: twin.Text},
	{Path: "/templates/personality", Ptr: "/personality_format", Codec: twin.Text},
	lost("/templates/story", twin.Text, "it is for text completion"),
	lost("/templates/instruct", twin.TextMap, "it is for text completion"),
	lost("/templates/context", twin.TextMap, "it is for text completion"),
	lost("/templates/reasoning", twin.TextMap, "it is for text completion"),
	lost("/templates/prompt", twin.Text, "a chat preset of SillyTavern is made of prompts, not of one text"),
}

func plain(ptr string, c twin.Codec) twin.Field { return twin.Field{Ptr: ptr, Codec: c} }

func sampler(ptr string) twin.Field { return plain(ptr, twin.Sampler) }

// names is a number, and before that was a switch.
var names = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if doc.Field("names_behavior").Kind() != canon.Null {
			return nameWords.Read(doc.Field("names_behavior"))
		}
		if v, _ := twin.Flag.Read(doc.Field("names_in_completion")); v != nil {
			return canon.NewText("completion"), ""
		}
		return nil, ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		drop(doc, "/names_in_completion")
		if val == nil {
			drop(doc, "/names_behavior")
			return nil
		}
		if why := nameWords.Lossy(val); why != "" {
			drop(doc, "/names_behavior")
			return []twin.Loss{{Value: twin.Clip(val), Verdict: twin.Dropped, Reason: why}}
		}
		set(doc, "/names_behavior", nameWords.Write(val, nil))
		return nil
	},
}

var nameWords = twin.Words([2]string{"-1", "none"}, [2]string{"0", "default"}, [2]string{"1", "completion"}, [2]string{"2", "content"})

// chatFields are the fields of a document: of a preset all, of an export of the prompt
// manager the blocks.
func chatFields(doc *canon.Node) []twin.Field {
	if !isManager(doc) {
		return append([]twin.Field{{Path: "/blocks", Over: blocksAt("")}}, chatSettings...)
	}
	fields := []twin.Field{{Path: "/blocks", Over: blocksAt("/data")}}
	for _, f := range chatSettings {
		reason := f.Reason
		if reason == "" {
			reason = "an export of the prompt manager holds prompts and no settings"
		}
		fields = append(fields, lost(f.Path, twin.Text, reason))
	}
	return fields
}

// scriptsAt is where a preset carries regex scripts of its own.
const scriptsAt = "/extensions/regex_scripts"

func readChat(f content.File) (content.Reading, error) {
	body, problems := twin.Read(f.Doc, chatFields(f.Doc))
	r := one(content.KindPreset, f, body, append(problems, strays(f.Doc)...))
	scripts := f.Doc.At(scriptsAt)
	if scripts.Kind() != canon.Array || scripts.Len() == 0 {
		return r, nil
	}
	body, problem := regexBody(scripts)
	if problem != "" {
		r.Warnings = append(r.Warnings, scriptsAt+": "+problem)
	}
	name := content.NameFromFile(f.Name, 0) + " scripts"
	set(body, "/name", canon.NewText(name))
	r.Found = append(r.Found, content.Found{
		Kind: content.KindRegex, Body: body,
		Original: &store.Escrow{Format: nameRegex, Name: name + ".json", Raw: carrier.WriteJSON(nil, scripts.Bytes())},
	})
	r.Found[0].Links = []content.FoundLink{{Path: "/regexes", List: true, To: 1}}
	return r, nil
}

func writeChat(w content.Writing) (content.Written, error) {
	s, err := sheetOf(w, freshChat, "/name")
	if err != nil {
		return content.Written{}, err
	}
	losses := twin.Lay(s.doc, chatFields(s.doc), s.body)
	losses = append(losses, layScripts(s, w.Linked)...)
	stripped := strip(s.doc)
	out := s.written(losses)
	out.Stripped = stripped
	return out, nil
}

// layScripts writes the regex sets that the preset names into it. A set that is not at
// hand leaves what the file has.
func layScripts(s sheet, linked []store.Piece) (losses []content.Loss) {
	names := s.body.Field("regexes")
	if names == nil && s.doc.At(scriptsAt) == nil {
		return nil
	}
	all, here := canon.NewArray(), 0
	for i, id := range names.Items() {
		found := false
		for _, p := range linked {
			if p.Kind != content.KindRegex || p.ID != id.Text() {
				continue
			}
			if body, err := canon.ParseTree(p.Body); err == nil {
				found = true
				all = joined(all, body.Field("rules"))
			}
		}
		switch {
		case found:
			here++
		case s.doc.At(scriptsAt) == nil:
			losses = append(losses, content.Loss{
				Path: canon.JoinPointer("regexes", itoa(i)), Value: id.Text(), Verdict: twin.Dropped,
				Reason: "a preset of SillyTavern carries its scripts, and there is no such regex set at hand",
			})
		}
	}
	if names != nil && here < names.Len() {
		return losses
	}
	was, _ := rules.Read(s.doc.At(scriptsAt))
	if was == nil && all.Len() == 0 {
		return losses
	}
	if isManager(s.doc) {
		return append(losses, content.Loss{Path: "/regexes", Value: twin.Clip(names), Verdict: twin.Dropped, Reason: "an export of the prompt manager holds no scripts"})
	}
	put, more := layRules(all, s.doc.At(scriptsAt))
	for _, l := range more {
		l.Path = "/regexes" + l.Path
		losses = append(losses, l)
	}
	if !canon.Equal(was, all) {
		set(s.doc, scriptsAt, put)
	}
	return losses
}

// joined is both lists; a rule whose id is taken gets another.
func joined(a, b *canon.Node) *canon.Node {
	taken := map[string]bool{}
	var list []*canon.Node
	for _, half := range []*canon.Node{a, b} {
		for _, r := range half.Items() {
			r, id := r.Clone(), r.Field("id").Text()
			for n := 2; taken[r.Field("id").Text()]; n++ {
				set(r, "/id", canon.NewText(id+"-"+itoa(n)))
			}
			taken[r.Field("id").Text()] = true
			list = append(list, r)
		}
	}
	return canon.NewArray(list...)
}

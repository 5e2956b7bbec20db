package chatpreset

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

const noSuchField = "a chat preset of SillyTavern has no such field"

// settings are all values of a chat preset but its blocks.
var settings = []twin.Field{
	{Path: "/name", Ptr: "/name", Codec: twin.Text},
	twin.Lost("/description", twin.Text, noSuchField),
	twin.Lost("/author", twin.Text, noSuchField),
	twin.Lost("/groups", twin.TextList, "SillyTavern has no groups of prompts"),
	twin.Lost("/choices", twin.TextList, "SillyTavern asks no questions; write the answers into the prompts"),
	twin.Lost("/hooks", twin.Text, "they are a program of another platform's; SillyTavern has regex scripts, which set variables too: write them by hand"),
	twin.Lost("/stops", twin.TextList, "SillyTavern keeps stop strings in its settings, not in a preset"),
	twin.Alt("/samplers/temperature", sampler("/temperature"), sampler("/temp_openai")),
	twin.Alt("/samplers/frequencyPenalty", sampler("/frequency_penalty"), sampler("/freq_pen_openai")),
	twin.Alt("/samplers/presencePenalty", sampler("/presence_penalty"), sampler("/pres_pen_openai")),
	twin.Alt("/samplers/topP", sampler("/top_p"), sampler("/top_p_openai")),
	twin.Alt("/samplers/topK", sampler("/top_k"), sampler("/top_k_openai")),
	twin.Alt("/samplers/topA", sampler("/top_a"), sampler("/top_a_openai")),
	twin.Alt("/samplers/minP", sampler("/min_p"), sampler("/min_p_openai")),
	twin.Alt("/samplers/repetitionPenalty", sampler("/repetition_penalty"), sampler("/repetition_penalty_openai")),
	twin.Lost("/samplers/typicalP", twin.Number, noSuchField),
	twin.Lost("/samplers/tailFree", twin.Number, noSuchField),
	twin.Lost("/samplers/repetitionRange", twin.Number, noSuchField),
	{Path: "/samplers/seed", Ptr: "/seed", Codec: twin.Sampler},
	{Path: "/samplers/n", Ptr: "/n", Codec: twin.Sampler},
	{Path: "/samplers/maxContext", Ptr: "/openai_max_context", Codec: twin.Sampler},
	{Path: "/samplers/maxTokens", Ptr: "/openai_max_tokens", Codec: twin.Sampler},
	{Path: "/behavior/stream", Ptr: "/stream_openai", Codec: twin.Bool},
	{Path: "/behavior/reasoning", Ptr: "/reasoning_effort", Codec: twin.Text},
	{Path: "/behavior/showThoughts", Ptr: "/show_thoughts", Codec: twin.Bool},
	{Path: "/behavior/verbosity", Ptr: "/verbosity", Codec: twin.Text},
	{Path: "/behavior/squashSystem", Ptr: "/squash_system_messages", Codec: twin.Bool},
	twin.Alt("/behavior/systemPrompt", twin.Plain("/use_sysprompt", twin.Bool), twin.Plain("/claude_use_sysprompt", twin.Bool), twin.Plain("/use_makersuite_sysprompt", twin.Bool)),
	{Path: "/behavior/names", Over: &names},
	{Path: "/behavior/wrapQuotes", Ptr: "/wrap_in_quotes", Codec: twin.Bool},
	twin.Lost("/behavior/wrapFormat", twin.Text, "SillyTavern puts no wrapper around prompts"),
	{Path: "/behavior/maxContextFree", Ptr: "/max_context_unlocked", Codec: twin.Bool},
	{Path: "/behavior/continuePrefill", Ptr: "/continue_prefill", Codec: twin.Bool},
	{Path: "/behavior/functionCalling", Ptr: "/function_calling", Codec: twin.Bool},
	{Path: "/behavior/webSearch", Ptr: "/enable_web_search", Codec: twin.Bool},
	twin.Alt("/behavior/images", twin.Plain("/image_inlining", twin.Bool), twin.Plain("/media_inlining", twin.Bool)),
	{Path: "/behavior/imageQuality", Ptr: "/inline_image_quality", Codec: twin.Text},
	{Path: "/behavior/videos", Ptr: "/video_inlining", Codec: twin.Bool},
	{Path: "/behavior/audio", Ptr: "/audio_inlining", Codec: twin.Bool},
	{Path: "/behavior/postProcessing", Ptr: "/custom_prompt_post_processing", Codec: twin.Text},
	twin.Lost("/behavior/ignoreCardPrompt", twin.Bool, "SillyTavern has one such setting for all presets"),
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
	twin.Lost("/templates/story", twin.Text, "it is for text completion"),
	twin.Lost("/templates/instruct", twin.TextMap, "it is for text completion"),
	twin.Lost("/templates/context", twin.TextMap, "it is for text completion"),
	twin.Lost("/templates/reasoning", twin.TextMap, "it is for text completion"),
	twin.Lost("/templates/prompt", twin.Text, "a chat preset of SillyTavern is made of prompts, not of one text"),
}

func sampler(ptr string) twin.Field { return twin.Plain(ptr, twin.Sampler) }

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
		twin.Drop(doc, "/names_in_completion")
		if val == nil {
			twin.Drop(doc, "/names_behavior")
			return nil
		}
		if why := nameWords.Lossy(val); why != "" {
			twin.Drop(doc, "/names_behavior")
			return []twin.Loss{{Value: twin.Clip(val), Verdict: twin.Dropped, Reason: why}}
		}
		twin.Set(doc, "/names_behavior", nameWords.Write(val, nil))
		return nil
	},
}

var nameWords = twin.Words([2]string{"-1", "none"}, [2]string{"0", "default"}, [2]string{"1", "completion"}, [2]string{"2", "content"})

// Fields are the fields of a document: of a preset all, of an export of the prompt
// manager the blocks.
func Fields(doc *canon.Node) []twin.Field {
	if !IsManager(doc) {
		return append([]twin.Field{{Path: "/blocks", Over: blocksAt("")}}, settings...)
	}
	fields := []twin.Field{{Path: "/blocks", Over: blocksAt("/data")}}
	for _, f := range settings {
		reason := f.Reason
		if reason == "" {
			reason = "an export of the prompt manager holds prompts and no settings"
		}
		fields = append(fields, twin.Lost(f.Path, twin.Text, reason))
	}
	return fields
}

// HasPrompts reports a list of prompts with identifiers.
func HasPrompts(list *canon.Node) bool {
	for _, p := range list.Items() {
		if p.Field("identifier").Kind() == canon.String {
			return true
		}
	}
	return false
}

// IsEmpty knows a preset that was made with no prompt yet.
func IsEmpty(doc *canon.Node) bool {
	prompts, order := doc.Field("prompts"), doc.Field("prompt_order")
	return prompts.Kind() == canon.Array && order.Kind() == canon.Array && prompts.Len() == 0
}

// IsManager knows an export of the prompt manager: prompts and one order, no settings.
func IsManager(doc *canon.Node) bool {
	t := doc.Field("type").Text()
	return (t == "full" || t == "character") && doc.At("/data/prompts").Kind() == canon.Array
}

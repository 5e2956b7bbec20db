package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/tool"
)

func presetTools(d Deps) []tool.Tool {
	return []tool.Tool{
		presetCreateTool(d), presetSettingsTool(d), presetSamplersTool(d), presetBlocksTool(d), presetGroupsTool(d), presetChoicesTool(d), presetCopyTool(d),
	}
}

// An ImageQuality is how fine a picture is sent.
type ImageQuality string

// Enum lists the qualities.
func (ImageQuality) Enum() []string { return []string{"auto", "low", "high"} }

// PresetCreateIn is a new preset.
type PresetCreateIn struct {
	ID           string       `json:"id,omitempty" jsonschema:"the id: lower case letters, digits and dashes; derived from the name if left out"`
	Name         string       `json:"name" jsonschema:"the preset's name"`
	Description  string       `json:"description,omitempty" jsonschema:"what it is for; never sent"`
	Author       string       `json:"author,omitempty" jsonschema:"who made it"`
	Blocks       []BlockIn    `json:"blocks,omitempty" jsonschema:"the first prompt blocks, in the order in which they are sent; a block with a marker stands for the chat history, the character and so on"`
	Samplers     SamplersIn   `json:"samplers,omitzero" jsonschema:"numbers of a request; what is left out is not said in the file"`
	Images       *bool        `json:"images,omitempty" jsonschema:"media inlining: pictures of the chat go into the request"`
	ImageQuality ImageQuality `json:"image_quality,omitempty" jsonschema:"how fine pictures are sent"`
	Videos       *bool        `json:"videos,omitempty" jsonschema:"media inlining: videos go into the request"`
	Audio        *bool        `json:"audio,omitempty" jsonschema:"media inlining: sound goes into the request"`
	Stops        []string     `json:"stops,omitempty" jsonschema:"stop sequences"`
}

func presetCreateTool(d Deps) tool.Tool {
	const id = "studio.preset.create"
	return tool.New(drafting(id, "Create a preset", "Create a new preset, with prompt blocks, samplers and media inlining if wanted, as a draft.",
		"Only the name is needed. A preset for a chat needs a block with the marker chat_history. An id that is taken is refused.",
		"new preset", "make a prompt preset", "chat completion preset", "jailbreak preset", "prompt manager setup", "write a preset"),
		func(ctx context.Context, call tool.Call, in PresetCreateIn) (drafted, error) {
			p := Preset{Name: in.Name, Description: in.Description, Author: in.Author, Stops: in.Stops, Behavior: Behavior{
				Images: in.Images, ImageQuality: string(in.ImageQuality), Videos: in.Videos, Audio: in.Audio,
			}}
			return createNoted(ctx, d, call, action{KindPreset, id, in.ID}, in, p, func(p *Preset, warn say) error {
				if err := sample(&p.Samplers, in.Samplers, warn); err != nil {
					return err
				}
				made, err := newBlocks(p, in.Blocks)
				p.Blocks = made
				if len(made) > 0 {
					worryMarkers(*p, warn)
				}
				return err
			})
		})
}

// BehaviorIn changes how requests are sent.
type BehaviorIn struct {
	Stream           *bool        `json:"stream,omitempty" jsonschema:"answers come in pieces"`
	Reasoning        *string      `json:"reasoning,omitempty" jsonschema:"effort of reasoning, as the app writes it: low, medium, high, auto …; an empty text clears it"`
	ShowThoughts     *bool        `json:"show_thoughts,omitempty" jsonschema:"ask for the reasoning's text"`
	Verbosity        *string      `json:"verbosity,omitempty" jsonschema:"how long answers are, as the app writes it; an empty text clears it"`
	SquashSystem     *bool        `json:"squash_system,omitempty" jsonschema:"neighbouring system messages become one"`
	SystemPrompt     *bool        `json:"system_prompt,omitempty" jsonschema:"leading system messages go into the provider's own field"`
	Names            *string      `json:"names,omitempty" jsonschema:"how speakers are named: none, default, completion or content; an empty text clears it"`
	WrapQuotes       *bool        `json:"wrap_quotes,omitempty" jsonschema:"user messages are put in quotes"`
	WrapFormat       *string      `json:"wrap_format,omitempty" jsonschema:"how groups are wrapped: xml, markdown or none; an empty text clears it"`
	MaxContextFree   *bool        `json:"max_context_free,omitempty" jsonschema:"the bound of the context is lifted"`
	ContinuePrefill  *bool        `json:"continue_prefill,omitempty" jsonschema:"continue goes on in the assistant's own message"`
	FunctionCalling  *bool        `json:"function_calling,omitempty" jsonschema:"tools are offered to the model"`
	WebSearch        *bool        `json:"web_search,omitempty" jsonschema:"the provider's web search is on"`
	Images           *bool        `json:"images,omitempty" jsonschema:"pictures go into the request"`
	ImageQuality     ImageQuality `json:"image_quality,omitempty" jsonschema:"how fine pictures are sent"`
	Videos           *bool        `json:"videos,omitempty" jsonschema:"videos go into the request"`
	Audio            *bool        `json:"audio,omitempty" jsonschema:"sound goes into the request"`
	PostProcessing   *string      `json:"post_processing,omitempty" jsonschema:"how messages are merged at the end, as the app writes it; an empty text clears it"`
	IgnoreCardPrompt *bool        `json:"ignore_card_prompt,omitempty" jsonschema:"the character's own system prompt is not used"`
}

// UtilityIn changes texts for special requests.
type UtilityIn struct {
	Prefill       *string `json:"prefill,omitempty" jsonschema:"begins the assistant's answer"`
	Impersonation *string `json:"impersonation,omitempty" jsonschema:"asks the model to write as the user"`
	ImperPrefill  *string `json:"impersonation_prefill,omitempty" jsonschema:"begins an impersonation"`
	NewChat       *string `json:"new_chat,omitempty" jsonschema:"stands where a chat begins"`
	NewGroupChat  *string `json:"new_group_chat,omitempty" jsonschema:"stands where a group chat begins"`
	NewExample    *string `json:"new_example,omitempty" jsonschema:"stands before each example"`
	Continue      *string `json:"continue,omitempty" jsonschema:"asks the model to go on"`
	ContinueGlue  *string `json:"continue_glue,omitempty" jsonschema:"stands between the parts of a continued answer"`
	GroupNudge    *string `json:"group_nudge,omitempty" jsonschema:"says who answers in a group"`
	SendIfEmpty   *string `json:"send_if_empty,omitempty" jsonschema:"sent where the user's message is empty"`
	FirstUser     *string `json:"first_user,omitempty" jsonschema:"stands before the first message where a provider wants a user's"`
}

// TemplatesIn changes texts with places in them.
type TemplatesIn struct {
	Lore        *string           `json:"lore,omitempty" jsonschema:"around lorebook texts"`
	Scenario    *string           `json:"scenario,omitempty" jsonschema:"around the scenario"`
	Personality *string           `json:"personality,omitempty" jsonschema:"around the personality"`
	Story       *string           `json:"story,omitempty" jsonschema:"the story string of text completion, in Handlebars"`
	Prompt      *string           `json:"prompt,omitempty" jsonschema:"one text that holds all places"`
	Instruct    map[string]string `json:"instruct,omitempty" jsonschema:"sequences of the instruct template, by the app's names; an empty text takes one away"`
	Context     map[string]string `json:"context,omitempty" jsonschema:"settings of the context template, by the app's names; an empty text takes one away"`
	Reasoning   map[string]string `json:"reasoning,omitempty" jsonschema:"prefix, suffix and separator of reasoning; an empty text takes one away"`
}

// A SwitchField is a switch that can be left to the app again.
type SwitchField string

// Enum lists the switches.
func (SwitchField) Enum() []string {
	return []string{
		"stream", "show_thoughts", "squash_system", "system_prompt", "wrap_quotes", "max_context_free", "continue_prefill", "function_calling",
		"web_search", "images", "image_quality", "videos", "audio", "ignore_card_prompt",
	}
}

// PresetSettingsIn changes a preset but for its blocks and samplers.
type PresetSettingsIn struct {
	ID          string        `json:"id" jsonschema:"the preset's id, as studio.list shows it"`
	Name        *string       `json:"name,omitempty" jsonschema:"the name; it cannot be cleared"`
	Description *string       `json:"description,omitempty" jsonschema:"what it is for; an empty text clears it"`
	Author      *string       `json:"author,omitempty" jsonschema:"who made it; an empty text clears it"`
	Behavior    BehaviorIn    `json:"behavior,omitzero" jsonschema:"how requests are sent"`
	Prompts     UtilityIn     `json:"prompts,omitzero" jsonschema:"texts for special requests; an empty text clears one"`
	Templates   TemplatesIn   `json:"templates,omitzero" jsonschema:"texts with places in them; an empty text clears one"`
	Stops       *[]string     `json:"stops,omitempty" jsonschema:"the whole list of stop sequences; an empty list clears it"`
	Regexes     *[]string     `json:"regexes,omitempty" jsonschema:"ids of regex sets in this studio that belong to it; the whole list"`
	Clear       []SwitchField `json:"clear,omitempty" jsonschema:"switches of behavior to leave to the app's default again"`
}

func presetSettingsTool(d Deps) tool.Tool {
	const id = "preset.settings.update"
	return tool.New(drafting(id, "Update a preset's settings",
		"Change a preset's name, description, behaviour, utility prompts, templates, stop sequences and linked regex sets, as a draft.",
		"Give only what should change. Blocks are preset.blocks.manage's, samplers preset.samplers.update's.",
		"rename the preset", "prefill", "impersonation prompt", "streaming", "reasoning effort", "stop strings", "story string", "instruct template",
		"context template", "squash system messages", "web search", "send images", "utility prompts", "continue prompt", "link a regex"),
		func(ctx context.Context, call tool.Call, in PresetSettingsIn) (drafted, error) {
			return edit(ctx, d, call, action{KindPreset, id, in.ID}, in, func(p *Preset, _ say) error { return resettle(p, in) })
		})
}

func resettle(p *Preset, in PresetSettingsIn) error {
	put(&p.Name, in.Name)
	put(&p.Description, in.Description)
	put(&p.Author, in.Author)
	put(&p.Stops, in.Stops)
	put(&p.Regexes, in.Regexes)
	b := &p.Behavior
	err := unset("preset.settings.update", words(in.Clear), map[string]func(){
		"stream": wipe(&b.Stream), "show_thoughts": wipe(&b.ShowThoughts), "squash_system": wipe(&b.SquashSystem), "system_prompt": wipe(&b.SystemPrompt),
		"wrap_quotes": wipe(&b.WrapQuotes), "max_context_free": wipe(&b.MaxContextFree), "continue_prefill": wipe(&b.ContinuePrefill),
		"function_calling": wipe(&b.FunctionCalling), "web_search": wipe(&b.WebSearch), "images": wipe(&b.Images), "image_quality": wipe(&b.ImageQuality),
		"videos": wipe(&b.Videos), "audio": wipe(&b.Audio), "ignore_card_prompt": wipe(&b.IgnoreCardPrompt),
	})
	behave(b, in.Behavior)
	u, v := &p.Prompts, in.Prompts
	for _, t := range []struct {
		to    *string
		given *string
	}{
		{&u.Prefill, v.Prefill},
		{&u.Impersonation, v.Impersonation},
		{&u.ImperPrefill, v.ImperPrefill},
		{&u.NewChat, v.NewChat},
		{&u.NewGroupChat, v.NewGroupChat},
		{&u.NewExample, v.NewExample},
		{&u.Continue, v.Continue},
		{&u.ContinueGlue, v.ContinueGlue},
		{&u.GroupNudge, v.GroupNudge},
		{&u.SendIfEmpty, v.SendIfEmpty},
		{&u.FirstUser, v.FirstUser},
		{&p.Templates.Lore, in.Templates.Lore},
		{&p.Templates.Scenario, in.Templates.Scenario},
		{&p.Templates.Personality, in.Templates.Personality},
		{&p.Templates.Story, in.Templates.Story},
		{&p.Templates.Prompt, in.Templates.Prompt},
	} {
		put(t.to, t.given)
	}
	p.Templates.Instruct = merge(p.Templates.Instruct, in.Templates.Instruct)
	p.Templates.Context = merge(p.Templates.Context, in.Templates.Context)
	p.Templates.Reasoning = merge(p.Templates.Reasoning, in.Templates.Reasoning)
	return err
}

func behave(b *Behavior, in BehaviorIn) {
	for _, s := range []struct {
		to    **bool
		given *bool
	}{
		{&b.Stream, in.Stream},
		{&b.ShowThoughts, in.ShowThoughts},
		{&b.SquashSystem, in.SquashSystem},
		{&b.SystemPrompt, in.SystemPrompt},
		{&b.WrapQuotes, in.WrapQuotes},
		{&b.MaxContextFree, in.MaxContextFree},
		{&b.ContinuePrefill, in.ContinuePrefill},
		{&b.FunctionCalling, in.FunctionCalling},
		{&b.WebSearch, in.WebSearch},
		{&b.Images, in.Images},
		{&b.Videos, in.Videos},
		{&b.Audio, in.Audio},
		{&b.IgnoreCardPrompt, in.IgnoreCardPrompt},
	} {
		set(s.to, s.given)
	}
	put(&b.Reasoning, in.Reasoning)
	put(&b.Verbosity, in.Verbosity)
	put(&b.Names, in.Names)
	put(&b.WrapFormat, in.WrapFormat)
	put(&b.PostProcessing, in.PostProcessing)
	if in.ImageQuality != "" {
		b.ImageQuality = string(in.ImageQuality)
	}
}

// merge lays texts by name over those that are there; an empty one takes its name away.
func merge(to, given map[string]string) map[string]string {
	for name, text := range given {
		to = assign(to, name, text)
	}
	return to
}

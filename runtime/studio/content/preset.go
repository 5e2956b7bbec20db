package content

import (
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A Preset is what a request is put together from: prompt blocks in order, samplers,
// and how they are sent.
type Preset struct {
	Name        string         `json:"name,omitempty"`
	Description string         `json:"description,omitempty"`
	Author      string         `json:"author,omitempty"`
	Blocks      []Block        `json:"blocks,omitempty"` // in order of evaluation
	Groups      []BlockGroup   `json:"groups,omitempty"`
	Choices     []Choice       `json:"choices,omitempty"`
	Samplers    Samplers       `json:"samplers,omitzero"`
	Behavior    Behavior       `json:"behavior,omitzero"`
	Prompts     UtilityPrompts `json:"prompts,omitzero"`
	Templates   Templates      `json:"templates,omitzero"`
	Stops       []string       `json:"stops,omitempty"`   // stop sequences
	Hooks       string         `json:"hooks,omitempty"`   // a program of a platform's own that reads and sets variables as texts pass; carried, never run
	Regexes     []string       `json:"regexes,omitempty"` // ids of regex sets in this studio
}

// A Block is one part of a prompt.
type Block struct {
	ID              string   `json:"id"` // unique in the preset
	Name            string   `json:"name,omitempty"`
	Role            string   `json:"role,omitempty"` // system, user, assistant
	Content         string   `json:"content,omitempty"`
	Enabled         bool     `json:"enabled"`
	Unlisted        bool     `json:"unlisted,omitempty"` // in no order: kept, and never sent
	Marker          string   `json:"marker,omitempty"`   // what is put here: chat_history, examples, lore_before, lore_after, description, personality, scenario, persona, character, summary, agent, note, memory, other
	Position        string   `json:"position,omitempty"` // relative if absent; depth
	Depth           *int     `json:"depth,omitempty"`    // messages from the end
	Order           *int     `json:"order,omitempty"`    // among blocks of one depth
	Triggers        []string `json:"triggers,omitempty"` // kinds of generation
	ForbidOverrides bool     `json:"forbidOverrides,omitempty"`
	Group           string   `json:"group,omitempty"`  // a group's id
	Wrap            string   `json:"wrap,omitempty"`   // the XML tag put around it
	Sealed          bool     `json:"sealed,omitempty"` // its text is not readable, and is carried as it is
}

// A BlockGroup gathers blocks, for people or for a wrapper.
type BlockGroup struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Parent  string `json:"parent,omitempty"` // a group's id
	Enabled *bool  `json:"enabled,omitempty"`
	Order   *int   `json:"order,omitempty"`
}

// A Choice is a question to the user whose answer is a variable of the prompts.
type Choice struct {
	Key         string   `json:"key"`            // the variable, unique in the preset
	Type        string   `json:"type,omitempty"` // one if absent; many, toggle, text, textarea, number, slider
	Label       string   `json:"label,omitempty"`
	Description string   `json:"description,omitempty"`
	Options     []Option `json:"options,omitempty"`
	Default     []string `json:"default,omitempty"` // option ids, or the text
	Separator   string   `json:"separator,omitempty"`
	Random      bool     `json:"random,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	Min         Number   `json:"min,omitzero"`
	Max         Number   `json:"max,omitzero"`
}

// An Option is one answer.
type Option struct {
	ID     string   `json:"id"`
	Label  string   `json:"label,omitempty"`
	Value  string   `json:"value,omitempty"`
	Blocks []string `json:"blocks,omitempty"` // ids of blocks that it turns on
}

// Samplers are the numbers of a request, as written. null is "the provider's default".
type Samplers struct {
	Temperature       Number `json:"temperature,omitzero"`
	TopP              Number `json:"topP,omitzero"`
	TopK              Number `json:"topK,omitzero"`
	TopA              Number `json:"topA,omitzero"`
	MinP              Number `json:"minP,omitzero"`
	TypicalP          Number `json:"typicalP,omitzero"`
	TailFree          Number `json:"tailFree,omitzero"`
	RepetitionPenalty Number `json:"repetitionPenalty,omitzero"`
	RepetitionRange   Number `json:"repetitionRange,omitzero"`
	FrequencyPenalty  Number `json:"frequencyPenalty,omitzero"`
	PresencePenalty   Number `json:"presencePenalty,omitzero"`
	Seed              Number `json:"seed,omitzero"`
	N                 Number `json:"n,omitzero"`
	MaxContext        Number `json:"maxContext,omitzero"` // tokens
	MaxTokens         Number `json:"maxTokens,omitzero"`  // tokens of an answer
}

// Behavior is how requests are sent. An absent value is the engine's default.
type Behavior struct {
	Stream           *bool  `json:"stream,omitempty"`
	Reasoning        string `json:"reasoning,omitempty"` // as written: low, medium, high, max, auto …
	ShowThoughts     *bool  `json:"showThoughts,omitempty"`
	Verbosity        string `json:"verbosity,omitempty"`
	SquashSystem     *bool  `json:"squashSystem,omitempty"`     // neighbouring system messages become one
	SystemPrompt     *bool  `json:"systemPrompt,omitempty"`     // leading system messages go into the provider's own field
	Names            string `json:"names,omitempty"`            // none, default, completion, content
	WrapQuotes       *bool  `json:"wrapQuotes,omitempty"`       //
	WrapFormat       string `json:"wrapFormat,omitempty"`       // xml, markdown, none
	MaxContextFree   *bool  `json:"maxContextFree,omitempty"`   // the bound of the context is lifted
	ContinuePrefill  *bool  `json:"continuePrefill,omitempty"`  //
	FunctionCalling  *bool  `json:"functionCalling,omitempty"`  //
	WebSearch        *bool  `json:"webSearch,omitempty"`        //
	Images           *bool  `json:"images,omitempty"`           // media goes into the request
	ImageQuality     string `json:"imageQuality,omitempty"`     // auto, low, high
	Videos           *bool  `json:"videos,omitempty"`           //
	Audio            *bool  `json:"audio,omitempty"`            //
	PostProcessing   string `json:"postProcessing,omitempty"`   // as written: merge, semi, strict, single …
	IgnoreCardPrompt *bool  `json:"ignoreCardPrompt,omitempty"` // the character's system prompt is not used
}

// UtilityPrompts are texts for special requests.
type UtilityPrompts struct {
	Prefill       string `json:"prefill,omitempty"` // begins the assistant's answer
	Impersonation string `json:"impersonation,omitempty"`
	ImperPrefill  string `json:"impersonationPrefill,omitempty"`
	NewChat       string `json:"newChat,omitempty"`
	NewGroupChat  string `json:"newGroupChat,omitempty"`
	NewExample    string `json:"newExample,omitempty"`
	Continue      string `json:"continue,omitempty"`
	ContinueGlue  string `json:"continueGlue,omitempty"`
	GroupNudge    string `json:"groupNudge,omitempty"`
	SendIfEmpty   string `json:"sendIfEmpty,omitempty"`
	FirstUser     string `json:"firstUser,omitempty"` // stands before the first message where a provider wants a user's
}

// Templates are texts with places in them, and the sequences of text completion.
type Templates struct {
	Lore        string            `json:"lore,omitempty"`
	Scenario    string            `json:"scenario,omitempty"`
	Personality string            `json:"personality,omitempty"`
	Story       string            `json:"story,omitempty"`    // Handlebars
	Instruct    map[string]string `json:"instruct,omitempty"` // sequences of an instruct template by the format's own names
	Context     map[string]string `json:"context,omitempty"`  // settings of a context template by the format's own names
	Reasoning   map[string]string `json:"reasoning,omitempty"`
	Prompt      string            `json:"prompt,omitempty"` // one text that holds all places
}

func (p Preset) title() string      { return p.Name }
func (p Preset) links() []store.Ref { return refs(KindRegex, p.Regexes...) }

// Markers are what a block can stand for.
var Markers = []string{"chat_history", "examples", "lore_before", "lore_after", "description", "personality", "scenario", "persona", "character", "summary", "agent", "note", "memory", "other"}

func (p Preset) check() error {
	const op = "content.preset"
	groups := map[string]bool{}
	for _, g := range p.Groups {
		if err := unique(op, "group", g.ID, groups); err != nil {
			return err
		}
	}
	ids := map[string]bool{}
	for _, b := range p.Blocks {
		if err := unique(op, "block", b.ID, ids); err != nil {
			return err
		}
		where := "block " + b.ID
		if b.Group != "" && !groups[b.Group] {
			return fault.New(CodeBody, op, "%s is in the group %q, which is not there", where, b.Group)
		}
		for what, w := range map[string][]string{b.Role: roles, b.Marker: Markers, b.Position: {"relative", "depth"}} {
			if err := oneOf(op, where, "role, marker or position", what, w); err != nil {
				return err
			}
		}
	}
	keys := map[string]bool{}
	for _, c := range p.Choices {
		if err := unique(op, "choice", c.Key, keys); err != nil {
			return err
		}
	}
	s := p.Samplers
	for what, n := range map[string]Number{
		"temperature": s.Temperature, "topP": s.TopP, "topK": s.TopK, "topA": s.TopA, "minP": s.MinP, "typicalP": s.TypicalP, "tailFree": s.TailFree,
		"repetitionPenalty": s.RepetitionPenalty, "repetitionRange": s.RepetitionRange, "frequencyPenalty": s.FrequencyPenalty,
		"presencePenalty": s.PresencePenalty, "seed": s.Seed, "n": s.N, "maxContext": s.MaxContext, "maxTokens": s.MaxTokens,
	} {
		if err := number(op, "samplers."+what, n); err != nil {
			return err
		}
	}
	return nil
}

package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// A Role is who speaks an injected text.
type Role string

// Enum lists the roles.
func (Role) Enum() []string { return []string{"system", "user", "assistant"} }

// InjectionIn is one depth injection.
type InjectionIn struct {
	Content string `json:"content" jsonschema:"the text to put into the chat"`
	Depth   int    `json:"depth" jsonschema:"how many messages from the end of the chat; 0 is behind the last one"`
	Role    Role   `json:"role,omitempty" jsonschema:"who speaks it; system if left out"`
	ID      string `json:"id,omitempty" jsonschema:"the id that its engine knows it by, as it is now; leave out for a new one"`
	Off     bool   `json:"off,omitempty" jsonschema:"keep it without putting it into the chat"`
}

// A TraitKind is how attributes are spelled.
type TraitKind string

// Enum lists the spellings.
func (TraitKind) Enum() []string {
	return []string{spellWPP, spellSBF, spellBoost, "attributes", spellPlain}
}

// TraitIn is one attribute.
type TraitIn struct {
	Name   string   `json:"name" jsonschema:"the attribute, such as species"`
	Values []string `json:"values" jsonschema:"its values; an empty list removes it"`
}

// TraitsIn changes structured attributes. What is left out stays.
type TraitsIn struct {
	Kind       TraitKind `json:"kind,omitempty" jsonschema:"how they are spelled; it stays if left out, and is attributes if there was none"`
	Text       *string   `json:"text,omitempty" jsonschema:"all of them as one text in the spelling of kind: [character(\"Ada\") { species(\"human\") }]; an empty text clears them"`
	Attributes []TraitIn `json:"attributes,omitempty" jsonschema:"attributes to set or remove one by one; others stay"`
}

// PromptsIn changes what a model plays from. What is left out stays; "" clears.
type PromptsIn struct {
	ID              string         `json:"id" jsonschema:"the character's id, as studio.list shows it"`
	Variant         string         `json:"variant,omitempty" jsonschema:"edit this variant instead of the character itself"`
	Description     *string        `json:"description,omitempty" jsonschema:"who the character is: the main prose; an empty text clears it"`
	Personality     *string        `json:"personality,omitempty" jsonschema:"the personality in short; an empty text clears it"`
	Scenario        *string        `json:"scenario,omitempty" jsonschema:"where and when it plays; an empty text clears it"`
	Appearance      *string        `json:"appearance,omitempty" jsonschema:"what the character looks like; an empty text clears it"`
	Backstory       *string        `json:"backstory,omitempty" jsonschema:"what happened before; an empty text clears it"`
	System          *string        `json:"system,omitempty" jsonschema:"replaces the main prompt of the preset; {{original}} stands for what it replaces; an empty text clears it"`
	PostHistory     *string        `json:"post_history,omitempty" jsonschema:"instructions behind the chat history; an empty text clears them"`
	Examples        *string        `json:"examples,omitempty" jsonschema:"example dialogue; each block begins with a line <START>; an empty text clears it"`
	Prefill         *string        `json:"prefill,omitempty" jsonschema:"begins the assistant's answer; an empty text clears it"`
	AdditionalText  *string        `json:"additional_text,omitempty" jsonschema:"more of the description, which an engine places by itself; an empty text clears it"`
	Traits          *TraitsIn      `json:"traits,omitempty" jsonschema:"structured attributes in W++, SBF, boostyle or plain"`
	DepthInjections *[]InjectionIn `json:"depth_injections,omitempty" jsonschema:"the whole list of texts put into the chat at a depth; an empty list clears it"`
}

func promptsTool(d Deps) tool.Tool {
	const id = "character.prompts.update"
	return tool.New(drafting(id, "Update a character's prompts",
		"Change a character's description, personality, scenario, system prompts, examples and depth injections, as a draft.",
		"Give only the fields that should change, each with its whole new text. Several calls compose into one draft.",
		"description", "personality", "scenario", "backstory", "appearance", "system prompt", "jailbreak", "example dialogue", "depth prompt",
		"author's note", "rewrite", "prefill", "start the reply with", "W++", "SBF", "boostyle", "attributes", "traits"), func(ctx context.Context, call tool.Call, in PromptsIn) (tool.Reply[preview.Drafted], error) {
		return edit(ctx, d, call, action{KindCharacter, id, in.ID}, in, func(c *Character, warn say) error {
			f, err := c.fields(in.Variant)
			if err != nil {
				return err
			}
			put(&f.Persona.Description, in.Description)
			put(&f.Persona.Personality, in.Personality)
			put(&f.Persona.Scenario, in.Scenario)
			put(&f.Persona.Appearance, in.Appearance)
			put(&f.Persona.Backstory, in.Backstory)
			put(&f.Prompts.System, in.System)
			put(&f.Prompts.PostHistory, in.PostHistory)
			put(&f.Examples, in.Examples)
			if in.DepthInjections != nil {
				f.Prompts.DepthInjections = injections(*in.DepthInjections)
			}
			put(&f.Prompts.Prefill, in.Prefill)
			put(&f.Prompts.AdditionalText, in.AdditionalText)
			return f.Persona.Structured.update(in.Traits, c.Identity.Name, warn)
		})
	})
}

func injections(in []InjectionIn) []Injection {
	var list []Injection
	for _, i := range in {
		if i.Role == "" {
			i.Role = "system"
		}
		list = append(list, Injection{Content: i.Content, Depth: i.Depth, Role: string(i.Role), ID: i.ID, Off: i.Off})
	}
	return list
}

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
	DepthInjections *[]InjectionIn `json:"depth_injections,omitempty" jsonschema:"the whole list of texts put into the chat at a depth; an empty list clears it"`
}

func promptsTool(d Deps) tool.Tool {
	const id = "character.prompts.update"
	return tool.New(tool.Spec{
		ID: id, Title: "Update a character's prompts", Effect: tool.Draft, Exposure: tool.Deferred,
		Domain: "content", Kind: KindCharacter, Area: "prompts", Action: "update", Concurrency: "piece:character/{id}",
		Aliases: []string{
			"description", "personality", "scenario", "backstory", "appearance", "system prompt", "jailbreak",
			"example dialogue", "depth prompt", "author's note", "rewrite",
		},
		Summary:     "Change a character's description, personality, scenario, system prompts, examples and depth injections, as a draft.",
		Description: "Give only the fields that should change, each with its whole new text. Several calls compose into one draft.",
	}, func(ctx context.Context, call tool.Call, in PromptsIn) (tool.Reply[preview.Drafted], error) {
		return editFields(ctx, d, call, action{KindCharacter, id, in.ID}, in.Variant, in, func(f *Fields) error {
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
			return nil
		})
	})
}

func injections(in []InjectionIn) []Injection {
	var list []Injection
	for _, i := range in {
		if i.Role == "" {
			i.Role = "system"
		}
		list = append(list, Injection{Content: i.Content, Depth: i.Depth, Role: string(i.Role)})
	}
	return list
}

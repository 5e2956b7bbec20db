package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// CreateIn is a new character.
type CreateIn struct {
	ID           string   `json:"id,omitempty" jsonschema:"the id: lower case letters, digits and dashes; derived from the name if left out"`
	Name         string   `json:"name" jsonschema:"the character's name"`
	Nickname     string   `json:"nickname,omitempty" jsonschema:"what macros such as {{char}} say instead of the name"`
	Tagline      string   `json:"tagline,omitempty" jsonschema:"one line for the shelf; never sent to a model"`
	Description  string   `json:"description,omitempty" jsonschema:"who the character is: the main prose that a model plays from"`
	Personality  string   `json:"personality,omitempty" jsonschema:"the personality in short"`
	Scenario     string   `json:"scenario,omitempty" jsonschema:"where and when it plays"`
	FirstMessage string   `json:"first_message,omitempty" jsonschema:"what the character says first"`
	Examples     string   `json:"examples,omitempty" jsonschema:"example dialogue; each block begins with a line <START>"`
	CreatorNotes string   `json:"creator_notes,omitempty" jsonschema:"notes for people who use the card; never sent to a model"`
	Creator      string   `json:"creator,omitempty" jsonschema:"who made the character"`
	Tags         []string `json:"tags,omitempty" jsonschema:"tags for the shelf"`
}

func createTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.character.create", Title: "Create a character", Effect: tool.Draft, Exposure: tool.Deferred,
		Domain: "content", Kind: KindCharacter, Area: "lifecycle", Action: "create",
		Aliases:     []string{"new character", "make a character", "character card", "write a character"},
		Concurrency: "piece:character/{id}",
		Summary:     "Create a new character, as a draft.",
		Description: "Only the name is needed; the other fields can be added now or later. An id that is taken is refused, never changed.",
	}, func(ctx context.Context, call tool.Call, in CreateIn) (tool.Reply[preview.Drafted], error) {
		c := Character{Fields: Fields{
			Identity:  Identity{Name: in.Name, Nickname: in.Nickname, Tagline: in.Tagline},
			Persona:   Prose{Description: in.Description, Personality: in.Personality, Scenario: in.Scenario},
			Greetings: Greetings{First: in.FirstMessage}, Examples: in.Examples,
		}, Attribution: Attribution{Creator: in.Creator}, Discovery: Discovery{Tags: in.Tags, CreatorNotes: in.CreatorNotes}}
		return create(ctx, d, call, action{KindCharacter, "studio.character.create", in.ID}, in, c)
	})
}

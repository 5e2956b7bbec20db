package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// CreateIn is a new character.
type CreateIn struct {
	ID           string    `json:"id,omitempty" jsonschema:"the id: lower case letters, digits and dashes; derived from the name if left out"`
	Name         string    `json:"name" jsonschema:"the character's name"`
	Nickname     string    `json:"nickname,omitempty" jsonschema:"what macros such as {{char}} say instead of the name"`
	Tagline      string    `json:"tagline,omitempty" jsonschema:"one line for the shelf; never sent to a model"`
	Description  string    `json:"description,omitempty" jsonschema:"who the character is: the main prose that a model plays from"`
	Personality  string    `json:"personality,omitempty" jsonschema:"the personality in short"`
	Scenario     string    `json:"scenario,omitempty" jsonschema:"where and when it plays"`
	FirstMessage string    `json:"first_message,omitempty" jsonschema:"what the character says first"`
	Examples     string    `json:"examples,omitempty" jsonschema:"example dialogue; each block begins with a line <START>"`
	CreatorNotes string    `json:"creator_notes,omitempty" jsonschema:"notes for people who use the card; never sent to a model"`
	Creator      string    `json:"creator,omitempty" jsonschema:"who made the character"`
	Tags         []string  `json:"tags,omitempty" jsonschema:"tags for the shelf"`
	Portrait     string    `json:"portrait,omitempty" jsonschema:"the picture of the card: a data: URI, an http(s) address, asset:ID or archive:PATH; stored, not fetched"`
	Assets       []AssetIn `json:"assets,omitempty" jsonschema:"more media that the card names: backgrounds, icons, faces"`
}

func createTool(d Deps) tool.Tool {
	return tool.New(drafting("studio.character.create", "Create a character",
		"Create a new character, as a draft.",
		"Only the name is needed; the other fields can be added now or later. An id that is taken is refused, never changed.",
		"new character", "make a character", "character card", "write a character"), func(ctx context.Context, call tool.Call, in CreateIn) (tool.Reply[preview.Drafted], error) {
		c := Character{Fields: Fields{
			Identity:  Identity{Name: in.Name, Nickname: in.Nickname, Tagline: in.Tagline},
			Persona:   Prose{Description: in.Description, Personality: in.Personality, Scenario: in.Scenario},
			Greetings: Greetings{First: in.FirstMessage}, Examples: in.Examples,
		}, Attribution: Attribution{Creator: in.Creator}, Discovery: Discovery{Tags: in.Tags, CreatorNotes: in.CreatorNotes}}
		return createNoted(ctx, d, call, action{KindCharacter, "studio.character.create", in.ID}, in, c, func(c *Character, _ say) error {
			list, err := reassets(nil, MediaIn{Add: in.Assets})
			c.Media.Assets = list
			if err != nil {
				return err
			}
			return portrait(&c.Media.Portrait, &in.Portrait)
		})
	})
}

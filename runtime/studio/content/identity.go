package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// IdentityIn changes who a character is. What is left out stays; "" clears.
type IdentityIn struct {
	ID       string  `json:"id" jsonschema:"the character's id, as studio.list shows it"`
	Variant  string  `json:"variant,omitempty" jsonschema:"edit this variant instead of the character itself"`
	Name     *string `json:"name,omitempty" jsonschema:"the name; it cannot be cleared"`
	Nickname *string `json:"nickname,omitempty" jsonschema:"what macros such as {{char}} say instead of the name; an empty text clears it"`
	Tagline  *string `json:"tagline,omitempty" jsonschema:"one line for the shelf; an empty text clears it"`
	FullName *string `json:"full_name,omitempty" jsonschema:"the name in full; an empty text clears it"`
	Title    *string `json:"title,omitempty" jsonschema:"a title or epithet; an empty text clears it"`
	Age      *string `json:"age,omitempty" jsonschema:"the age, in words or figures; an empty text clears it"`
	Pronouns *string `json:"pronouns,omitempty" jsonschema:"the pronouns; an empty text clears them"`
}

func identityTool(d Deps) tool.Tool {
	const id = "character.identity.update"
	return tool.New(drafting(id, "Update a character's identity",
		"Change a character's name, nickname, tagline and other identity fields, as a draft.",
		"Give only the fields that should change. The id stays when the name changes. Several calls compose into one draft.",
		"rename", "change the name", "nickname", "tagline", "title", "age", "pronouns", "full name", "casting card"), func(ctx context.Context, call tool.Call, in IdentityIn) (tool.Reply[preview.Drafted], error) {
		return editFields(ctx, d, call, action{KindCharacter, id, in.ID}, in.Variant, in, func(f *Fields) error {
			i := &f.Identity
			put(&i.Name, in.Name)
			put(&i.Nickname, in.Nickname)
			put(&i.Tagline, in.Tagline)
			put(&i.FullName, in.FullName)
			put(&i.Title, in.Title)
			put(&i.Age, in.Age)
			put(&i.Pronouns, in.Pronouns)
			return nil
		})
	})
}

// put sets what was given.
func put[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}

package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// NotesIn are creator notes in one language.
type NotesIn struct {
	Language string `json:"language" jsonschema:"the ISO 639-1 code, such as de"`
	Notes    string `json:"notes" jsonschema:"the notes in that language; an empty text removes them"`
}

// MetadataIn changes what shelves and readers see. What is left out stays; "" clears.
type MetadataIn struct {
	ID           string    `json:"id" jsonschema:"the character's id, as studio.list shows it"`
	Tags         *[]string `json:"tags,omitempty" jsonschema:"the whole list of tags; an empty list clears it"`
	AddTags      []string  `json:"add_tags,omitempty" jsonschema:"tags to append; one that is there already is left as it is"`
	RemoveTags   []string  `json:"remove_tags,omitempty" jsonschema:"tags to take away, upper or lower case"`
	CreatorNotes *string   `json:"creator_notes,omitempty" jsonschema:"notes for people who use the card, never sent to a model; an empty text clears them"`
	Multilingual []NotesIn `json:"multilingual,omitempty" jsonschema:"creator notes in other languages; languages that are not named stay"`
	Rating       *string   `json:"rating,omitempty" jsonschema:"the content rating, as the site words it, such as sfw, nsfw, all_hours; an empty text clears it"`
	Warnings     *[]string `json:"warnings,omitempty" jsonschema:"the whole list of content warnings; an empty list clears it"`
	Genre        *string   `json:"genre,omitempty" jsonschema:"the genre; an empty text clears it"`
	Fandom       *string   `json:"fandom,omitempty" jsonschema:"the fandom; an empty text clears it"`
	Creator      *string   `json:"creator,omitempty" jsonschema:"who made the character; an empty text clears it"`
	Version      *string   `json:"version,omitempty" jsonschema:"the creator's version of the card, such as 1.2; an empty text clears it"`
	Source       *[]string `json:"source,omitempty" jsonschema:"the whole list of addresses and ids that it comes from; an empty list clears it"`
}

func metadataTool(d Deps) tool.Tool {
	const id = "character.metadata.update"
	return tool.New(drafting(id, "Update a character's metadata",
		"Change a character's tags, credits, rating, content warnings and creator notes, as a draft.",
		"What shelves and readers see; nothing of it is sent to a model. Give only what should change. Several calls compose into one draft.",
		"tags", "tag it", "label", "creator", "author credit", "attribution", "version", "source", "content rating", "nsfw", "content warning",
		"trigger warning", "creator notes", "translate the notes", "genre", "fandom"),
		func(ctx context.Context, call tool.Call, in MetadataIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindCharacter, id, in.ID}, in, func(c *Character, _ say) error {
				a, s := &c.Attribution, &c.Discovery
				s.Tags = retag(s.Tags, in.Tags, in.AddTags, in.RemoveTags)
				put(&s.CreatorNotes, in.CreatorNotes)
				put(&s.Rating, in.Rating)
				put(&s.Warnings, in.Warnings)
				put(&s.Genre, in.Genre)
				put(&s.Fandom, in.Fandom)
				put(&a.Creator, in.Creator)
				put(&a.Version, in.Version)
				put(&a.Source, in.Source)
				for _, n := range in.Multilingual {
					s.Multilingual = assign(s.Multilingual, n.Language, n.Notes)
				}
				return nil
			})
		})
}

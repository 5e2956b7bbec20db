package content

import (
	"context"
	"slices"

	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// LinksIn changes what a character is linked to. What is left out stays.
type LinksIn struct {
	ID              string    `json:"id" jsonschema:"the character's id, as studio.list shows it"`
	AddLorebooks    []string  `json:"add_lorebooks,omitempty" jsonschema:"ids of lorebooks of this studio to link"`
	RemoveLorebooks []string  `json:"remove_lorebooks,omitempty" jsonschema:"ids of lorebooks to unlink"`
	AddPacks        []string  `json:"add_packs,omitempty" jsonschema:"ids of media packs of this studio to link"`
	RemovePacks     []string  `json:"remove_packs,omitempty" jsonschema:"ids of media packs to unlink"`
	AddRegexes      []string  `json:"add_regexes,omitempty" jsonschema:"ids of regex sets of this studio to link"`
	RemoveRegexes   []string  `json:"remove_regexes,omitempty" jsonschema:"ids of regex sets to unlink"`
	Lorebooks       *[]string `json:"lorebooks,omitempty" jsonschema:"instead of adding and removing: the whole list of lorebooks in a new order"`
	WorldName       *string   `json:"world_name,omitempty" jsonschema:"the lorebook by the name that files have for it, for programs that link by name; an empty text clears it"`
}

// linkRoll finds linked pieces by their ids.
var linkRoll = rows[string]{"link", func(id string) string { return id }}

func linksTool(d Deps) tool.Tool {
	const id = "character.links.update"
	return tool.New(drafting(id, "Update a character's links",
		"Link a character to lorebooks, media packs and regex sets of this studio, or unlink it, as a draft.",
		"Links are by id. A link to a piece that is not there is kept, and is a warning on the draft. The linked pieces stay as they are.",
		"attach a lorebook", "link the world", "world info", "bind a lorebook", "connect", "detach", "unlink", "sprite pack", "regex scripts", "world name"),
		func(ctx context.Context, call tool.Call, in LinksIn) (tool.Reply[preview.Drafted], error) {
			dead, err := d.dead(ctx, call, slices.Concat(
				refs(KindLorebook, in.AddLorebooks...), refs(KindPack, in.AddPacks...), refs(KindRegex, in.AddRegexes...), refs(KindLorebook, given(in.Lorebooks)...)))
			if err != nil {
				return tool.Reply[preview.Drafted]{}, err
			}
			return edit(ctx, d, call, action{KindCharacter, id, in.ID}, in, func(c *Character, warn say) error {
				warnDead(warn, dead)
				put(&c.WorldName, in.WorldName)
				put(&c.Links.Lorebooks, in.Lorebooks)
				for _, l := range []struct {
					list        *[]string
					add, remove []string
				}{
					{&c.Links.Lorebooks, in.AddLorebooks, in.RemoveLorebooks},
					{&c.Links.Packs, in.AddPacks, in.RemovePacks},
					{&c.Links.Regexes, in.AddRegexes, in.RemoveRegexes},
				} {
					if err := relink(l.list, l.add, l.remove); err != nil {
						return err
					}
				}
				return nil
			})
		})
}

// relink appends links that are not there yet, and takes others away.
func relink(list *[]string, add, remove []string) error {
	for _, id := range add {
		if !slices.Contains(*list, id) {
			*list = append(*list, id)
		}
	}
	kept, _, err := linkRoll.remove(*list, remove)
	if err == nil {
		*list = kept
	}
	return err
}

func warnDead(warn say, dead []store.Ref) {
	for _, ref := range dead {
		warn("there is no %s in this studio: the link leads nowhere until there is one", ref)
	}
}

func given[T any](list *[]T) []T {
	if list == nil {
		return nil
	}
	return *list
}

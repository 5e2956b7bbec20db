package content

import (
	"context"
	"slices"

	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// NewPackGroup is a group to add.
type NewPackGroup struct {
	Name  string   `json:"name" jsonschema:"the group's name, such as Winter coat"`
	Items []string `json:"items,omitempty" jsonschema:"ids of items of the pack"`
}

// PackGroupPatch changes a group that is there. What is left out stays.
type PackGroupPatch struct {
	Name    string    `json:"name" jsonschema:"the group's name, as it is now"`
	NewName *string   `json:"new_name,omitempty" jsonschema:"a new name"`
	Items   *[]string `json:"items,omitempty" jsonschema:"the whole list of ids; an empty list clears it"`
	Add     []string  `json:"add,omitempty" jsonschema:"ids of items to put in"`
	Remove  []string  `json:"remove,omitempty" jsonschema:"ids of items to take out; they stay in the pack"`
}

// PackGroupsIn manages the groups of a pack.
type PackGroupsIn struct {
	ID     string           `json:"id" jsonschema:"the pack's id, as studio.list shows it"`
	Add    []NewPackGroup   `json:"add,omitempty" jsonschema:"groups to append"`
	Update []PackGroupPatch `json:"update,omitempty" jsonschema:"groups to change, by name"`
	Remove []string         `json:"remove,omitempty" jsonschema:"names of groups to remove; their items stay in the pack"`
	Order  []string         `json:"order,omitempty" jsonschema:"names of groups in a new order; groups that are not named follow"`
}

func packGroupsTool(d Deps) tool.Tool {
	const id = "pack.groups.manage"
	return tool.New(drafting(id, "Manage a pack's groups", "Add, rename, fill, remove and reorder named groups of items in a media pack, as a draft.",
		"A group is a named choice of items: a costume, a mood. Add, update, remove and order run in this order.",
		"costume", "outfit", "mood group", "group the sprites", "collection of sprites", "album"),
		func(ctx context.Context, call tool.Call, in PackGroupsIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindPack, id, in.ID}, in, func(p *Pack, _ say) error { return p.regroup(in) })
		})
}

func (p *Pack) regroup(in PackGroupsIn) error {
	for _, g := range in.Add {
		p.Groups = append(p.Groups, PackGroup(g))
	}
	for _, u := range in.Update {
		i, err := packGroups.at(p.Groups, u.Name)
		if err != nil {
			return err
		}
		if err := p.Groups[i].update(u); err != nil {
			return err
		}
	}
	var err error
	if p.Groups, _, err = packGroups.remove(p.Groups, in.Remove); err == nil {
		p.Groups, err = packGroups.ordered(p.Groups, in.Order)
	}
	return err
}

// update changes a group; an item that is not in the pack is refused with the body.
func (g *PackGroup) update(u PackGroupPatch) error {
	put(&g.Name, u.NewName)
	put(&g.Items, u.Items)
	for _, id := range u.Add {
		if !slices.Contains(g.Items, id) {
			g.Items = append(g.Items, id)
		}
	}
	kept, _, err := rows[string]{"item", func(id string) string { return id }}.remove(g.Items, u.Remove)
	if err == nil {
		g.Items = kept
	}
	return err
}

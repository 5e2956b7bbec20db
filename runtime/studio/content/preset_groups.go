package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// GroupIn is a new group of blocks.
type GroupIn struct {
	GroupID string   `json:"group_id,omitempty" jsonschema:"its id; made of the name if left out"`
	Name    string   `json:"name" jsonschema:"the group's name"`
	Parent  string   `json:"parent,omitempty" jsonschema:"the id of the group that it is in"`
	Blocks  []string `json:"blocks,omitempty" jsonschema:"ids of blocks that go into it"`
}

// GroupChange changes a group.
type GroupChange struct {
	GroupID string  `json:"group_id" jsonschema:"the group's id"`
	Name    *string `json:"name,omitempty" jsonschema:"a new name"`
	Parent  *string `json:"parent,omitempty" jsonschema:"the id of the group that it goes into; an empty text puts it at the top"`
	Enabled *bool   `json:"enabled,omitempty" jsonschema:"switch the whole group on or off, where an app knows that"`
	Order   *int    `json:"order,omitempty" jsonschema:"its order among groups"`
}

// GroupMove puts blocks into a group.
type GroupMove struct {
	Blocks  []string `json:"blocks" jsonschema:"ids of the blocks"`
	GroupID string   `json:"group_id" jsonschema:"the group's id; an empty text takes them out of theirs"`
}

// PresetGroupsIn changes the groups of a preset.
type PresetGroupsIn struct {
	ID     string        `json:"id" jsonschema:"the preset's id, as studio.list shows it"`
	Create []GroupIn     `json:"create,omitempty" jsonschema:"new groups"`
	Update []GroupChange `json:"update,omitempty" jsonschema:"groups to rename, move or switch"`
	Assign []GroupMove   `json:"assign,omitempty" jsonschema:"blocks to put into groups"`
	Remove []string      `json:"remove,omitempty" jsonschema:"ids of groups to remove; their blocks and groups stay, and go where the group was"`
}

var blockGroups = rows[BlockGroup]{"group", func(g BlockGroup) string { return g.ID }}

func presetGroupsTool(d Deps) tool.Tool {
	const id = "preset.groups.manage"
	return tool.New(drafting(id, "Manage a preset's groups",
		"Make, rename, nest, switch and remove the groups of a preset's blocks, and put blocks into them, as a draft.",
		"Create, update, assign and remove run in this order. No block is removed with its group.",
		"group blocks", "prompt categories", "sort the prompts into groups", "put a block into a group", "ungroup", "folder of prompts"),
		func(ctx context.Context, call tool.Call, in PresetGroupsIn) (drafted, error) {
			return edit(ctx, d, call, action{KindPreset, id, in.ID}, in, func(p *Preset, warn say) error { return manageGroups(p, in, warn) })
		})
}

func manageGroups(p *Preset, in PresetGroupsIn, warn say) error {
	taken := blockGroups.taken(p.Groups)
	for _, g := range in.Create {
		id, err := blockGroups.claim(taken, g.GroupID, g.Name)
		if err != nil {
			return err
		}
		p.Groups = append(p.Groups, BlockGroup{ID: id, Name: g.Name, Parent: g.Parent})
		if err := intoGroup(p, g.Blocks, id); err != nil {
			return err
		}
	}
	for _, c := range in.Update {
		i, err := blockGroups.at(p.Groups, c.GroupID)
		if err != nil {
			return err
		}
		g := &p.Groups[i]
		put(&g.Name, c.Name)
		put(&g.Parent, c.Parent)
		set(&g.Enabled, c.Enabled)
		set(&g.Order, c.Order)
	}
	for _, m := range in.Assign {
		if err := intoGroup(p, m.Blocks, m.GroupID); err != nil {
			return err
		}
	}
	for _, id := range in.Remove {
		if err := dropGroup(p, id, warn); err != nil {
			return err
		}
	}
	return nested(blockGroups, p.Groups, func(g BlockGroup) string { return g.Parent })
}

func intoGroup(p *Preset, ids []string, group string) error {
	if group != "" {
		if _, err := blockGroups.at(p.Groups, group); err != nil {
			return err
		}
	}
	at, err := presetBlocks.all(p.Blocks, ids)
	for _, i := range at {
		p.Blocks[i].Group = group
	}
	return err
}

func dropGroup(p *Preset, id string, warn say) error {
	kept, gone, err := blockGroups.remove(p.Groups, []string{id})
	if err != nil {
		return err
	}
	parent := gone[0].Parent
	var moved []string
	for i := range p.Blocks {
		if b := &p.Blocks[i]; b.Group == id {
			b.Group = parent
			moved = append(moved, b.ID)
		}
	}
	for i := range kept {
		if kept[i].Parent == id {
			kept[i].Parent = parent
		}
	}
	where := "no group"
	if parent != "" {
		where = "the group " + parent
	}
	if len(moved) > 0 {
		warn("group %q goes, and these blocks are in %s then: %s", id, where, some(moved))
	}
	p.Groups = kept
	return nil
}

package content

import (
	"context"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// CodeSealed says that the text of a block is not to be read or written.
const CodeSealed fault.Code = "PRESET_SEALED"

// A Marker is what a block stands for.
type Marker string

// Enum lists the markers.
func (Marker) Enum() []string { return Markers }

// A BlockPosition is how a block is placed.
type BlockPosition string

// Enum lists the positions.
func (BlockPosition) Enum() []string { return []string{"relative", "depth"} }

// BlockIn is a new prompt block.
type BlockIn struct {
	BlockID  string        `json:"block_id,omitempty" jsonschema:"its id in the preset; made of the name if left out"`
	Name     string        `json:"name,omitempty" jsonschema:"a name for people"`
	Role     Role          `json:"role,omitempty" jsonschema:"who speaks it"`
	Content  string        `json:"content,omitempty" jsonschema:"its text"`
	Marker   Marker        `json:"marker,omitempty" jsonschema:"what is put here instead of a text"`
	Disabled bool          `json:"disabled,omitempty" jsonschema:"keep it switched off"`
	Position BlockPosition `json:"position,omitempty" jsonschema:"relative to the other blocks (if left out), or at a depth of the chat"`
	Depth    *int          `json:"depth,omitempty" jsonschema:"for position depth: messages from the end"`
	Order    *int          `json:"order,omitempty" jsonschema:"among blocks of one depth"`
	Group    string        `json:"group,omitempty" jsonschema:"the id of a group of the preset"`
	Wrap     string        `json:"wrap,omitempty" jsonschema:"the XML tag put around it"`
}

// BlockChange changes a block. What is left out stays.
type BlockChange struct {
	BlockID         string        `json:"block_id" jsonschema:"the block's id"`
	Name            *string       `json:"name,omitempty" jsonschema:"a name for people; an empty text clears it"`
	Role            Role          `json:"role,omitempty" jsonschema:"who speaks it"`
	Content         *string       `json:"content,omitempty" jsonschema:"its whole text; an empty text clears it"`
	Position        BlockPosition `json:"position,omitempty" jsonschema:"relative, or depth"`
	Depth           *int          `json:"depth,omitempty" jsonschema:"messages from the end"`
	Order           *int          `json:"order,omitempty" jsonschema:"among blocks of one depth"`
	Triggers        *[]string     `json:"triggers,omitempty" jsonschema:"only for these kinds of generation: normal, continue, impersonate, swipe, regenerate, quiet; the whole list"`
	ForbidOverrides *bool         `json:"forbid_overrides,omitempty" jsonschema:"a character's own prompt does not replace it"`
	Group           *string       `json:"group,omitempty" jsonschema:"the id of a group; an empty text takes it out"`
	Wrap            *string       `json:"wrap,omitempty" jsonschema:"the XML tag put around it; an empty text clears it"`
	Unlisted        *bool         `json:"unlisted,omitempty" jsonschema:"keep it out of the order: it is not sent"`
}

// BlockMove moves blocks.
type BlockMove struct {
	Blocks []string `json:"blocks" jsonschema:"ids of the blocks, in their new order"`
	Place  Place    `json:"place" jsonschema:"where they go together"`
	Beside string   `json:"beside,omitempty" jsonschema:"for before and after: a block's id"`
}

// PresetBlocksIn changes the prompt blocks of a preset.
type PresetBlocksIn struct {
	ID      string        `json:"id" jsonschema:"the preset's id, as studio.list shows it"`
	Update  []BlockChange `json:"update,omitempty" jsonschema:"blocks to change"`
	Enable  []string      `json:"enable,omitempty" jsonschema:"ids of blocks to switch on"`
	Disable []string      `json:"disable,omitempty" jsonschema:"ids of blocks to switch off"`
	Remove  []string      `json:"remove,omitempty" jsonschema:"ids of blocks to remove"`
	Create  []BlockIn     `json:"create,omitempty" jsonschema:"new blocks, in order"`
	Place   Place         `json:"place,omitempty" jsonschema:"where the new blocks go; last if left out"`
	Beside  string        `json:"beside,omitempty" jsonschema:"for before and after: a block's id"`
	Move    []BlockMove   `json:"move,omitempty" jsonschema:"blocks to move"`
}

var presetBlocks = rows[Block]{"block", func(b Block) string { return b.ID }}

func presetBlocksTool(d Deps) tool.Tool {
	const id = "preset.blocks.manage"
	return tool.New(drafting(id, "Manage a preset's prompt blocks",
		"Add, change, enable, disable, move and remove the prompt blocks of a preset, as a draft.",
		"Update, enable, disable, remove, create and move run in this order. To keep what is removed, set it aside with studio.graveyard_bury instead.",
		"edit a prompt", "add a prompt block", "turn off a block", "main prompt", "jailbreak prompt", "post-history block", "move a block", "reorder prompts",
		"delete a prompt", "system prompt of the preset", "prompt order", "toggle a prompt"),
		func(ctx context.Context, call tool.Call, in PresetBlocksIn) (drafted, error) {
			return edit(ctx, d, call, action{KindPreset, id, in.ID}, in, func(p *Preset, warn say) error { return manageBlocks(p, in, warn) })
		})
}

func manageBlocks(p *Preset, in PresetBlocksIn, warn say) error {
	before := p.markers()
	for _, c := range in.Update {
		if err := updateBlock(p, c); err != nil {
			return err
		}
	}
	for _, on := range []bool{true, false} {
		ids := in.Enable
		if !on {
			ids = in.Disable
		}
		at, err := presetBlocks.all(p.Blocks, ids)
		if err != nil {
			return err
		}
		for _, i := range at {
			p.Blocks[i].Enabled = on
		}
	}
	if err := dropBlocks(p, in.Remove, warn); err != nil {
		return err
	}
	made, err := newBlocks(p, in.Create)
	if err != nil {
		return err
	}
	if p.Blocks, err = presetBlocks.insert(p.Blocks, made, spot{in.Place, in.Beside}); err != nil {
		return err
	}
	for _, m := range in.Move {
		if p.Blocks, err = presetBlocks.move(p.Blocks, m.Blocks, spot{m.Place, m.Beside}); err != nil {
			return err
		}
	}
	worryChanged(before, p.markers(), warn)
	return nil
}

// newBlocks are blocks for a preset, with ids that it does not have.
func newBlocks(p *Preset, in []BlockIn) ([]Block, error) {
	if len(in) > maxItems {
		return nil, tooMany("block", len(in))
	}
	taken := presetBlocks.taken(p.Blocks)
	var made []Block
	for _, i := range in {
		name := i.Name
		if name == "" {
			name = strings.ReplaceAll(string(i.Marker), "_", " ")
		}
		id, err := presetBlocks.claim(taken, i.BlockID, name)
		if err != nil {
			return nil, err
		}
		b := Block{
			ID: id, Name: i.Name, Role: string(i.Role), Content: i.Content, Enabled: !i.Disabled, Marker: string(i.Marker),
			Position: string(i.Position), Depth: i.Depth, Order: i.Order, Group: i.Group, Wrap: i.Wrap,
		}
		if err := checkBlock(p, b); err != nil {
			return nil, err
		}
		made = append(made, b)
	}
	return made, nil
}

func checkBlock(p *Preset, b Block) error {
	if b.Group != "" {
		if _, err := blockGroups.at(p.Groups, b.Group); err != nil {
			return err
		}
	}
	return between("preset.blocks.manage", "the depth of block "+b.ID, b.Depth, maxDepth)
}

func updateBlock(p *Preset, c BlockChange) error {
	i, err := presetBlocks.at(p.Blocks, c.BlockID)
	if err != nil {
		return err
	}
	b := &p.Blocks[i]
	if b.Sealed && c.Content != nil {
		return fault.New(CodeSealed, "preset.blocks.manage", "the text of block %q is sealed by its author", b.ID).
			WithHint("it can be moved, switched and removed; add a block of your own for another text")
	}
	put(&b.Name, c.Name)
	put(&b.Content, c.Content)
	if c.Role != "" {
		b.Role = string(c.Role)
	}
	if c.Position != "" {
		b.Position = string(c.Position)
	}
	set(&b.Depth, c.Depth)
	set(&b.Order, c.Order)
	put(&b.Triggers, c.Triggers)
	put(&b.ForbidOverrides, c.ForbidOverrides)
	put(&b.Group, c.Group)
	put(&b.Wrap, c.Wrap)
	put(&b.Unlisted, c.Unlisted)
	return checkBlock(p, *b)
}

// dropBlocks removes blocks, also out of the options that turn them on.
func dropBlocks(p *Preset, ids []string, warn say) error {
	kept, gone, err := presetBlocks.remove(p.Blocks, ids)
	if err != nil {
		return err
	}
	p.Blocks = kept
	for _, b := range gone {
		for i := range p.Choices {
			c := &p.Choices[i]
			for k := range c.Options {
				o := &c.Options[k]
				if slices.Contains(o.Blocks, b.ID) {
					o.Blocks = slices.DeleteFunc(o.Blocks, func(id string) bool { return id == b.ID })
					warn("block %q goes, which the option %q of the choice %q turned on", b.ID, o.ID, c.Key)
				}
			}
		}
		if b.Sealed {
			warn("block %q goes, whose sealed text cannot be written again", b.ID)
		}
	}
	return nil
}

// markers counts what blocks that are sent stand for.
func (p Preset) markers() map[string]int {
	n := map[string]int{}
	for _, b := range p.Blocks {
		if b.Marker != "" && b.Enabled && !b.Unlisted {
			n[b.Marker]++
		}
	}
	return n
}

// single are the markers that a request has once.
var single = []string{"chat_history", "examples", "lore_before", "lore_after", "description", "personality", "scenario", "persona"}

// worryMarkers says what a new preset lacks.
func worryMarkers(p Preset, warn say) {
	if p.markers()["chat_history"] == 0 {
		warn("no block stands for the chat history: apps that go by blocks would send none")
	}
	worryChanged(map[string]int{}, p.markers(), warn)
}

func worryChanged(before, after map[string]int, warn say) {
	for _, m := range single {
		if before[m] > 0 && after[m] == 0 {
			warn("no block that is sent stands for %s any more", strings.ReplaceAll(m, "_", " "))
		}
		if after[m] > 1 && after[m] > before[m] {
			warn("%d blocks stand for %s: it would be sent more than once", after[m], strings.ReplaceAll(m, "_", " "))
		}
	}
}

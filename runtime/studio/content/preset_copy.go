package content

import (
	"context"
	"maps"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// PresetCopyIn copies blocks of one preset into another.
type PresetCopyIn struct {
	ID     string   `json:"id" jsonschema:"the id of the preset that gets the copies"`
	From   string   `json:"from" jsonschema:"the id of the preset that has the blocks; it is not changed"`
	Blocks []string `json:"blocks" jsonschema:"ids of the blocks to copy, in the order in which they are to stand"`
	Place  Place    `json:"place,omitempty" jsonschema:"where the copies go together; last if left out"`
	Beside string   `json:"beside,omitempty" jsonschema:"for before and after: the id of a block in the preset that gets them"`
}

func presetCopyTool(d Deps) tool.Tool {
	const id = "preset.copy_blocks"
	return tool.New(tool.Spec{
		ID: id, Title: "Copy blocks between presets", Effect: tool.Draft, Exposure: tool.Direct,
		Domain: "content", Kind: KindPreset, Area: "blocks", Action: "copy", Concurrency: "piece:preset/{id}",
		Aliases:     []string{"copy a prompt from another preset", "take a block over", "borrow prompts"},
		Summary:     "Copy prompt blocks of one preset into another, as a draft.",
		Description: "Each copy gets an id of its own, and stands first, last, before or after a named block. The other preset is not changed.",
	}, func(ctx context.Context, call tool.Call, in PresetCopyIn) (drafted, error) {
		base, err := d.base(ctx, call, action{KindPreset, id, in.From})
		if err != nil {
			return drafted{}, err
		}
		from, err := Parse[Preset](base.Piece.Body)
		if err != nil {
			return drafted{}, err
		}
		return edit(ctx, d, call, action{KindPreset, id, in.ID}, in, func(p *Preset, warn say) error {
			return copyBlocks(p, from, in.Blocks, spot{in.Place, in.Beside}, warn)
		})
	})
}

// copyBlocks puts copies of blocks into a preset. A copy's id is neither one of the
// preset nor one of where it comes from.
func copyBlocks(p *Preset, from Preset, ids []string, to spot, warn say) error {
	if len(ids) == 0 {
		return fault.New(CodeNoItem, "preset.copy_blocks", "blocks is an empty list").WithHint("give the ids of the blocks that are meant")
	}
	at, err := presetBlocks.all(from.Blocks, ids)
	if err != nil {
		return err
	}
	before := p.markers()
	taken := presetBlocks.taken(p.Blocks)
	maps.Copy(taken, presetBlocks.taken(from.Blocks))
	var copies []Block
	for _, i := range at {
		b := from.Blocks[i]
		was := b.ID
		name := b.Name
		if name == "" {
			name = was
		}
		b.ID = freshID(taken, name, "block")
		taken[b.ID] = true
		if b.Group != "" && !slices.Contains(blockGroups.ids(p.Groups), b.Group) {
			warn("the copy of %q is in no group: there is no group %q here", was, b.Group)
			b.Group = ""
		}
		worryCopied(from, was, warn)
		copies = append(copies, b)
	}
	if p.Blocks, err = presetBlocks.insert(p.Blocks, copies, to); err != nil {
		return err
	}
	worryChanged(before, p.markers(), warn)
	return nil
}

// worryCopied says what of the other preset a copy leaves behind.
func worryCopied(from Preset, id string, warn say) {
	i, err := presetBlocks.at(from.Blocks, id)
	if err != nil {
		return
	}
	for _, c := range from.Choices {
		for _, o := range c.Options {
			if slices.Contains(o.Blocks, id) {
				warn("the choice %q, whose option %q turns %q on, is not copied", c.Key, o.ID, id)
			}
		}
		if reads(from.Blocks[i].Content, c.Key) {
			warn("%q reads the variable of the choice %q, which is not copied", id, c.Key)
		}
	}
}

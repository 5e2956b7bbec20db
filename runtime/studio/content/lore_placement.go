package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// A PlacementField is what an entry can leave to the app again.
type PlacementField string

// Enum lists the fields.
func (PlacementField) Enum() []string {
	return []string{"position", "depth", "role", "sort_order", "priority", "display_index", "group_weight", "group_scoring"}
}

// LorePlacementIn changes where an entry's text goes.
type LorePlacementIn struct {
	ID               string           `json:"id" jsonschema:"the lorebook's id, as studio.list shows it"`
	Entry            string           `json:"entry" jsonschema:"the entry's id, as studio.read shows it"`
	Position         LorePosition     `json:"position,omitempty" jsonschema:"where the text goes: before or after the character, around the author's note or the examples, at a depth, into an outlet"`
	Depth            *int             `json:"depth,omitempty" jsonschema:"for position depth: messages from the end of the chat"`
	Role             Role             `json:"role,omitempty" jsonschema:"who speaks it at a depth"`
	Outlet           *string          `json:"outlet,omitempty" jsonschema:"for position outlet: its name; an empty text clears it"`
	SortOrder        *int             `json:"sort_order,omitempty" jsonschema:"order among texts of one place: higher is nearer to the end of the chat"`
	Priority         *int             `json:"priority,omitempty" jsonschema:"the lowest is dropped first when the token budget ends"`
	DisplayIndex     *int             `json:"display_index,omitempty" jsonschema:"place in an app's editor"`
	Group            *string          `json:"group,omitempty" jsonschema:"a group, of which one entry enters; a comma list for several; an empty text clears it"`
	GroupOverride    *bool            `json:"group_override,omitempty" jsonschema:"it wins in its group"`
	GroupWeight      *int             `json:"group_weight,omitempty" jsonschema:"its chance in the group against the others"`
	GroupScoring     *bool            `json:"group_scoring,omitempty" jsonschema:"the entry with the most keys that came up wins"`
	ExcludeRecursion *bool            `json:"exclude_recursion,omitempty" jsonschema:"texts of other entries do not bring it in"`
	PreventRecursion *bool            `json:"prevent_recursion,omitempty" jsonschema:"its text brings in no other entries"`
	DelayRecursion   *int             `json:"delay_recursion,omitempty" jsonschema:"the round of recursion from which on it may come in; 0 clears it"`
	Clear            []PlacementField `json:"clear,omitempty" jsonschema:"fields to leave to the app's default again"`
}

func lorePlacementTool(d Deps) tool.Tool {
	const id = "lorebook.placement.update"
	return tool.New(drafting(id, "Update a lorebook entry's placement",
		"Change where an entry's text goes: position, depth, role, order, priority, group and recursion, as a draft.",
		"Give only what should change. A locked entry is refused unless it is unlocked first.",
		"insertion position", "insertion order", "insert at depth", "priority", "inclusion group for entries", "group weight", "recursion of an entry", "outlet", "where does the entry go", "put the lore before the character"),
		func(ctx context.Context, call tool.Call, in LorePlacementIn) (drafted, error) {
			return edit(ctx, d, call, action{KindLorebook, id, in.ID}, in, func(b *Lorebook, warn say) error {
				picked, err := chosen(b, []string{in.Entry})
				if err != nil {
					return err
				}
				if err := replace(picked[0], in); err != nil {
					return err
				}
				worryEntry(*picked[0], warn)
				return checkEntry(b, *picked[0])
			})
		})
}

func replace(e *LoreEntry, in LorePlacementIn) error {
	p, g, r := &e.Placement, &e.Group, &e.Recursion
	err := unset("lorebook.placement.update", words(in.Clear), map[string]func(){
		"position": wipe(&p.Position), "depth": wipe(&p.Depth), "role": wipe(&p.Role), "sort_order": wipe(&e.SortOrder), "priority": wipe(&e.Priority),
		"display_index": wipe(&e.DisplayIndex), "group_weight": wipe(&g.Weight), "group_scoring": wipe(&g.Scoring),
	})
	if err != nil {
		return err
	}
	if in.Position != "" {
		p.Position = string(in.Position)
	}
	if in.Role != "" {
		p.Role = string(in.Role)
	}
	set(&p.Depth, in.Depth)
	put(&p.Outlet, in.Outlet)
	set(&e.SortOrder, in.SortOrder)
	set(&e.Priority, in.Priority)
	set(&e.DisplayIndex, in.DisplayIndex)
	put(&g.Name, in.Group)
	put(&g.Override, in.GroupOverride)
	set(&g.Weight, in.GroupWeight)
	set(&g.Scoring, in.GroupScoring)
	put(&r.Exclude, in.ExcludeRecursion)
	put(&r.Prevent, in.PreventRecursion)
	put(&r.DelayUntil, in.DelayRecursion)
	return between("lorebook.placement.update", "the round of recursion", &r.DelayUntil, maxDepth)
}

package content

import (
	"context"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// NewPackItem is a file to add to a pack.
type NewPackItem struct {
	ID    string   `json:"id,omitempty" jsonschema:"its id in the pack; made of the label if left out"`
	Label string   `json:"label,omitempty" jsonschema:"what it shows, such as joy; expressions are found by it"`
	Ref   string   `json:"ref" jsonschema:"where it is: a data: URI, an http(s) address, asset:ID or archive:PATH; stored, not fetched"`
	MIME  string   `json:"mime,omitempty" jsonschema:"its MIME type, such as image/png"`
	Tags  []string `json:"tags,omitempty" jsonschema:"tags of the item"`
}

// PackCreateIn is a new pack.
type PackCreateIn struct {
	ID          string        `json:"id,omitempty" jsonschema:"the id: lower case letters, digits and dashes; derived from the name if left out"`
	Name        string        `json:"name" jsonschema:"the pack's name"`
	Description string        `json:"description,omitempty" jsonschema:"what is in it; for people"`
	Tags        []string      `json:"tags,omitempty" jsonschema:"tags for the shelf"`
	Items       []NewPackItem `json:"items,omitempty" jsonschema:"the first items, in order; more can be added later"`
	Default     string        `json:"default,omitempty" jsonschema:"the id of the item shown first"`
}

var (
	packItems  = rows[PackItem]{"item", func(i PackItem) string { return i.ID }}
	packGroups = rows[PackGroup]{"group", func(g PackGroup) string { return g.Name }}
)

func packTools(d Deps) []tool.Tool {
	return []tool.Tool{packCreateTool(d), packSettingsTool(d), packItemsTool(d), packGroupsTool(d)}
}

func packCreateTool(d Deps) tool.Tool {
	const id = "studio.pack.create"
	return tool.New(drafting(id, "Create a media pack", "Create a new pack of sprites, expressions or other media, as a draft.",
		"Only the name is needed. Labels that are equal but for upper and lower case are a warning. An id that is taken is refused.",
		"new pack", "sprite pack", "expression pack", "emotion pack", "media pack", "image set", "emotes", "stickers", "sprites"),
		func(ctx context.Context, call tool.Call, in PackCreateIn) (tool.Reply[preview.Drafted], error) {
			p := Pack{Name: in.Name, Description: in.Description, Tags: in.Tags}
			return createNoted(ctx, d, call, action{KindPack, id, in.ID}, in, p, func(p *Pack, warn say) error {
				p.Default = in.Default
				if err := p.add(in.Items); err != nil {
					return err
				}
				p.warnLabels(warn)
				return p.checkDefault()
			})
		})
}

func (p *Pack) add(items []NewPackItem) error {
	taken := packItems.taken(p.Items)
	for _, it := range items {
		id, err := packItems.claim(taken, it.ID, it.Label)
		if err != nil {
			return err
		}
		p.Items = append(p.Items, PackItem{ID: id, Label: it.Label, Ref: it.Ref, MIME: it.MIME, Tags: it.Tags})
	}
	return nil
}

// checkDefault wants that the item shown first is there.
func (p *Pack) checkDefault() error {
	if p.Default == "" {
		return nil
	}
	_, err := packItems.at(p.Items, p.Default)
	return err
}

// warnLabels names labels that are one where files are found by name: "Joy", "joy".
func (p *Pack) warnLabels(warn say) {
	at := map[string][]string{}
	var order []string
	for _, it := range p.Items {
		label := strings.ToLower(it.Label)
		if label == "" {
			continue
		}
		if len(at[label]) == 0 {
			order = append(order, label)
		}
		at[label] = append(at[label], it.ID)
	}
	for _, label := range order {
		if ids := at[label]; len(ids) > 1 {
			warn("the label %q is on %d items (%s): where labels are file names, one takes the place of the other", label, len(ids), some(ids))
		}
	}
}

// PackSettingsIn changes a pack. What is left out stays; "" clears.
type PackSettingsIn struct {
	ID          string    `json:"id" jsonschema:"the pack's id, as studio.list shows it"`
	Name        *string   `json:"name,omitempty" jsonschema:"the name; it cannot be cleared"`
	Description *string   `json:"description,omitempty" jsonschema:"what is in it; an empty text clears it"`
	Tags        *[]string `json:"tags,omitempty" jsonschema:"the whole list of tags; an empty list clears it"`
	Default     *string   `json:"default,omitempty" jsonschema:"the id of the item shown first; an empty text clears it"`
}

func packSettingsTool(d Deps) tool.Tool {
	const id = "pack.settings.update"
	return tool.New(drafting(id, "Update a pack's settings",
		"Change a media pack's name, description, tags and default item, as a draft.",
		"The id stays when the name changes. Give only what should change.",
		"rename the pack", "default face", "default expression", "shown first", "pack description", "pack tags", "neutral"),
		func(ctx context.Context, call tool.Call, in PackSettingsIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindPack, id, in.ID}, in, func(p *Pack, _ say) error {
				put(&p.Name, in.Name)
				put(&p.Description, in.Description)
				put(&p.Tags, in.Tags)
				put(&p.Default, in.Default)
				return p.checkDefault()
			})
		})
}

// PackItemPatch changes an item that is there. What is left out stays; "" clears.
type PackItemPatch struct {
	ID    string    `json:"id" jsonschema:"the item's id"`
	Label *string   `json:"label,omitempty" jsonschema:"a new label; an empty text clears it"`
	Ref   *string   `json:"ref,omitempty" jsonschema:"a new place"`
	MIME  *string   `json:"mime,omitempty" jsonschema:"a new MIME type; an empty text clears it"`
	Tags  *[]string `json:"tags,omitempty" jsonschema:"the whole list of its tags; an empty list clears it"`
}

// PackItemsIn manages the items of a pack.
type PackItemsIn struct {
	ID     string          `json:"id" jsonschema:"the pack's id, as studio.list shows it"`
	Add    []NewPackItem   `json:"add,omitempty" jsonschema:"items to append"`
	Update []PackItemPatch `json:"update,omitempty" jsonschema:"items to change, by id"`
	Remove []string        `json:"remove,omitempty" jsonschema:"ids of items to remove, also from groups and as the default"`
	Order  []string        `json:"order,omitempty" jsonschema:"ids in a new order; items that are not named follow"`
}

func packItemsTool(d Deps) tool.Tool {
	const id = "pack.items.manage"
	return tool.New(drafting(id, "Manage a pack's items", "Add, change, remove and reorder the pictures and files of a media pack, as a draft.",
		"Add, update, remove and order run in this order. A removed item leaves its groups too. Labels that are equal but for upper and lower case are a warning.",
		"add a sprite", "add an expression", "add an image", "replace a picture", "relabel", "remove a sprite", "reorder sprites", "emotion", "mime"),
		func(ctx context.Context, call tool.Call, in PackItemsIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindPack, id, in.ID}, in, func(p *Pack, warn say) error { return p.manage(in, warn) })
		})
}

func (p *Pack) manage(in PackItemsIn, warn say) error {
	if err := p.add(in.Add); err != nil {
		return err
	}
	for _, u := range in.Update {
		i, err := packItems.at(p.Items, u.ID)
		if err != nil {
			return err
		}
		it := &p.Items[i]
		put(&it.Label, u.Label)
		put(&it.Ref, u.Ref)
		put(&it.MIME, u.MIME)
		put(&it.Tags, u.Tags)
	}
	var err error
	if p.Items, _, err = packItems.remove(p.Items, in.Remove); err != nil {
		return err
	}
	p.forget(in.Remove, warn)
	p.warnLabels(warn)
	p.Items, err = packItems.ordered(p.Items, in.Order)
	return err
}

// forget takes ids that are gone out of groups and the default.
func (p *Pack) forget(ids []string, warn say) {
	for i := range p.Groups {
		g := &p.Groups[i]
		g.Items = slices.DeleteFunc(g.Items, func(id string) bool { return slices.Contains(ids, id) })
		if len(g.Items) == 0 && len(ids) > 0 {
			warn("the group %q has no items", g.Name)
		}
	}
	if slices.Contains(ids, p.Default) {
		warn("the default item %q is removed: none is shown first", p.Default)
		p.Default = ""
	}
}

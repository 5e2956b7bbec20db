package content

import (
	"context"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// AssetIn is a file that the card names.
type AssetIn struct {
	Type string `json:"type" jsonschema:"what it is: icon, background, user_icon, emotion, or x- and a word of your own"`
	URI  string `json:"uri" jsonschema:"where it is: a data: URI, an http(s) address, or ccdefault: for the portrait"`
	Name string `json:"name" jsonschema:"its name; main is the icon shown first"`
	Ext  string `json:"ext,omitempty" jsonschema:"its file extension in lower case without a dot, such as png"`
}

// AssetPatch changes an asset that is there.
type AssetPatch struct {
	Name    string  `json:"name" jsonschema:"the name of the asset, as it is now"`
	Type    *string `json:"type,omitempty" jsonschema:"a new type"`
	URI     *string `json:"uri,omitempty" jsonschema:"a new place"`
	NewName *string `json:"new_name,omitempty" jsonschema:"a new name"`
	Ext     *string `json:"ext,omitempty" jsonschema:"a new extension; an empty text clears it"`
}

// MediaIn changes pictures and files of a character. What is left out stays; "" clears.
type MediaIn struct {
	ID       string       `json:"id" jsonschema:"the character's id, as studio.list shows it"`
	Portrait *string      `json:"portrait,omitempty" jsonschema:"the picture: a data: URI, an http(s) address, asset:ID or archive:PATH; an empty text clears it"`
	Add      []AssetIn    `json:"add,omitempty" jsonschema:"assets to append"`
	Update   []AssetPatch `json:"update,omitempty" jsonschema:"assets to change, by name"`
	Remove   []string     `json:"remove,omitempty" jsonschema:"names of assets to remove"`
	Visual   *string      `json:"visual,omitempty" jsonschema:"what is shown of the character: avatar, sprite, live2d; an empty text clears it"`
	Face     *string      `json:"face,omitempty" jsonschema:"the label of the expression shown first, such as neutral; an empty text clears it"`
}

// assetRoll finds assets by their names, which the specification does not make unique:
// the first is meant.
var assetRoll = rows[Asset]{"asset", func(a Asset) string { return a.Name }}

func mediaTool(d Deps) tool.Tool {
	const id = "character.media.update"
	return tool.New(drafting(id, "Update a character's media",
		"Change a character's portrait, assets, visual kind and face, as a draft.",
		"References are stored and not fetched. Add, update and remove run in this order. Give only what should change.",
		"portrait", "avatar", "picture", "profile image", "icon", "asset", "sprite", "expression", "emotion", "face", "live2d", "art"),
		func(ctx context.Context, call tool.Call, in MediaIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindCharacter, id, in.ID}, in, func(c *Character, _ say) error {
				if err := portrait(&c.Media.Portrait, in.Portrait); err != nil {
					return err
				}
				put(&c.Media.Visual, in.Visual)
				put(&c.Media.Face, in.Face)
				list, err := reassets(c.Media.Assets, in)
				c.Media.Assets = list
				return err
			})
		})
}

func reassets(list []Asset, in MediaIn) ([]Asset, error) {
	for _, a := range in.Add {
		if err := checkAsset(Asset(a)); err != nil {
			return nil, err
		}
		list = append(list, Asset(a))
	}
	for _, u := range in.Update {
		i, err := assetRoll.at(list, u.Name)
		if err != nil {
			return nil, err
		}
		a := &list[i]
		put(&a.Type, u.Type)
		put(&a.URI, u.URI)
		put(&a.Name, u.NewName)
		put(&a.Ext, u.Ext)
		if err := checkAsset(*a); err != nil {
			return nil, err
		}
	}
	list, _, err := assetRoll.remove(list, in.Remove)
	return list, err
}

func checkAsset(a Asset) error {
	if a.URI != "" && a.Type != "" && a.Name != "" && a.Ext == strings.TrimPrefix(strings.ToLower(a.Ext), ".") {
		return nil
	}
	return fault.New(fault.Invalid, "character.media", "the asset %q of type %q at %q has the extension %q", a.Name, a.Type, clip(a.URI, 60), a.Ext).
		WithHint("give a type, a name and a place, and the extension in lower case without a dot")
}

// portrait sets a picture, which is a reference or nothing.
func portrait(to, given *string) error {
	if given == nil || *given == "" {
		put(to, given)
		return nil
	}
	*to = *given
	return checkMediaRef("content.portrait", "portrait", *given)
}

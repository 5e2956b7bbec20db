package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// FolderIn is a new folder of a book.
type FolderIn struct {
	FolderID string `json:"folder_id,omitempty" jsonschema:"its id; made of the name if left out"`
	Name     string `json:"name" jsonschema:"the folder's name"`
	Parent   string `json:"parent,omitempty" jsonschema:"the id of the folder that it is in"`
}

// FolderChange changes a folder.
type FolderChange struct {
	FolderID string  `json:"folder_id" jsonschema:"the folder's id"`
	Name     *string `json:"name,omitempty" jsonschema:"a new name"`
	Parent   *string `json:"parent,omitempty" jsonschema:"the id of the folder that it goes into; an empty text puts it at the top"`
	Enabled  *bool   `json:"enabled,omitempty" jsonschema:"switch it on or off, where an app knows that"`
	Order    *int    `json:"order,omitempty" jsonschema:"its order among folders"`
}

// FolderMove puts entries into a folder.
type FolderMove struct {
	Entries  []string `json:"entries" jsonschema:"ids of the entries"`
	FolderID string   `json:"folder_id" jsonschema:"the folder's id; an empty text takes them out of theirs"`
}

// LoreFoldersIn changes the folders of a book.
type LoreFoldersIn struct {
	ID     string         `json:"id" jsonschema:"the lorebook's id, as studio.list shows it"`
	Create []FolderIn     `json:"create,omitempty" jsonschema:"new folders"`
	Update []FolderChange `json:"update,omitempty" jsonschema:"folders to rename, move or switch"`
	Move   []FolderMove   `json:"move,omitempty" jsonschema:"entries to put into folders"`
	Remove []string       `json:"remove,omitempty" jsonschema:"ids of folders to remove; their entries and folders stay, and go where the folder was"`
}

var loreFolders = rows[LoreFolder]{"folder", func(f LoreFolder) string { return f.ID }}

func loreFoldersTool(d Deps) tool.Tool {
	const id = "lorebook.folders.manage"
	return tool.New(drafting(id, "Manage a lorebook's folders",
		"Make, rename, nest and remove the folders of a lorebook, and put entries into them, as a draft.",
		"Create, update, move and remove run in this order. No entry is removed with its folder.",
		"group entries", "organize the lorebook", "put entries into a folder", "new folder", "rename a folder", "sort the book into folders"),
		func(ctx context.Context, call tool.Call, in LoreFoldersIn) (drafted, error) {
			return edit(ctx, d, call, action{KindLorebook, id, in.ID}, in, func(b *Lorebook, warn say) error { return folders(b, in, warn) })
		})
}

func folders(b *Lorebook, in LoreFoldersIn, warn say) error {
	taken := loreFolders.taken(b.Folders)
	for _, f := range in.Create {
		id, err := loreFolders.claim(taken, f.FolderID, f.Name)
		if err != nil {
			return err
		}
		b.Folders = append(b.Folders, LoreFolder{ID: id, Name: f.Name, Parent: f.Parent})
	}
	for _, c := range in.Update {
		i, err := loreFolders.at(b.Folders, c.FolderID)
		if err != nil {
			return err
		}
		f := &b.Folders[i]
		put(&f.Name, c.Name)
		put(&f.Parent, c.Parent)
		set(&f.Enabled, c.Enabled)
		set(&f.Order, c.Order)
	}
	for _, m := range in.Move {
		picked, err := chosen(b, m.Entries)
		if err != nil {
			return err
		}
		for _, e := range picked {
			e.Folder = m.FolderID
			if err := checkEntry(b, *e); err != nil {
				return err
			}
		}
	}
	for _, id := range in.Remove {
		if err := dropFolder(b, id, warn); err != nil {
			return err
		}
	}
	return nested(loreFolders, b.Folders, func(f LoreFolder) string { return f.Parent })
}

// dropFolder removes a folder; what was in it goes into the one above.
func dropFolder(b *Lorebook, id string, warn say) error {
	kept, gone, err := loreFolders.remove(b.Folders, []string{id})
	if err != nil {
		return err
	}
	parent := gone[0].Parent
	var moved []string
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Folder == id {
			if err := open(*e); err != nil {
				return err
			}
			e.Folder = parent
			moved = append(moved, e.ID)
		}
	}
	for i := range kept {
		if kept[i].Parent == id {
			kept[i].Parent = parent
		}
	}
	where := "no folder"
	if parent != "" {
		where = "the folder " + parent
	}
	if len(moved) > 0 {
		warn("folder %q goes, and these entries are in %s then: %s", id, where, some(moved))
	}
	b.Folders = kept
	return nil
}

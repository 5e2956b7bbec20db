package content

import (
	"context"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// CodeSelection says that a selection chooses nothing.
const CodeSelection fault.Code = "LOREBOOK_SELECTION"

// LoreBulkIn is one change of many entries.
type LoreBulkIn struct {
	ID            string       `json:"id" jsonschema:"the lorebook's id, as studio.list shows it"`
	Entries       []string     `json:"entries,omitempty" jsonschema:"select by ids; an entry must meet every selector that is given"`
	InFolder      string       `json:"in_folder,omitempty" jsonschema:"select by a folder's id"`
	WithTag       string       `json:"with_tag,omitempty" jsonschema:"select by a tag"`
	WithText      string       `json:"with_text,omitempty" jsonschema:"select what has these words in title, text or keys, in any case"`
	All           bool         `json:"all,omitempty" jsonschema:"select every entry"`
	SkipLocked    bool         `json:"skip_locked,omitempty" jsonschema:"leave locked entries out, which are refused else"`
	Enabled       *bool        `json:"enabled,omitempty" jsonschema:"switch them on or off"`
	Activation    Activation   `json:"activation,omitempty" jsonschema:"keys, constant or vector"`
	Position      LorePosition `json:"position,omitempty" jsonschema:"where their texts go"`
	Depth         *int         `json:"depth,omitempty" jsonschema:"messages from the end, for position depth"`
	Role          Role         `json:"role,omitempty" jsonschema:"who speaks them at a depth"`
	SortOrder     *int         `json:"sort_order,omitempty" jsonschema:"order among texts of one place"`
	Priority      *int         `json:"priority,omitempty" jsonschema:"the lowest is dropped first"`
	Probability   *int         `json:"probability,omitempty" jsonschema:"percent"`
	ScanDepth     *int         `json:"scan_depth,omitempty" jsonschema:"messages that are looked at"`
	CaseSensitive *bool        `json:"case_sensitive,omitempty" jsonschema:"upper and lower case count"`
	WholeWords    *bool        `json:"whole_words,omitempty" jsonschema:"only whole words count"`
	Folder        *string      `json:"folder,omitempty" jsonschema:"move them into this folder; an empty text takes them out"`
	AddTags       []string     `json:"add_tags,omitempty" jsonschema:"tags to add"`
	RemoveTags    []string     `json:"remove_tags,omitempty" jsonschema:"tags to take away"`
	NoRecursion   *bool        `json:"no_recursion,omitempty" jsonschema:"true keeps them out of recursive scanning, false lets them take part"`
}

func loreBulkTool(d Deps) tool.Tool {
	const id = "lorebook.bulk.update"
	return tool.New(drafting(id, "Update many lorebook entries",
		"Make one change to many entries of a lorebook, selected by ids, folder, tag or words, as a draft.",
		"At most 1000 entries; the draft says how many were selected and changed.",
		"all entries", "every entry", "mass edit", "batch", "several entries at once", "tag entries"),
		func(ctx context.Context, call tool.Call, in LoreBulkIn) (drafted, error) {
			return edit(ctx, d, call, action{KindLorebook, id, in.ID}, in, func(b *Lorebook, warn say) error { return bulk(b, in, warn) })
		})
}

func bulk(b *Lorebook, in LoreBulkIn, warn say) error {
	picked, err := selected(b, in)
	if err != nil {
		return err
	}
	var changed, same []string
	for _, e := range picked {
		was := *e
		was.Tags = slices.Clone(e.Tags)
		if err := alter(b, e, in); err != nil {
			return err
		}
		if equal, err := sameEntry(was, *e); err != nil {
			return err
		} else if equal {
			same = append(same, e.ID)
			continue
		}
		changed = append(changed, e.ID)
	}
	warn("%d of %d entries selected, %d changed: %s", len(picked), len(b.Entries), len(changed), some(changed))
	if len(same) > 0 && len(changed) > 0 {
		warn("as they were already: %s", some(same))
	}
	return nil
}

func sameEntry(x, y LoreEntry) (bool, error) {
	a, err := Bytes(Lorebook{Name: "x", Entries: []LoreEntry{x}})
	if err != nil {
		return false, err
	}
	b, err := Bytes(Lorebook{Name: "x", Entries: []LoreEntry{y}})
	return string(a) == string(b), err
}

// selected are the entries that meet every selector, none of them locked.
func selected(b *Lorebook, in LoreBulkIn) ([]*LoreEntry, error) {
	const op = "lorebook.bulk.update"
	if !in.All && len(in.Entries) == 0 && in.InFolder == "" && in.WithTag == "" && in.WithText == "" {
		return nil, fault.New(CodeSelection, op, "nothing says which entries of %q are meant", b.Name).
			WithHint("give entries, in_folder, with_tag or with_text, or all")
	}
	named, err := lore.all(b.Entries, in.Entries)
	if err != nil {
		return nil, err
	}
	if in.InFolder != "" {
		if _, err := loreFolders.at(b.Folders, in.InFolder); err != nil {
			return nil, err
		}
	}
	var picked []*LoreEntry
	var plain []LoreEntry
	for i := range b.Entries {
		e := &b.Entries[i]
		if len(in.Entries) > 0 && !slices.Contains(named, i) || in.InFolder != "" && e.Folder != in.InFolder ||
			in.WithTag != "" && !slices.Contains(e.Tags, in.WithTag) || in.WithText != "" && !e.mentions(in.WithText) || in.SkipLocked && e.Locked {
			continue
		}
		picked, plain = append(picked, e), append(plain, *e)
	}
	switch {
	case len(picked) == 0:
		return nil, fault.New(CodeSelection, op, "no entry of %q is selected", b.Name).WithHint("read the book, and select by what its entries have")
	case len(picked) > maxItems:
		return nil, tooMany("entry", len(picked))
	}
	return picked, open(plain...)
}

// mentions says whether the words stand in what people read of an entry.
func (e LoreEntry) mentions(words string) bool {
	words = strings.ToLower(words)
	if strings.Contains(strings.ToLower(e.Title+"\n"+e.Content), words) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(e.Keys, e.Secondary), func(k LoreKey) bool { return strings.Contains(strings.ToLower(k.Text), words) })
}

func alter(b *Lorebook, e *LoreEntry, in LoreBulkIn) error {
	put(&e.Enabled, in.Enabled)
	if in.Activation != "" {
		e.Activation = string(in.Activation)
	}
	if in.Position != "" {
		e.Placement.Position = string(in.Position)
	}
	if in.Role != "" {
		e.Placement.Role = string(in.Role)
	}
	set(&e.Placement.Depth, in.Depth)
	set(&e.SortOrder, in.SortOrder)
	set(&e.Priority, in.Priority)
	set(&e.Probability, in.Probability)
	set(&e.Matching.ScanDepth, in.ScanDepth)
	set(&e.Matching.CaseSensitive, in.CaseSensitive)
	set(&e.Matching.WholeWords, in.WholeWords)
	put(&e.Folder, in.Folder)
	if in.NoRecursion != nil {
		e.Recursion.Exclude, e.Recursion.Prevent = *in.NoRecursion, *in.NoRecursion
	}
	e.Tags = retag(e.Tags, nil, in.AddTags, in.RemoveTags)
	return checkEntry(b, *e)
}

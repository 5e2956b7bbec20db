package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// drafted is what a capability answers with.
type drafted = tool.Reply[preview.Drafted]

func loreTools(d Deps) []tool.Tool {
	return []tool.Tool{
		loreCreateTool(d), loreSettingsTool(d), loreAddTool(d), loreCopyTool(d), loreEntryTool(d), loreReorderTool(d), loreEnableTool(d),
		loreRemoveTool(d), loreTriggersTool(d), lorePlacementTool(d), loreBulkTool(d), loreFoldersTool(d),
	}
}

// LoreCreateIn is a new book.
type LoreCreateIn struct {
	ID          string    `json:"id,omitempty" jsonschema:"the id: lower case letters, digits and dashes; derived from the name if left out"`
	Name        string    `json:"name" jsonschema:"the book's name"`
	Description string    `json:"description,omitempty" jsonschema:"what the book is about; for people"`
	Tags        []string  `json:"tags,omitempty" jsonschema:"tags for the shelf"`
	ScanDepth   *int      `json:"scan_depth,omitempty" jsonschema:"messages that are looked at for keys; the app's default if left out"`
	TokenBudget *int      `json:"token_budget,omitempty" jsonschema:"tokens that all entries together may take; the app's default if left out"`
	Recursive   *bool     `json:"recursive,omitempty" jsonschema:"entries that came in are scanned for keys too"`
	Entries     []EntryIn `json:"entries,omitempty" jsonschema:"the first entries, in order; more can be added later"`
}

func loreCreateTool(d Deps) tool.Tool {
	const id = "studio.lorebook.create"
	return tool.New(drafting(id, "Create a lorebook",
		"Create a new lorebook, with entries if wanted, as a draft.",
		"Only the name is needed. Each entry has a text and triggers: words, or patterns, which are stored and not run. An id that is taken is refused.",
		"new lorebook", "make a world book", "world info", "memory book", "write lore", "start a codex", "encyclopedia"),
		func(ctx context.Context, call tool.Call, in LoreCreateIn) (drafted, error) {
			b := Lorebook{
				Name: in.Name, Description: in.Description, Tags: in.Tags,
				Settings: LoreSettings{ScanDepth: in.ScanDepth, TokenBudget: in.TokenBudget, Recursive: in.Recursive},
			}
			if err := checkBook(b.Settings); err != nil {
				return drafted{}, err
			}
			return createNoted(ctx, d, call, action{KindLorebook, id, in.ID}, in, b, func(b *Lorebook, warn say) error {
				made, err := newEntries(b, in.Entries, warn)
				b.Entries = made
				return err
			})
		})
}

func checkBook(s LoreSettings) error {
	for what, n := range map[string]*int{"scan depth": s.ScanDepth, "number of rounds": s.MaxRecursion} {
		if err := between("lorebook.settings", "the "+what, n, maxDepth); err != nil {
			return err
		}
	}
	return between("lorebook.settings", "the token budget", s.TokenBudget, 100_000_000)
}

// A BookField is a setting that can be left to the app again.
type BookField string

// Enum lists the fields.
func (BookField) Enum() []string {
	return []string{"scan_depth", "token_budget", "recursive", "max_recursion", "case_sensitive", "whole_words"}
}

// LoreSettingsIn changes what holds for a whole book.
type LoreSettingsIn struct {
	ID            string      `json:"id" jsonschema:"the lorebook's id, as studio.list shows it"`
	Name          *string     `json:"name,omitempty" jsonschema:"the name; it cannot be cleared"`
	Description   *string     `json:"description,omitempty" jsonschema:"what the book is about; an empty text clears it"`
	Tags          *[]string   `json:"tags,omitempty" jsonschema:"the whole list of tags; an empty list clears it"`
	ScanDepth     *int        `json:"scan_depth,omitempty" jsonschema:"messages that are looked at for keys"`
	TokenBudget   *int        `json:"token_budget,omitempty" jsonschema:"tokens that all entries together may take"`
	Recursive     *bool       `json:"recursive,omitempty" jsonschema:"entries that came in are scanned for keys too"`
	MaxRecursion  *int        `json:"max_recursion,omitempty" jsonschema:"rounds of scanning entries"`
	CaseSensitive *bool       `json:"case_sensitive,omitempty" jsonschema:"keys match upper and lower case exactly"`
	WholeWords    *bool       `json:"whole_words,omitempty" jsonschema:"keys match whole words only"`
	Clear         []BookField `json:"clear,omitempty" jsonschema:"settings to leave to the app's default again"`
}

func loreSettingsTool(d Deps) tool.Tool {
	const id = "lorebook.settings.update"
	return tool.New(drafting(id, "Update a lorebook's settings",
		"Change a lorebook's name, description, tags, scan depth, token budget, recursion and matching, as a draft.",
		"Give only what should change. The id stays when the name changes.",
		"rename the book", "scan depth", "token budget", "recursion", "case sensitive", "whole words", "context budget"),
		func(ctx context.Context, call tool.Call, in LoreSettingsIn) (drafted, error) {
			return edit(ctx, d, call, action{KindLorebook, id, in.ID}, in, func(b *Lorebook, _ say) error {
				put(&b.Name, in.Name)
				put(&b.Description, in.Description)
				put(&b.Tags, in.Tags)
				s := &b.Settings
				if err := unset(id, words(in.Clear), map[string]func(){
					"scan_depth": wipe(&s.ScanDepth), "token_budget": wipe(&s.TokenBudget), "recursive": wipe(&s.Recursive),
					"max_recursion": wipe(&s.MaxRecursion), "case_sensitive": wipe(&s.CaseSensitive), "whole_words": wipe(&s.WholeWords),
				}); err != nil {
					return err
				}
				set(&s.ScanDepth, in.ScanDepth)
				set(&s.TokenBudget, in.TokenBudget)
				set(&s.Recursive, in.Recursive)
				set(&s.MaxRecursion, in.MaxRecursion)
				set(&s.CaseSensitive, in.CaseSensitive)
				set(&s.WholeWords, in.WholeWords)
				return checkBook(*s)
			})
		})
}

// LoreAddIn adds entries.
type LoreAddIn struct {
	ID      string    `json:"id" jsonschema:"the lorebook's id, as studio.list shows it"`
	Entries []EntryIn `json:"entries" jsonschema:"the new entries, in order"`
	Place   Place     `json:"place,omitempty" jsonschema:"where they go in the author's order; last if left out"`
	Beside  string    `json:"beside,omitempty" jsonschema:"for before and after: an entry's id"`
}

func loreAddTool(d Deps) tool.Tool {
	const id = "lorebook.entries.create"
	return tool.New(drafting(id, "Add entries to a lorebook",
		"Add new entries to a lorebook, with their triggers and place, as a draft.",
		"The draft says which ids they got. Timing, groups and matching are set by lorebook.triggers.update and lorebook.placement.update.",
		"new entry", "add an entry", "add lore", "write an entry", "add a location", "add a fact to the world"),
		func(ctx context.Context, call tool.Call, in LoreAddIn) (drafted, error) {
			return edit(ctx, d, call, action{KindLorebook, id, in.ID}, in, func(b *Lorebook, warn say) error {
				made, err := newEntries(b, in.Entries, warn)
				if err != nil {
					return err
				}
				b.Entries, err = lore.insert(b.Entries, made, spot{in.Place, in.Beside})
				return err
			})
		})
}

// LoreCopyIn copies entries within a book.
type LoreCopyIn struct {
	ID      string   `json:"id" jsonschema:"the lorebook's id, as studio.list shows it"`
	Entries []string `json:"entries" jsonschema:"ids of the entries to copy"`
	Place   Place    `json:"place,omitempty" jsonschema:"where the copies go together; each behind its original if left out"`
	Beside  string   `json:"beside,omitempty" jsonschema:"for before and after: an entry's id"`
}

func loreCopyTool(d Deps) tool.Tool {
	const id = "lorebook.entries.duplicate"
	return tool.New(drafting(id, "Duplicate entries of a lorebook",
		"Copy one or more entries within a lorebook, as a draft.",
		"Each copy gets an id of its own and (copy) behind its title. A copy of a locked entry is not locked.",
		"copy an entry", "clone an entry", "make another entry like this"),
		func(ctx context.Context, call tool.Call, in LoreCopyIn) (drafted, error) {
			return edit(ctx, d, call, action{KindLorebook, id, in.ID}, in, func(b *Lorebook, _ say) error {
				return copyEntries(b, in.Entries, spot{in.Place, in.Beside})
			})
		})
}

// LoreEntryIn changes the basic fields of one entry.
type LoreEntryIn struct {
	ID           string     `json:"id" jsonschema:"the lorebook's id, as studio.list shows it"`
	Entry        string     `json:"entry" jsonschema:"the entry's id, as studio.read shows it"`
	Title        *string    `json:"title,omitempty" jsonschema:"a name for people; an empty text clears it"`
	Content      *string    `json:"content,omitempty" jsonschema:"the whole text that enters the chat; an empty text clears it"`
	Note         *string    `json:"note,omitempty" jsonschema:"the author's note, never sent; an empty text clears it"`
	Activation   Activation `json:"activation,omitempty" jsonschema:"what brings it in: keys, constant for always, vector for likeness"`
	Enabled      *bool      `json:"enabled,omitempty" jsonschema:"switch it on or off"`
	Tags         *[]string  `json:"tags,omitempty" jsonschema:"the whole list of tags; an empty list clears it"`
	Folder       *string    `json:"folder,omitempty" jsonschema:"the id of a folder in the book; an empty text takes it out"`
	IgnoreBudget *bool      `json:"ignore_budget,omitempty" jsonschema:"it enters also when the token budget is used up"`
	AutomationID *string    `json:"automation_id,omitempty" jsonschema:"what quick replies run on; an empty text clears it"`
	Locked       *bool      `json:"locked,omitempty" jsonschema:"true keeps agents from the entry; false, given alone, unlocks it"`
}

// unlocks says that a call does nothing but unlock.
func (in LoreEntryIn) unlocks() bool {
	return in.Locked != nil && !*in.Locked && in.Title == nil && in.Content == nil && in.Note == nil && in.Activation == "" && in.Enabled == nil &&
		in.Tags == nil && in.Folder == nil && in.IgnoreBudget == nil && in.AutomationID == nil
}

func loreEntryTool(d Deps) tool.Tool {
	const id = "lorebook.entries.update"
	return tool.New(drafting(id, "Update a lorebook entry",
		"Change one entry's title, text, note, activation, tags, folder or lock, as a draft.",
		"Give only what should change. Keys and timing are lorebook.triggers.update's, the place is lorebook.placement.update's. A locked entry is refused unless it is unlocked first.",
		"edit an entry", "rewrite the lore", "entry text", "rename an entry", "lock", "unlock", "always on", "constant"),
		func(ctx context.Context, call tool.Call, in LoreEntryIn) (drafted, error) {
			return edit(ctx, d, call, action{KindLorebook, id, in.ID}, in, func(b *Lorebook, warn say) error { return updateEntry(b, in, warn) })
		})
}

func updateEntry(b *Lorebook, in LoreEntryIn, warn say) error {
	i, err := lore.at(b.Entries, in.Entry)
	if err != nil {
		return err
	}
	e := &b.Entries[i]
	if in.unlocks() {
		if e.Locked {
			warn("entry %q was locked by its author, and is unlocked", e.ID)
		}
		e.Locked = false
		return nil
	}
	if err := open(*e); err != nil {
		return err
	}
	put(&e.Title, in.Title)
	put(&e.Content, in.Content)
	put(&e.Note, in.Note)
	if in.Activation != "" {
		e.Activation = string(in.Activation)
		worryEntry(*e, warn)
	}
	put(&e.Enabled, in.Enabled)
	put(&e.Tags, in.Tags)
	put(&e.Folder, in.Folder)
	put(&e.IgnoreBudget, in.IgnoreBudget)
	put(&e.AutomationID, in.AutomationID)
	put(&e.Locked, in.Locked)
	return checkEntry(b, *e)
}

// LoreReorderIn moves entries in the author's order.
type LoreReorderIn struct {
	ID      string   `json:"id" jsonschema:"the lorebook's id, as studio.list shows it"`
	Entries []string `json:"entries" jsonschema:"ids in their new order; those that are not named stay"`
	Place   Place    `json:"place,omitempty" jsonschema:"where they go together; if left out they share the places that they hold now"`
	Beside  string   `json:"beside,omitempty" jsonschema:"for before and after: an entry's id"`
}

func loreReorderTool(d Deps) tool.Tool {
	const id = "lorebook.entries.reorder"
	return tool.New(drafting(id, "Reorder a lorebook's entries",
		"Change the author's order of a lorebook's entries, as a draft.",
		"This is the order in lists and files; where texts stand in a prompt is sort_order of lorebook.placement.update.",
		"move an entry up", "sort entries", "entry order", "put the entry first"),
		func(ctx context.Context, call tool.Call, in LoreReorderIn) (drafted, error) {
			return edit(ctx, d, call, action{KindLorebook, id, in.ID}, in, func(b *Lorebook, _ say) error {
				if _, err := chosen(b, in.Entries); err != nil {
					return err
				}
				var err error
				b.Entries, err = lore.move(b.Entries, in.Entries, spot{in.Place, in.Beside})
				return err
			})
		})
}

// LoreEnableIn switches entries.
type LoreEnableIn struct {
	ID      string   `json:"id" jsonschema:"the lorebook's id, as studio.list shows it"`
	Entries []string `json:"entries" jsonschema:"ids of the entries, one or more"`
	Enabled bool     `json:"enabled" jsonschema:"true switches them on, false off"`
}

func loreEnableTool(d Deps) tool.Tool {
	const id = "lorebook.entries.enable"
	return tool.New(drafting(id, "Enable or disable lorebook entries",
		"Switch one or more entries of a lorebook on or off, as a draft.", "",
		"disable an entry", "turn off an entry", "switch on", "deactivate", "toggle entries"),
		func(ctx context.Context, call tool.Call, in LoreEnableIn) (drafted, error) {
			return edit(ctx, d, call, action{KindLorebook, id, in.ID}, in, func(b *Lorebook, _ say) error {
				picked, err := chosen(b, in.Entries)
				for _, e := range picked {
					e.Enabled = in.Enabled
				}
				return err
			})
		})
}

// LoreRemoveIn takes entries out.
type LoreRemoveIn struct {
	ID      string   `json:"id" jsonschema:"the lorebook's id, as studio.list shows it"`
	Entries []string `json:"entries" jsonschema:"ids of the entries to remove, one or more"`
}

func loreRemoveTool(d Deps) tool.Tool {
	const id = "lorebook.entries.remove"
	return tool.New(drafting(id, "Remove lorebook entries",
		"Remove one or more entries from a lorebook, as a draft.", "",
		"delete an entry", "drop an entry", "take lore out"),
		func(ctx context.Context, call tool.Call, in LoreRemoveIn) (drafted, error) {
			return edit(ctx, d, call, action{KindLorebook, id, in.ID}, in, func(b *Lorebook, warn say) error {
				if _, err := chosen(b, in.Entries); err != nil {
					return err
				}
				kept, gone, err := lore.remove(b.Entries, in.Entries)
				for _, e := range gone {
					if e.AutomationID != "" {
						warn("entry %q goes, and with it the automation id %q, on which quick replies may run", e.ID, e.AutomationID)
					}
				}
				if len(kept) == 0 && err == nil {
					warn("no entry is left in the book")
				}
				b.Entries = kept
				return err
			})
		})
}

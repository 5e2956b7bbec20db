package content

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeLocked says that an entry's author keeps agents from it.
const CodeLocked fault.Code = "LOREBOOK_LOCKED"

// An Activation is what brings an entry in.
type Activation string

// Enum lists the activations.
func (Activation) Enum() []string { return []string{"keys", "constant", "vector"} }

// A LorePosition is where an entry's text goes.
type LorePosition string

// Enum lists the positions.
func (LorePosition) Enum() []string { return LorePositions }

// KeyIn is one trigger.
type KeyIn struct {
	Text  string `json:"text" jsonschema:"the word or phrase; of a pattern its body, without slashes"`
	Regex bool   `json:"regex,omitempty" jsonschema:"text is a regular expression; it is stored, not run"`
	Flags string `json:"flags,omitempty" jsonschema:"flags of a pattern, such as i"`
}

// EntryIn is a new entry.
type EntryIn struct {
	EntryID    string       `json:"entry_id,omitempty" jsonschema:"its id in the book; made of the title if left out"`
	Title      string       `json:"title,omitempty" jsonschema:"a name for people"`
	Content    string       `json:"content" jsonschema:"the text that enters the chat"`
	Keys       []KeyIn      `json:"keys,omitempty" jsonschema:"triggers: any of them brings the entry in"`
	Activation Activation   `json:"activation,omitempty" jsonschema:"keys (if left out), constant for always, vector for likeness"`
	Position   LorePosition `json:"position,omitempty" jsonschema:"where the text goes; before and after are of the character; the app's default if left out"`
	Depth      *int         `json:"depth,omitempty" jsonschema:"for position depth: messages from the end"`
	Role       Role         `json:"role,omitempty" jsonschema:"who speaks it at a depth"`
	Disabled   bool         `json:"disabled,omitempty" jsonschema:"keep it switched off"`
	Folder     string       `json:"folder,omitempty" jsonschema:"the id of a folder in the book"`
	Tags       []string     `json:"tags,omitempty" jsonschema:"tags of the entry"`
}

var lore = rows[LoreEntry]{"entry", func(e LoreEntry) string { return e.ID }}

// newEntries are entries for a book, with ids that it does not have.
func newEntries(b *Lorebook, in []EntryIn, warn say) ([]LoreEntry, error) {
	if len(in) > maxItems {
		return nil, tooMany("entry", len(in))
	}
	taken := lore.taken(b.Entries)
	var made []LoreEntry
	for _, i := range in {
		id, err := lore.claim(taken, i.EntryID, i.Title)
		if err != nil {
			return nil, err
		}
		e := LoreEntry{
			ID: id, Title: i.Title, Content: i.Content, Enabled: !i.Disabled, Activation: string(i.Activation), Keys: loreKeys(i.Keys),
			Placement: LorePlacement{Position: string(i.Position), Depth: i.Depth, Role: string(i.Role)}, Folder: i.Folder, Tags: i.Tags,
		}
		if err := checkEntry(b, e); err != nil {
			return nil, err
		}
		worryEntry(e, warn)
		made = append(made, e)
	}
	return made, nil
}

func loreKeys(in []KeyIn) []LoreKey {
	var keys []LoreKey
	for _, k := range in {
		if k.Text != "" {
			keys = append(keys, LoreKey{Text: k.Text, Regex: k.Regex, Flags: k.Flags})
		}
	}
	return keys
}

// checkEntry wants what the types cannot say, with a hint that a model can follow.
func checkEntry(b *Lorebook, e LoreEntry) error {
	if e.Folder != "" {
		if _, err := loreFolders.at(b.Folders, e.Folder); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		what string
		is   *int
		most int
	}{
		{"depth", e.Placement.Depth, maxDepth},
		{"scan depth", e.Matching.ScanDepth, maxDepth},
		{"probability", e.Probability, 100},
		{"sticky", e.Timing.Sticky, maxDepth},
		{"cooldown", e.Timing.Cooldown, maxDepth},
		{"delay", e.Timing.Delay, maxDepth},
	} {
		if err := between("lorebook.entry", "the "+n.what+" of "+e.ID, n.is, n.most); err != nil {
			return err
		}
	}
	return nil
}

// maxDepth is the most messages that a depth or a time counts.
const maxDepth = 100_000

// between wants a number from 0 to most, or none.
func between(op, what string, n *int, most int) error {
	if n == nil || *n >= 0 && *n <= most {
		return nil
	}
	return fault.New(CodeBody, op, "%s is %d", what, *n).WithHint("use 0 to %d", most)
}

// worryEntry says what an entry would do that its author may not have meant.
func worryEntry(e LoreEntry, warn say) {
	if len(e.Keys) == 0 && (e.Activation == "" || e.Activation == "keys") {
		warn("entry %q has no keys: nothing brings it in", e.ID)
	}
	for _, k := range slices.Concat(e.Keys, e.Secondary) {
		worryPattern("key "+clip(k.Text, 40)+" of entry "+e.ID, k.Text, k.Flags, k.Regex, warn)
	}
	p := e.Placement
	if p.Depth != nil && p.Position != "depth" {
		warn("entry %q has a depth, which counts at position depth only", e.ID)
	}
	if p.Position == "outlet" && p.Outlet == "" {
		warn("entry %q goes into an outlet that has no name", e.ID)
	}
	if len(e.Secondary) > 0 && e.Logic == "" {
		warn("entry %q has secondary keys and no logic: they do not count", e.ID)
	}
	if e.Logic != "" && len(e.Secondary) == 0 {
		warn("entry %q has a logic and no secondary keys", e.ID)
	}
}

// worryPattern says what is wrong with a pattern at a glance. It compiles nothing.
func worryPattern(where, text, flags string, regex bool, warn say) {
	if !regex {
		if flags != "" {
			warn("%s has flags and is no pattern", where)
		}
		if strings.HasPrefix(text, "/") && strings.Count(text, "/") > 1 {
			warn("%s is written with slashes and is not marked as a pattern: it is looked for as it stands", where)
		}
		return
	}
	if strings.HasPrefix(text, "/") && strings.LastIndex(text, "/") > 0 {
		warn("%s is written with slashes, which are a part of the pattern here", where)
	}
	for i, f := range flags {
		if !strings.ContainsRune("dgimsuvy", f) {
			warn("%s has the flag %q, which no app knows", where, f)
		} else if strings.ContainsRune(flags[:i], f) {
			warn("%s has the flag %q twice", where, f)
		}
	}
}

// open refuses locked entries by name.
func open(entries ...LoreEntry) error {
	var locked []string
	for _, e := range entries {
		if e.Locked {
			locked = append(locked, e.ID)
		}
	}
	if len(locked) == 0 {
		return nil
	}
	verb := "is"
	if len(locked) > 1 {
		verb = "are"
	}
	return fault.New(CodeLocked, "lorebook.entry", "%s %s locked by the author", some(locked), verb).
		WithHint("ask your person; lorebook.entries.update with locked false and nothing else unlocks an entry")
}

// chosen are the entries with these ids, none of them locked.
func chosen(b *Lorebook, ids []string) ([]*LoreEntry, error) {
	if len(ids) == 0 {
		return nil, fault.New(CodeNoItem, "lorebook.entry", "entries is an empty list").WithHint("give the ids of the entries that are meant")
	}
	at, err := lore.all(b.Entries, ids)
	if err != nil {
		return nil, err
	}
	var picked []*LoreEntry
	var plain []LoreEntry
	for _, i := range at {
		picked, plain = append(picked, &b.Entries[i]), append(plain, b.Entries[i])
	}
	return picked, open(plain...)
}

// copyEntries puts a copy behind each entry, or all copies at a spot. A copy of a locked
// entry is not locked.
func copyEntries(b *Lorebook, ids []string, to spot) error {
	at, err := lore.all(b.Entries, ids)
	if err != nil {
		return err
	}
	taken := lore.taken(b.Entries)
	var copies []LoreEntry
	for _, i := range at {
		e := b.Entries[i]
		e.ID = freshID(taken, e.ID+" copy", "entry")
		taken[e.ID] = true
		e.Locked = false
		if e.Title != "" {
			e.Title += " (copy)"
		}
		copies = append(copies, e)
	}
	if to != (spot{}) {
		b.Entries, err = lore.insert(b.Entries, copies, to)
		return err
	}
	var list []LoreEntry
	for i, e := range b.Entries {
		list = append(list, e)
		if k := slices.Index(at, i); k >= 0 {
			list = append(list, copies[k])
		}
	}
	b.Entries = list
	return nil
}

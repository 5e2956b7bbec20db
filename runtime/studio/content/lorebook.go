package content

import (
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A Lorebook is a book of texts that enter a chat when their keys come up. Where a
// pointer is absent, the engine's own default holds, which differs between engines.
type Lorebook struct {
	Name        string       `json:"name,omitempty"`
	Description string       `json:"description,omitempty"`
	Tags        []string     `json:"tags,omitempty"`
	Settings    LoreSettings `json:"settings,omitzero"`
	Folders     []LoreFolder `json:"folders,omitempty"`
	Entries     []LoreEntry  `json:"entries,omitempty"` // in the author's order
}

// LoreSettings hold for the whole book.
type LoreSettings struct {
	ScanDepth     *int  `json:"scanDepth,omitempty"`     // messages that are looked at for keys
	TokenBudget   *int  `json:"tokenBudget,omitempty"`   // tokens
	Recursive     *bool `json:"recursive,omitempty"`     // entries are scanned for keys too
	MaxRecursion  *int  `json:"maxRecursion,omitempty"`  // rounds
	CaseSensitive *bool `json:"caseSensitive,omitempty"` //
	WholeWords    *bool `json:"wholeWords,omitempty"`    //
}

// A LoreFolder groups entries, for people.
type LoreFolder struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Parent  string `json:"parent,omitempty"` // the id of another folder
	Enabled *bool  `json:"enabled,omitempty"`
	Order   *int   `json:"order,omitempty"`
}

// A LoreEntry is one text and when it enters.
type LoreEntry struct {
	ID           string        `json:"id"`              // unique in the book
	Title        string        `json:"title,omitempty"` // for people
	Note         string        `json:"note,omitempty"`  // the author's, for people
	Content      string        `json:"content,omitempty"`
	Enabled      bool          `json:"enabled"`              // always there: engines disagree on the default
	Activation   string        `json:"activation,omitempty"` // keys if absent; constant, vector
	Keys         []LoreKey     `json:"keys,omitempty"`       // any of them
	Secondary    []LoreKey     `json:"secondary,omitempty"`
	Logic        string        `json:"logic,omitempty"` // how secondary keys count: and_any, and_all, not_any, not_all; absent: they do not
	Matching     LoreMatching  `json:"matching,omitzero"`
	Placement    LorePlacement `json:"placement,omitzero"`
	SortOrder    *int          `json:"sortOrder,omitempty"`    // of rendering: higher is nearer to the chat's end
	Priority     *int          `json:"priority,omitempty"`     // lowest is dropped first where the budget ends
	DisplayIndex *int          `json:"displayIndex,omitempty"` // in an editor
	Probability  *int          `json:"probability,omitempty"`  // percent
	Timing       LoreTiming    `json:"timing,omitzero"`
	Recursion    LoreRecursion `json:"recursion,omitzero"`
	Group        LoreGroup     `json:"group,omitzero"`
	Filter       LoreFilter    `json:"filter,omitzero"`
	Sources      []string      `json:"sources,omitempty"`  // scanned besides the chat: persona_description, character_description, character_personality, character_depth_prompt, scenario, creator_notes, character_name, character_tags, persona_tags
	Triggers     []string      `json:"triggers,omitempty"` // kinds of generation: normal, continue, impersonate, swipe, regenerate, quiet
	IgnoreBudget bool          `json:"ignoreBudget,omitempty"`
	Locked       bool          `json:"locked,omitempty"` // agents leave it alone
	Folder       string        `json:"folder,omitempty"` // a folder's id
	AutomationID string        `json:"automationId,omitempty"`
	Tags         []string      `json:"tags,omitempty"`
}

// A LoreKey is a word, or a pattern, that brings an entry in.
type LoreKey struct {
	Text        string `json:"text"` // of a pattern: its body, without slashes
	Regex       bool   `json:"regex,omitempty"`
	Flags       string `json:"flags,omitempty"`       // of a pattern
	Probability *int   `json:"probability,omitempty"` // percent
}

// LoreMatching overrides the book's settings.
type LoreMatching struct {
	CaseSensitive *bool `json:"caseSensitive,omitempty"`
	WholeWords    *bool `json:"wholeWords,omitempty"`
	ScanDepth     *int  `json:"scanDepth,omitempty"`
}

// LorePlacement is where the text goes.
type LorePlacement struct {
	Position string `json:"position,omitempty"` // before, after (the character), note_top, note_bottom, depth, examples_top, examples_bottom, outlet
	Depth    *int   `json:"depth,omitempty"`    // messages from the end
	Role     string `json:"role,omitempty"`     // system, user, assistant
	Outlet   string `json:"outlet,omitempty"`   // the outlet's name
}

// LoreTiming is in messages.
type LoreTiming struct {
	Sticky   *int `json:"sticky,omitempty"`
	Cooldown *int `json:"cooldown,omitempty"`
	Delay    *int `json:"delay,omitempty"`
}

// LoreRecursion is how the entry takes part in recursive scanning.
type LoreRecursion struct {
	Exclude    bool `json:"exclude,omitempty"`    // it is not found by it
	Prevent    bool `json:"prevent,omitempty"`    // it finds nothing further
	DelayUntil int  `json:"delayUntil,omitempty"` // the round from which on it may be found
}

// LoreGroup is a set of entries of which one enters.
type LoreGroup struct {
	Name     string `json:"name,omitempty"` // a comma list
	Override bool   `json:"override,omitempty"`
	Weight   *int   `json:"weight,omitempty"`
	Scoring  *bool  `json:"scoring,omitempty"`
}

// LoreFilter limits an entry to characters.
type LoreFilter struct {
	Exclude bool     `json:"exclude,omitempty"`
	Names   []string `json:"names,omitempty"`
	Tags    []string `json:"tags,omitempty"`
}

func (b Lorebook) title() string      { return b.Name }
func (b Lorebook) links() []store.Ref { return nil }

func (b Lorebook) check() error {
	const op = "content.lorebook"
	folders := map[string]bool{}
	for _, f := range b.Folders {
		if err := unique(op, "folder", f.ID, folders); err != nil {
			return err
		}
	}
	ids := map[string]bool{}
	for _, e := range b.Entries {
		if err := unique(op, "entry", e.ID, ids); err != nil {
			return err
		}
		if e.Folder != "" && !folders[e.Folder] {
			return fault.New(CodeBody, op, "entry %q is in the folder %q, which is not there", e.ID, e.Folder)
		}
		for _, w := range []struct {
			what, is string
			of       []string
		}{
			{"activation", e.Activation, []string{"keys", "constant", "vector"}},
			{"logic", e.Logic, []string{"and_any", "and_all", "not_any", "not_all"}},
			{"position", e.Placement.Position, LorePositions},
			{"role", e.Placement.Role, roles},
		} {
			if err := oneOf(op, "entry "+e.ID, w.what, w.is, w.of); err != nil {
				return err
			}
		}
	}
	return nil
}

// LorePositions are the places where an entry's text can go.
var LorePositions = []string{"before", "after", "note_top", "note_bottom", "depth", "examples_top", "examples_bottom", "outlet"}

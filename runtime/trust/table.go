package trust

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Classes returns every class, from harmless to irreversible.
func Classes() []Class { return []Class{Read, Draft, Write, Delete, Egress, Exec} }

// Modes returns every mode, from the most to the least careful.
func Modes() []Mode { return []Mode{Guarded, Autopilot, Full} }

// Cell is the verdict on a class in a mode. A class or a mode that is none of ours
// is denied.
func Cell(c Class, m Mode) Verdict {
	if !slices.Contains(Classes(), c) {
		return Deny
	}
	switch m {
	case Full:
		return Run
	case Autopilot:
		if c == Read || c == Draft || c == Write {
			return Run
		}
		return Ask
	case Guarded:
		if c == Read || c == Draft {
			return Run
		}
		return Ask
	default:
		return Deny
	}
}

// Rows are the classes of our own tools. ReadOnly is stated for each and never
// derived: a draft writes nothing, but a server where nothing would ask before
// applying does not offer one.
func Rows() []Row { return slices.Clone(rows) }

var rows = []Row{
	{ID: "ask.choice", Class: Read, ReadOnly: true},
	{ID: "capability.call", Class: Read, ReadOnly: true}, // the gate classes the call that it carries
	{ID: "capability.find", Class: Read, ReadOnly: true},
	{ID: "change.apply", Class: Write, ReadOnly: false},
	{ID: "change.discard", Class: Draft, ReadOnly: false},
	{ID: "change.query", Class: Read, ReadOnly: true},
	{ID: "character.behavior-scripts.manage", Class: Draft, ReadOnly: false},
	{ID: "character.greetings.update", Class: Draft, ReadOnly: false},
	{ID: "character.identity.update", Class: Draft, ReadOnly: false},
	{ID: "character.links.update", Class: Draft, ReadOnly: false},
	{ID: "character.media.update", Class: Draft, ReadOnly: false},
	{ID: "character.metadata.update", Class: Draft, ReadOnly: false},
	{ID: "character.presentation.update", Class: Draft, ReadOnly: false},
	{ID: "character.prompts.update", Class: Draft, ReadOnly: false},
	{ID: "character.settings.update", Class: Draft, ReadOnly: false},
	{ID: "character.variants.manage", Class: Draft, ReadOnly: false},
	{ID: "folder.import", Class: Draft, ReadOnly: false},
	{ID: "folder.search", Class: Read, ReadOnly: true},
	{ID: "htmldoc.document.update", Class: Draft, ReadOnly: false},
	{ID: "lorebook.bulk.update", Class: Draft, ReadOnly: false},
	{ID: "lorebook.entries.create", Class: Draft, ReadOnly: false},
	{ID: "lorebook.entries.duplicate", Class: Draft, ReadOnly: false},
	{ID: "lorebook.entries.enable", Class: Draft, ReadOnly: false},
	{ID: "lorebook.entries.remove", Class: Draft, ReadOnly: false},
	{ID: "lorebook.entries.reorder", Class: Draft, ReadOnly: false},
	{ID: "lorebook.entries.update", Class: Draft, ReadOnly: false},
	{ID: "lorebook.folders.manage", Class: Draft, ReadOnly: false},
	{ID: "lorebook.placement.update", Class: Draft, ReadOnly: false},
	{ID: "lorebook.settings.update", Class: Draft, ReadOnly: false},
	{ID: "lorebook.triggers.update", Class: Draft, ReadOnly: false},
	{ID: "pack.groups.manage", Class: Draft, ReadOnly: false},
	{ID: "pack.items.manage", Class: Draft, ReadOnly: false},
	{ID: "pack.settings.update", Class: Draft, ReadOnly: false},
	{ID: "persona.identity.update", Class: Draft, ReadOnly: false},
	{ID: "persona.injection.update", Class: Draft, ReadOnly: false},
	{ID: "persona.presentation.update", Class: Draft, ReadOnly: false},
	{ID: "persona.profile.update", Class: Draft, ReadOnly: false},
	{ID: "preset.blocks.manage", Class: Draft, ReadOnly: false},
	{ID: "preset.choices.manage", Class: Draft, ReadOnly: false},
	{ID: "preset.copy_blocks", Class: Draft, ReadOnly: false},
	{ID: "preset.groups.manage", Class: Draft, ReadOnly: false},
	{ID: "preset.samplers.update", Class: Draft, ReadOnly: false},
	{ID: "preset.settings.update", Class: Draft, ReadOnly: false},
	{ID: "quickreply.replies.manage", Class: Draft, ReadOnly: false},
	{ID: "quickreply.settings.update", Class: Draft, ReadOnly: false},
	{ID: "rail.open", Class: Read, ReadOnly: true},
	{ID: "regex.rules.manage", Class: Draft, ReadOnly: false},
	{ID: "regex.settings.update", Class: Draft, ReadOnly: false},
	{ID: "result.query", Class: Read, ReadOnly: true},
	{ID: "story.graph", Class: Read, ReadOnly: true},
	{ID: "story.list", Class: Read, ReadOnly: true},
	{ID: "story.read", Class: Read, ReadOnly: true},
	{ID: "story.search", Class: Read, ReadOnly: true},
	{ID: "story.test", Class: Read, ReadOnly: true},
	{ID: "story.turn", Class: Read, ReadOnly: true}, // what a story would call is listed
	{ID: "story.turn.exec", Class: Exec, ReadOnly: false},
	{ID: "story.validate", Class: Read, ReadOnly: true},
	{ID: "story.write", Class: Write, ReadOnly: false, Bound: true},
	{ID: "studio.art", Class: Read, ReadOnly: true},
	{ID: "studio.character.create", Class: Draft, ReadOnly: false},
	{ID: "studio.collections", Class: Read, ReadOnly: true},
	{ID: "studio.delete", Class: Delete, ReadOnly: false},
	{ID: "studio.export", Class: Write, ReadOnly: false},
	{ID: "studio.graveyard", Class: Read, ReadOnly: true},
	{ID: "studio.graveyard_bury", Class: Draft, ReadOnly: false},
	{ID: "studio.history", Class: Read, ReadOnly: true},
	{ID: "studio.htmldoc.create", Class: Draft, ReadOnly: false},
	{ID: "studio.lint", Class: Read, ReadOnly: true},
	{ID: "studio.list", Class: Read, ReadOnly: true},
	{ID: "studio.lorebook.create", Class: Draft, ReadOnly: false},
	{ID: "studio.pack.create", Class: Draft, ReadOnly: false},
	{ID: "studio.persona.create", Class: Draft, ReadOnly: false},
	{ID: "studio.piece.duplicate", Class: Draft, ReadOnly: false},
	{ID: "studio.piece.fork", Class: Draft, ReadOnly: false},
	{ID: "studio.piece.merge", Class: Draft, ReadOnly: false},
	{ID: "studio.preset.create", Class: Draft, ReadOnly: false},
	{ID: "studio.quickreply.create", Class: Draft, ReadOnly: false},
	{ID: "studio.read", Class: Read, ReadOnly: true},
	{ID: "studio.regex.create", Class: Draft, ReadOnly: false},
	{ID: "studio.restore", Class: Draft, ReadOnly: false},
	{ID: "studio.search", Class: Read, ReadOnly: true},
	{ID: "studio.transfer", Class: Read, ReadOnly: true},
}

// A Table holds rows by exact id. It is immutable and safe for concurrent use.
type Table struct{ rows map[string]Row }

// NewTable makes a table. It panics on an id that occurs twice, is empty, or has a
// class that is none of ours.
func NewTable(rows ...Row) *Table {
	t := &Table{rows: make(map[string]Row, len(rows))}
	for _, r := range rows {
		if _, ok := t.rows[r.ID]; ok || r.ID == "" {
			panic(fmt.Sprintf("trust: id %q is empty or has two rows", r.ID))
		}
		if !slices.Contains(Classes(), r.Class) {
			panic(fmt.Sprintf("trust: %s has class %q, which is none", r.ID, r.Class))
		}
		t.rows[r.ID] = r
	}
	return t
}

// With returns a table with further rows, for names that arrive at run time. A row
// for an id that is there already is ignored: nothing from outside reclassifies.
func (t *Table) With(rows ...Row) *Table {
	all := t.Rows()
	for _, r := range rows {
		if _, ok := t.rows[r.ID]; !ok {
			all = append(all, r)
		}
	}
	return NewTable(all...)
}

// Rows returns every row, by id.
func (t *Table) Rows() []Row {
	return slices.SortedFunc(maps.Values(t.rows), func(a, b Row) int { return strings.Compare(a.ID, b.ID) })
}

// Class is the class of an id; ok is false where it has no row.
func (t *Table) Class(id string) (c Class, ok bool) {
	r, ok := t.rows[id]
	return r.Class, ok
}

// Verdict is what happens to a call of id in a mode. Without a row it is Deny.
func (t *Table) Verdict(id string, m Mode) Verdict {
	r, ok := t.rows[id]
	if !ok {
		return Deny
	}
	if v := Cell(r.Class, m); v != Ask || !r.Bound || r.Class != Write {
		return v
	}
	return Run
}

// ReadOnly reports whether a read-only server has the tool.
func (t *Table) ReadOnly(id string) bool { return t.rows[id].ReadOnly }

// MayRemember reports whether an answer may hold for the rest of the session. A
// delete is asked each time.
func (t *Table) MayRemember(id string) bool {
	r, ok := t.rows[id]
	return ok && r.Class != Delete
}

// Print writes the table of classes and modes, then the row of each tool.
func (t *Table) Print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "class")
	for _, m := range Modes() {
		fmt.Fprintf(tw, "\t%s", m)
	}
	fmt.Fprintln(tw)
	for _, c := range Classes() {
		fmt.Fprint(tw, c)
		for _, m := range Modes() {
			fmt.Fprintf(tw, "\t%s", Cell(c, m))
		}
		fmt.Fprintln(tw)
	}
	fmt.Fprint(tw, "(no row)")
	for range Modes() {
		fmt.Fprintf(tw, "\t%s", Deny)
	}
	fmt.Fprint(tw, "\n\ntool\tclass\tread-only server\n")
	for _, r := range t.Rows() {
		has := "no"
		if r.ReadOnly {
			has = "yes"
		}
		class := string(r.Class)
		if r.Bound {
			class += " in a bound folder"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", r.ID, class, has)
	}
	return tw.Flush()
}

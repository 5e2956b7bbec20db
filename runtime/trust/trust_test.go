package trust_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/trust"
)

func TestEveryCell(t *testing.T) {
	want := map[trust.Class][3]trust.Verdict{
		trust.Read:   {trust.Run, trust.Run, trust.Run},
		trust.Draft:  {trust.Run, trust.Run, trust.Run},
		trust.Write:  {trust.Ask, trust.Run, trust.Run},
		trust.Delete: {trust.Ask, trust.Ask, trust.Run},
		trust.Egress: {trust.Ask, trust.Ask, trust.Run},
		trust.Exec:   {trust.Ask, trust.Ask, trust.Run},
		"made up":    {trust.Deny, trust.Deny, trust.Deny},
	}
	for _, c := range trust.Classes() {
		if _, ok := want[c]; !ok {
			t.Errorf("class %s has no row in this test", c)
		}
	}
	for c, row := range want {
		for i, m := range trust.Modes() {
			if got := trust.Cell(c, m); got != row[i] {
				t.Errorf("Cell(%s, %s) = %s, want %s", c, m, got, row[i])
			}
		}
		if got := trust.Cell(c, "made up"); got != trust.Deny {
			t.Errorf("Cell(%s) in an unknown mode = %s, want %s", c, got, trust.Deny)
		}
	}
}

// drafting are the capabilities of the content studio: each composes a draft.
var drafting = []string{
	"character.metadata.update", "character.presentation.update", "character.media.update", "character.links.update", "character.variants.manage",
	"character.settings.update", "character.behavior-scripts.manage",
	"studio.persona.create", "persona.identity.update", "persona.profile.update", "persona.injection.update", "persona.presentation.update",
	"studio.pack.create", "pack.settings.update", "pack.items.manage", "pack.groups.manage",
	"studio.htmldoc.create", "htmldoc.document.update",
	"studio.lorebook.create", "lorebook.settings.update", "lorebook.entries.create", "lorebook.entries.duplicate", "lorebook.entries.update",
	"lorebook.entries.reorder", "lorebook.entries.enable", "lorebook.entries.remove", "lorebook.triggers.update", "lorebook.placement.update",
	"lorebook.bulk.update", "lorebook.folders.manage",
	"studio.preset.create", "preset.settings.update", "preset.samplers.update", "preset.blocks.manage", "preset.groups.manage",
	"preset.choices.manage", "preset.copy_blocks",
	"studio.regex.create", "regex.settings.update", "regex.rules.manage",
	"studio.quickreply.create", "quickreply.settings.update", "quickreply.replies.manage",
}

func TestBuiltInRows(t *testing.T) {
	table := trust.NewTable(trust.Rows()...)
	want := map[string]struct {
		class    trust.Class
		readOnly bool
	}{
		"capability.call": {trust.Read, true}, "capability.find": {trust.Read, true},
		"change.query": {trust.Read, true}, "change.apply": {trust.Write, false}, "change.discard": {trust.Draft, false},
		"result.query": {trust.Read, true},
		"studio.list":  {trust.Read, true}, "studio.read": {trust.Read, true}, "studio.search": {trust.Read, true},
		"ask.choice": {trust.Read, true}, "folder.search": {trust.Read, true}, "folder.import": {trust.Draft, false}, "rail.open": {trust.Read, true},
		"studio.art": {trust.Read, true}, "studio.collections": {trust.Read, true}, "studio.graveyard": {trust.Read, true}, "studio.graveyard_bury": {trust.Draft, false},
		"studio.transfer": {trust.Read, true}, "studio.export": {trust.Write, false}, "studio.lint": {trust.Read, true},
		"studio.history": {trust.Read, true}, "studio.restore": {trust.Draft, false}, "studio.piece.fork": {trust.Draft, false}, "studio.piece.merge": {trust.Draft, false},
		"story.graph": {trust.Read, true}, "story.list": {trust.Read, true}, "story.read": {trust.Read, true}, "story.search": {trust.Read, true}, "story.test": {trust.Read, true},
		"story.turn": {trust.Read, true}, "story.turn.exec": {trust.Exec, false}, "story.validate": {trust.Read, true}, "story.write": {trust.Write, false},
		"studio.delete": {trust.Delete, false}, "studio.piece.duplicate": {trust.Draft, false}, "studio.character.create": {trust.Draft, false},
		"character.identity.update": {trust.Draft, false}, "character.prompts.update": {trust.Draft, false}, "character.greetings.update": {trust.Draft, false},
	}
	for _, id := range drafting {
		want[id] = struct {
			class    trust.Class
			readOnly bool
		}{trust.Draft, false}
	}
	if len(table.Rows()) != len(want) {
		t.Errorf("%d rows, want %d", len(table.Rows()), len(want))
	}
	for id, w := range want {
		c, ok := table.Class(id)
		if !ok || c != w.class || table.ReadOnly(id) != w.readOnly {
			t.Errorf("%s: class %q, read-only %v, want %q, %v", id, c, table.ReadOnly(id), w.class, w.readOnly)
		}
	}
}

func TestNoRowIsDeniedInEveryMode(t *testing.T) {
	table := trust.NewTable(trust.Rows()...)
	// Near names, folded names and prefixes classify nothing.
	for _, id := range []string{"studio_list", "studio.list.all", "studio", "STUDIO.LIST", ""} {
		for _, m := range trust.Modes() {
			if got := table.Verdict(id, m); got != trust.Deny {
				t.Errorf("Verdict(%q, %s) = %s, want %s", id, m, got, trust.Deny)
			}
		}
		if _, ok := table.Class(id); ok || table.ReadOnly(id) || table.MayRemember(id) {
			t.Errorf("%q has rights", id)
		}
	}
}

func TestDeletesAreNeverRemembered(t *testing.T) {
	table := trust.NewTable(trust.Rows()...)
	for _, r := range table.Rows() {
		if got, want := table.MayRemember(r.ID), r.Class != trust.Delete; got != want {
			t.Errorf("MayRemember(%q) = %v, want %v", r.ID, got, want)
		}
	}
}

func TestRunTimeRowsDoNotReclassify(t *testing.T) {
	table := trust.NewTable(trust.Rows()...).With(
		trust.Row{ID: "studio.delete", Class: trust.Read, ReadOnly: true}, trust.Row{ID: "mcp.far_tool", Class: trust.Egress})
	if c, _ := table.Class("studio.delete"); c != trust.Delete || table.ReadOnly("studio.delete") {
		t.Errorf("studio.delete became %s", c)
	}
	if got := table.Verdict("mcp.far_tool", trust.Autopilot); got != trust.Ask {
		t.Errorf("an egress tool in autopilot: %s, want %s", got, trust.Ask)
	}
}

func TestNewTablePanics(t *testing.T) {
	for name, rows := range map[string][]trust.Row{
		"twice":    {{ID: "a.b", Class: trust.Read}, {ID: "a.b", Class: trust.Read}},
		"no id":    {{Class: trust.Read}},
		"no class": {{ID: "a.b"}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			trust.NewTable(rows...)
		})
	}
}

func TestPrint(t *testing.T) {
	var b strings.Builder
	if err := trust.NewTable(trust.Row{ID: "a.b", Class: trust.Draft}, trust.Row{ID: "c.d", Class: trust.Read, ReadOnly: true}).Print(&b); err != nil {
		t.Fatal(err)
	}
	const want = `class     guarded  autopilot  full
read      run      run        run
draft     run      run        run
write     ask      run        run
delete    ask      ask        run
egress    ask      ask        run
exec      ask      ask        run
(no row)  deny     deny       deny

tool  class  read-only server
a.b   draft  no
c.d   read   yes
`
	if b.String() != want {
		t.Errorf("Print:\n%s\nwant\n%s", b.String(), want)
	}
}

// A folder that a person bound is their yes to writing there, and to nothing else.
func TestBoundWritesAreNotAsked(t *testing.T) {
	table := trust.NewTable(append(trust.Rows(), trust.Row{ID: "a.run", Class: trust.Exec, Bound: true}, trust.Row{ID: "a.delete", Class: trust.Delete, Bound: true})...)
	for id, want := range map[string]trust.Verdict{"story.write": trust.Run, "change.apply": trust.Ask, "a.run": trust.Ask, "a.delete": trust.Ask} {
		if got := table.Verdict(id, trust.Guarded); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if got := table.Verdict("story.write", "made up"); got != trust.Deny {
		t.Errorf("an unknown mode: %s", got)
	}
}

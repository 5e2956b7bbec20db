package content

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// heard gathers warnings.
func heard(to *[]string) say {
	return func(format string, args ...any) { *to = append(*to, fmt.Sprintf(format, args...)) }
}

func says(t *testing.T, warnings []string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, p) }) {
			t.Errorf("no warning says %q: %q", p, warnings)
		}
	}
	if len(parts) == 0 && len(warnings) > 0 {
		t.Errorf("warnings %q", warnings)
	}
}

func letters(s string) []Block {
	var list []Block
	for _, r := range s {
		list = append(list, Block{ID: string(r)})
	}
	return list
}

func TestMove(t *testing.T) {
	for _, tt := range []struct {
		ids  string
		to   spot
		want string
		code fault.Code
	}{
		{ids: "c", to: spot{place: "first"}, want: "cabde"},
		{ids: "db", to: spot{place: "first"}, want: "dbace"},
		{ids: "a", to: spot{place: "last"}, want: "bcdea"},
		{ids: "e", to: spot{"before", "b"}, want: "aebcd"},
		{ids: "ab", to: spot{"after", "d"}, want: "cdabe"},
		{ids: "ca", want: "cbade"},    // they share their places
		{ids: "edcba", want: "edcba"}, // the whole order
		{ids: "b", want: "abcde"},     // one alone stays
		{ids: "x", code: CodeNoItem},  //
		{ids: "aa", code: CodePlace},  //
		{ids: "a", to: spot{"before", "a"}, code: CodePlace},
		{ids: "a", to: spot{"before", ""}, code: CodePlace},
		{ids: "a", to: spot{"last", "b"}, code: CodePlace},
		{ids: "a", to: spot{"after", "x"}, code: CodeNoItem},
	} {
		got, err := presetBlocks.move(letters("abcde"), strings.Split(tt.ids, ""), tt.to)
		if is := strings.Join(presetBlocks.ids(got), ""); fault.CodeOf(err) != tt.code || is != tt.want {
			t.Errorf("move %s to %v: %q, %v, want %q, %q", tt.ids, tt.to, is, err, tt.want, tt.code)
		}
	}
}

// A fresh id is the same each time, and never one that is there.
func TestFreshIDs(t *testing.T) {
	taken := map[string]bool{"main-prompt": true, "main-prompt-2": true}
	for _, tt := range []struct{ name, want string }{
		{"Main prompt", "main-prompt-3"}, {"", "block"}, {"  ", "block"}, {"Ärger!", "arger"}, {strings.Repeat("long ", 40), strings.Repeat("long-", 12)[:59]},
	} {
		got := freshID(taken, tt.name, "block")
		if got != tt.want || got != freshID(taken, tt.name, "block") {
			t.Errorf("freshID(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
	if _, err := presetBlocks.claim(taken, "main-prompt", ""); fault.CodeOf(err) != CodeTaken {
		t.Errorf("a taken id: %v", err)
	}
	if _, err := presetBlocks.claim(taken, strings.Repeat("x", 300), ""); fault.CodeOf(err) != CodeTaken {
		t.Errorf("a long id: %v", err)
	}
	many := make([]string, maxItems+1)
	if _, err := presetBlocks.all(nil, many); fault.CodeOf(err) != CodeMany {
		t.Errorf("%d at once: %v", len(many), err)
	}
}

func book() *Lorebook {
	return &Lorebook{
		Name: "Harbor", Folders: []LoreFolder{{ID: "places"}, {ID: "inns", Parent: "places"}},
		Entries: []LoreEntry{
			{ID: "pier", Title: "Pier", Content: "Old wood.", Enabled: true, Folder: "places", Tags: []string{"sea"}, Keys: []LoreKey{{Text: "pier", Probability: new(40)}}},
			{ID: "inn", Title: "Inn", Content: "Warm.", Enabled: true, Folder: "inns", Keys: []LoreKey{{Text: "inn"}}},
			{ID: "king", Title: "King", Content: "Secret.", Locked: true, Keys: []LoreKey{{Text: "king"}}},
		},
	}
}

func TestLockedEntriesAreRefused(t *testing.T) {
	var w []string
	for name, err := range map[string]error{
		"update":  updateEntry(book(), LoreEntryIn{Entry: "king", Content: new("x")}, heard(&w)),
		"both":    updateEntry(book(), LoreEntryIn{Entry: "king", Content: new("x"), Locked: new(false)}, heard(&w)),
		"bulk":    bulk(book(), LoreBulkIn{All: true, Enabled: new(false)}, heard(&w)),
		"folders": folders(book(), LoreFoldersIn{Move: []FolderMove{{Entries: []string{"king"}, FolderID: "inns"}}}, heard(&w)),
	} {
		if fault.CodeOf(err) != CodeLocked || !strings.Contains(err.Error(), `"king"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := book()
	if _, err := chosen(b, []string{"pier", "king"}); fault.CodeOf(err) != CodeLocked {
		t.Errorf("chosen: %v", err)
	}
	w = nil
	if err := updateEntry(b, LoreEntryIn{Entry: "king", Locked: new(false)}, heard(&w)); err != nil || b.Entries[2].Locked {
		t.Errorf("unlock: %v", err)
	}
	says(t, w, `"king" was locked`)
	if err := updateEntry(b, LoreEntryIn{Entry: "king", Content: new("x"), Locked: new(true)}, heard(&w)); err != nil || !b.Entries[2].Locked {
		t.Errorf("an unlocked entry: %v", err)
	}
	b = book()
	if err := copyEntries(b, []string{"king"}, spot{}); err != nil || b.Entries[3].ID != "king-copy" || b.Entries[3].Locked || b.Entries[3].Title != "King (copy)" {
		t.Errorf("a copy: %v, %+v", err, b.Entries)
	}
}

func TestBulk(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   LoreBulkIn
		want string // ids of entries that are off
		says string
		code fault.Code
	}{
		{name: "ids", in: LoreBulkIn{Entries: []string{"inn"}}, want: "inn", says: "1 of 3 entries selected, 1 changed"},
		{name: "folder", in: LoreBulkIn{InFolder: "places"}, want: "pier", says: "1 of 3"},
		{name: "tag", in: LoreBulkIn{WithTag: "sea"}, want: "pier", says: "1 of 3"},
		{name: "text", in: LoreBulkIn{WithText: "WARM"}, want: "inn", says: "1 of 3"},
		{name: "a key's text", in: LoreBulkIn{WithText: "pier"}, want: "pier", says: "1 of 3"},
		{name: "all selectors", in: LoreBulkIn{WithTag: "sea", InFolder: "inns"}, code: CodeSelection},
		{name: "all but locked", in: LoreBulkIn{All: true, SkipLocked: true}, want: "pier inn", says: "2 of 3 entries selected, 2 changed"},
		{name: "none meant", in: LoreBulkIn{}, code: CodeSelection},
		{name: "no folder", in: LoreBulkIn{InFolder: "x"}, code: CodeNoItem},
	} {
		b, w := book(), []string(nil)
		tt.in.Enabled = new(false)
		err := bulk(b, tt.in, heard(&w))
		var off []string
		for _, e := range b.Entries {
			if !e.Enabled && !e.Locked {
				off = append(off, e.ID)
			}
		}
		if fault.CodeOf(err) != tt.code || strings.Join(off, " ") != tt.want {
			t.Errorf("%s: off %q, %v", tt.name, off, err)
		}
		if tt.says != "" {
			says(t, w, tt.says)
		}
	}
	b := &Lorebook{Entries: make([]LoreEntry, maxItems+1)}
	if err := bulk(b, LoreBulkIn{All: true}, heard(new([]string))); fault.CodeOf(err) != CodeMany {
		t.Errorf("too many: %v", err)
	}
}

func TestTriggers(t *testing.T) {
	e := &book().Entries[0]
	in := LoreTriggersIn{Keys: &[]KeyIn{{Text: "pier"}, {Text: "/dock/i"}}, AddKeys: []KeyIn{{Text: "qu[ao]y", Regex: true, Flags: "iq"}}, Probability: new(50), Logic: "not_any"}
	if err := rekey(e, in); err != nil {
		t.Fatal(err)
	}
	if err := retime(e, in); err != nil {
		t.Fatal(err)
	}
	if len(e.Keys) != 3 || e.Keys[0].Probability == nil || *e.Keys[0].Probability != 40 || *e.Probability != 50 {
		t.Errorf("keys %+v", e.Keys)
	}
	var w []string
	worryEntry(*e, heard(&w))
	says(t, w, "written with slashes and is not marked", `the flag 'q'`, "a logic and no secondary keys")
	if err := retime(e, LoreTriggersIn{Clear: []TriggerField{"probability", "logic"}}); err != nil || e.Probability != nil || e.Logic != "" {
		t.Errorf("clear: %v, %+v", err, e)
	}
	if err := rekey(e, LoreTriggersIn{RemoveKeys: []string{"none"}}); fault.CodeOf(err) != CodeNoItem {
		t.Errorf("a key that is not there: %v", err)
	}
	e.Probability = new(101)
	if err := checkEntry(book(), *e); fault.CodeOf(err) != CodeBody {
		t.Errorf("probability 101: %v", err)
	}
}

func TestFolders(t *testing.T) {
	b, w := book(), []string(nil)
	if err := folders(b, LoreFoldersIn{Create: []FolderIn{{Name: "Sea"}}, Update: []FolderChange{{FolderID: "places", Parent: new("sea")}}, Remove: []string{"places"}}, heard(&w)); err != nil {
		t.Fatal(err)
	}
	if got := loreFolders.ids(b.Folders); !slices.Equal(got, []string{"inns", "sea"}) || b.Folders[0].Parent != "sea" || b.Entries[0].Folder != "sea" {
		t.Errorf("folders %+v, entry in %q", b.Folders, b.Entries[0].Folder)
	}
	says(t, w, `folder "places" goes`)
	if err := folders(book(), LoreFoldersIn{Update: []FolderChange{{FolderID: "places", Parent: new("inns")}}}, heard(&w)); fault.CodeOf(err) != CodePlace {
		t.Errorf("a folder in itself: %v", err)
	}
	if err := folders(book(), LoreFoldersIn{Create: []FolderIn{{Name: "x", Parent: "none"}}}, heard(&w)); fault.CodeOf(err) != CodeNoItem {
		t.Errorf("no parent: %v", err)
	}
}

func preset() *Preset {
	return &Preset{
		Name: "P", Groups: []BlockGroup{{ID: "style", Parent: ""}},
		Blocks: []Block{
			{ID: "main", Name: "Main", Content: "Write {{getvar::tone}}.", Enabled: true},
			{ID: "hist", Marker: "chat_history", Enabled: true},
			{ID: "dark", Name: "Dark", Group: "style", Content: "Dark."},
			{ID: "shut", Sealed: true, Content: "…"},
		},
		Choices: []Choice{{Key: "tone", Options: []Option{{ID: "a", Blocks: []string{"dark"}}}}},
	}
}

func TestBlocks(t *testing.T) {
	p, w := preset(), []string(nil)
	err := manageBlocks(p, PresetBlocksIn{
		Update: []BlockChange{{BlockID: "main", Content: new("Write."), Depth: new(2)}}, Enable: []string{"shut"}, Disable: []string{"main"},
		Remove: []string{"dark", "hist"}, Create: []BlockIn{{Name: "Main"}, {Marker: "examples"}}, Place: "first", Move: []BlockMove{{Blocks: []string{"shut"}, Place: "first"}},
	}, heard(&w))
	if err != nil {
		t.Fatal(err)
	}
	if got := presetBlocks.ids(p.Blocks); !slices.Equal(got, []string{"shut", "main-2", "examples", "main"}) {
		t.Errorf("blocks %q", got)
	}
	if b := p.Blocks[3]; b.Enabled || b.Content != "Write." || len(p.Choices[0].Options[0].Blocks) != 0 {
		t.Errorf("main %+v, choice %+v", b, p.Choices)
	}
	says(t, w, `block "dark" goes, which the option "a" of the choice "tone" turned on`, "chat history any more")
	for code, in := range map[fault.Code]PresetBlocksIn{
		CodeSealed: {Update: []BlockChange{{BlockID: "shut", Content: new("x")}}},
		CodeNoItem: {Create: []BlockIn{{Group: "none"}}},
		CodeBody:   {Update: []BlockChange{{BlockID: "main", Depth: new(-1)}}},
		CodeTaken:  {Create: []BlockIn{{BlockID: "main"}}},
	} {
		if err := manageBlocks(preset(), in, heard(&w)); fault.CodeOf(err) != code {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// A copy has an id that neither preset has, and stands where it is told to.
func TestCopyBlocks(t *testing.T) {
	to := &Preset{Name: "T", Blocks: []Block{{ID: "dark-2"}, {ID: "own", Marker: "chat_history", Enabled: true}}}
	var w []string
	if err := copyBlocks(to, *preset(), []string{"dark", "hist", "main"}, spot{"before", "own"}, heard(&w)); err != nil {
		t.Fatal(err)
	}
	if got := presetBlocks.ids(to.Blocks); !slices.Equal(got, []string{"dark-2", "dark-3", "hist-2", "main-2", "own"}) {
		t.Errorf("blocks %q", got)
	}
	says(t, w, `no group "style" here`, `option "a" turns "dark" on, is not copied`, "2 blocks stand for chat history", `reads the variable of the choice "tone"`)
	for _, place := range []Place{"first", "last", "after"} {
		to := &Preset{Blocks: letters("ab")}
		s := spot{place: place}
		if place == "after" {
			s.beside = "a"
		}
		if err := copyBlocks(to, Preset{Blocks: letters("x")}, []string{"x"}, s, heard(&w)); err != nil {
			t.Fatal(err)
		}
		want := map[Place]int{"first": 0, "last": 2, "after": 1}[place]
		if to.Blocks[want].ID != "x-2" {
			t.Errorf("%s: %+v", place, to.Blocks)
		}
	}
	if err := copyBlocks(to, *preset(), nil, spot{}, heard(&w)); fault.CodeOf(err) != CodeNoItem {
		t.Errorf("nothing: %v", err)
	}
}

func TestGroupsAndChoices(t *testing.T) {
	p, w := preset(), []string(nil)
	err := manageGroups(p, PresetGroupsIn{
		Create: []GroupIn{{Name: "Tone", Blocks: []string{"main"}}}, Update: []GroupChange{{GroupID: "style", Name: new("Style"), Parent: new("tone")}}, Remove: []string{"style"},
	}, heard(&w))
	if err != nil || p.Blocks[0].Group != "tone" || p.Blocks[2].Group != "tone" || len(p.Groups) != 1 {
		t.Errorf("groups %+v, blocks %+v, %v", p.Groups, p.Blocks, err)
	}
	says(t, w, `group "style" goes`)
	w = nil
	err = manageChoices(p, PresetChoicesIn{
		Create: []ChoiceIn{{Key: "len", Type: "slider", Min: new(9.0), Max: new(1.5), Options: &[]OptionIn{{Label: "Long", Blocks: []string{"main"}}}, Default: &[]string{"short"}}},
		Order:  []string{"len"}, Remove: []string{"tone"},
	}, heard(&w))
	if err != nil || len(p.Choices) != 1 || p.Choices[0].Options[0].ID != "long" || string(p.Choices[0].Max) != "1.5" {
		t.Errorf("choices %+v, %v", p.Choices, err)
	}
	says(t, w, "least number above", `begins with "short"`, `block "main" reads its variable`)
	if err := manageChoices(p, PresetChoicesIn{Update: []ChoiceIn{{Key: "len", Options: &[]OptionIn{{Label: "x", Blocks: []string{"gone"}}}}}}, heard(&w)); fault.CodeOf(err) != CodeNoItem {
		t.Errorf("an option of no block: %v", err)
	}
}

func TestReads(t *testing.T) {
	for text, want := range map[string]bool{
		"{{getvar::tone}}": true, "{{tone}}": true, "{{#if tone}}x{{/if}}": true, "tone": false, "{{tones}}": false, "{{x}} tone {{y}}": false, "{{tone": false, "{{.tone}}": true,
	} {
		if reads(text, "tone") != want {
			t.Errorf("reads(%q) = %v", text, !want)
		}
	}
}

func TestRules(t *testing.T) {
	var w []string
	list, err := manageRules([]Rule{{ID: "a", Find: "x", Placement: []string{"ai_output"}, MinDepth: new(3)}, {ID: "b"}}, RegexRulesIn{
		Update: []RuleChange{{RuleID: "a", MinDepth: new(-1), Flags: new("gZ")}}, Enable: []string{"a"}, Remove: []string{"b"},
		Add: []RuleIn{{Name: "Hide it", Find: "/y/g", Flags: "ii", MinDepth: new(5), MaxDepth: new(2)}, {Find: "("}}, Place: "first",
		Move: []RuleMove{{Rules: []string{"a"}, Place: "first"}},
	}, heard(&w))
	if err != nil || !slices.Equal(regexRules.ids(list), []string{"a", "hide-it", "rule"}) || list[0].MinDepth != nil || !list[0].Enabled {
		t.Fatalf("rules %+v, %v", list, err)
	}
	says(t, w, `the flag 'Z', which no app knows`, `the flag 'i' twice`, "the least depth 5 above the greatest, 2", "rule hide-it has no placement", "written with slashes")
	w = nil
	worryRule(Rule{ID: "ok", Find: "a/b", Flags: "gi", Placement: []string{"ai_output"}}, heard(&w))
	says(t, w)
	worryRule(Rule{ID: "no", Placement: []string{"ai_output"}}, heard(&w))
	says(t, w, "no has no pattern")
}

func TestReplies(t *testing.T) {
	var w []string
	list, err := manageReplies([]QuickReply{{ID: "7", Label: "Go", AutomationID: "x"}, {ID: "a", Label: "A"}}, QuickRepliesIn{
		Update: []ReplyChange{{ReplyID: "a", RunsOn: &[]ReplyEvent{"startup"}, Message: new("/echo hi")}}, Remove: []string{"7"},
		Create: []ReplyIn{{Label: "One"}, {Message: "x", Menus: []MenuIn{{Set: "More"}}}}, Place: "before", Beside: "a",
		Move: []ReplyMove{{Replies: []string{"9"}, Place: "first"}},
	}, heard(&w))
	if err != nil || !slices.Equal(replies.ids(list), []string{"9", "8", "a"}) || list[2].Message != "/echo hi" {
		t.Fatalf("replies %+v, %v", list, err)
	}
	says(t, w, "by itself, on: startup", `the automation id "x"`, `"8" does nothing`, `"9" has neither label nor icon`)
}

// What a provider's default is, what is not said, and a number are three things.
func TestSamplers(t *testing.T) {
	s, w := Samplers{TopP: Number("0.90"), TopK: Number("null")}, []string(nil)
	if err := sample(&s, SamplersIn{Temperature: new(0.7), Seed: new(int64(-1)), MinP: new(1.5)}, heard(&w)); err != nil {
		t.Fatal(err)
	}
	if string(s.Temperature) != "0.7" || string(s.Seed) != "-1" || string(s.TopP) != "0.90" || string(s.TopK) != "null" {
		t.Errorf("samplers %+v", s)
	}
	says(t, w, "min_p is 1.5, and is mostly between 0 and 1")
	if names := Sampler("").Enum(); len(names) != 15 || slices.Contains(names, "") {
		t.Errorf("names %q", names)
	}
}

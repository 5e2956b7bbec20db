package rolecall

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

func scoreLorebook(f content.File) float64 {
	if f.Doc.Field("schemaVersion") != nil && f.Doc.At("/lorebook/entries").Kind() == canon.Array && f.Doc.Field("kind") == nil {
		return 1
	}
	return 0
}

const (
	noSuchBook  = "a lorebook of RoleCall has no such field"
	noSuchEntry = "an entry of RoleCall has no such field"
	kept        = "kept, not executed: RoleCall stores it for other programs"
	freshBook   = `{"schemaVersion":"1.0.0","lorebook":{"name":"","description":"","settings":{"globalCaseSensitive":false,"globalMatchWholeWords":false,"globalScanDepth":4,` +
		`"globalRecursion":false,"tokenBudget":2048},"metadata":{"tags":[]},"entries":[],"categories":[]}}`
	freshEntry = `{"id":"","title":"","content":"","comment":"","enabled":true,"constant":false,"triggers":{"mode":"simple","primary":[],"secondary":[],"selectiveLogic":"and_any"},` +
		`"matching":{"caseSensitive":null,"matchWholeWords":null,"scanDepth":null},"injection":{"position":"world","depth":4,"role":"system"},"priority":{"sortOrder":100,"priority":100},` +
		`"timing":{"sticky":0,"cooldown":0,"delay":0},"grouping":{"groupName":null,"categoryId":null,"groupWeight":100},"probability":100,` +
		`"advanced":{"excludeRecursion":false,"preventRecursion":false,"delayUntilRecursion":0,"ignoreBudget":false},"characterFilter":null,` +
		`"scanSources":{"characterDescription":false,"characterPersonality":false,"userPersona":false,"scenario":false}}`
	freshCategory = `{"id":"","name":"","sortOrder":0,"enabled":true}`
)

func number(path, ptr, def string) twin.Field {
	return twin.Field{Path: path, Ptr: ptr, Codec: twin.WithEmpty(twin.Int, def), Required: true}
}

var bookFields = []twin.Field{
	{Path: "/name", Ptr: "/lorebook/name", Codec: twin.Text, Required: true},
	{Path: "/description", Ptr: "/lorebook/description", Codec: twin.Text, Required: true},
	{Path: "/tags", Ptr: "/lorebook/metadata/tags", Codec: twin.TextList, Required: true},
	number("/settings/scanDepth", "/lorebook/settings/globalScanDepth", "4"),
	number("/settings/tokenBudget", "/lorebook/settings/tokenBudget", "2048"),
	{Path: "/settings/recursive", Ptr: "/lorebook/settings/globalRecursion", Codec: twin.Bool, Required: true},
	{Path: "/settings/caseSensitive", Ptr: "/lorebook/settings/globalCaseSensitive", Codec: twin.Bool, Required: true},
	{Path: "/settings/wholeWords", Ptr: "/lorebook/settings/globalMatchWholeWords", Codec: twin.Bool, Required: true},
	{Path: "/folders", Ptr: "/lorebook/categories", Required: true, Codec: twin.Objects([]twin.Field{
		{Path: "/id", Ptr: "/id", Codec: twin.Text},
		{Path: "/name", Ptr: "/name", Codec: twin.Text, Required: true},
		{Path: "/enabled", Ptr: "/enabled", Codec: twin.Bool},
		number("/order", "/sortOrder", "0"),
		twin.Lost("/parent", twin.Text, "a category of RoleCall is in no other"),
	}, "/id", "category-", freshCategory)},
	{Path: "/entries", Ptr: "/lorebook/entries", Required: true, Codec: twin.Objects(entryFields, "/id", "entry-", freshEntry)},
	twin.Rest(noSuchBook),
}

func foreign(path, ptr string, c twin.Codec) twin.Field {
	return twin.Field{Path: path, Ptr: "/unsupportedFields" + ptr, Codec: c, Foreign: kept}
}

var entryFields = []twin.Field{
	{Path: "/id", Ptr: "/id", Codec: twin.Text},
	{Path: "/title", Ptr: "/title", Codec: twin.Text, Required: true},
	{Path: "/note", Ptr: "/comment", Codec: twin.Text, Required: true},
	{Path: "/content", Ptr: "/content", Codec: twin.Text, Required: true},
	{Path: "/enabled", Ptr: "/enabled", Codec: twin.AbsentIs(twin.Bool, canon.NewBool(true))},
	{Path: "/activation", Over: &activation},
	{Path: "/keys", Ptr: "/triggers/primary", Codec: keys, Required: true},
	{Path: "/secondary", Ptr: "/triggers/secondary", Codec: keys, Required: true},
	{Path: "/logic", Over: &logic},
	{Path: "/matching/caseSensitive", Ptr: "/matching/caseSensitive", Codec: twin.BoolOrNull, Required: true},
	{Path: "/matching/wholeWords", Ptr: "/matching/matchWholeWords", Codec: twin.BoolOrNull, Required: true},
	{Path: "/matching/scanDepth", Ptr: "/matching/scanDepth", Codec: twin.IntOrNull, Required: true},
	{Path: "/placement/position", Ptr: "/injection/position", Required: true, Codec: twin.Words(
		[2]string{`"world"`, "before"}, [2]string{`"character"`, "after"}, [2]string{`"depth"`, "depth"},
		[2]string{`"before_example"`, "examples_top"}, [2]string{`"after_example"`, "examples_bottom"},
	)},
	number("/placement/depth", "/injection/depth", "4"),
	{Path: "/placement/role", Ptr: "/injection/role", Required: true, Codec: twin.Words([2]string{`"system"`, "system"}, [2]string{`"user"`, "user"}, [2]string{`"assistant"`, "assistant"})},
	foreign("/placement/outlet", "/outletName", twin.Text),
	number("/sortOrder", "/priority/sortOrder", "100"),
	number("/priority", "/priority/priority", "100"),
	number("/probability", "/probability", "100"),
	number("/timing/sticky", "/timing/sticky", "0"), number("/timing/cooldown", "/timing/cooldown", "0"), number("/timing/delay", "/timing/delay", "0"),
	{Path: "/recursion/exclude", Ptr: "/advanced/excludeRecursion", Codec: twin.Flag, Required: true},
	{Path: "/recursion/prevent", Ptr: "/advanced/preventRecursion", Codec: twin.Flag, Required: true},
	{Path: "/recursion/delayUntil", Ptr: "/advanced/delayUntilRecursion", Codec: lore.Level, Required: true},
	{Path: "/ignoreBudget", Ptr: "/advanced/ignoreBudget", Codec: twin.Flag, Required: true},
	{Path: "/group/name", Ptr: "/grouping/groupName", Codec: twin.WithEmpty(twin.Text, "null"), Required: true},
	number("/group/weight", "/grouping/groupWeight", "100"),
	foreign("/group/override", "/groupOverride", twin.Flag), foreign("/group/scoring", "/useGroupScoring", twin.Bool),
	{Path: "/folder", Ptr: "/grouping/categoryId", Codec: twin.WithEmpty(twin.Text, "null"), Required: true},
	{Path: "/filter", Ptr: "/characterFilter", Codec: twin.WithEmpty(twin.Object([]twin.Field{
		{Path: "/exclude", Ptr: "/isExclude", Codec: twin.Flag, Required: true},
		{Path: "/names", Ptr: "/names", Codec: twin.TextList, Required: true},
		{Path: "/tags", Ptr: "/tags", Codec: twin.TextList, Required: true},
	}, `{"isExclude":false,"names":[],"tags":[]}`), "null"), Required: true},
	twin.Switches("/sources", "RoleCall does not look there for keys",
		[2]string{"/scanSources/userPersona", "persona_description"}, [2]string{"/scanSources/characterDescription", "character_description"},
		[2]string{"/scanSources/characterPersonality", "character_personality"}, [2]string{"/scanSources/scenario", "scenario"},
		[2]string{"/unsupportedFields/matchCharacterDepthPrompt", "character_depth_prompt"}, [2]string{"/unsupportedFields/matchCreatorNotes", "creator_notes"}),
	foreign("/triggers", "/generationTriggers", twin.TextList), foreign("/automationId", "/automationId", twin.Text),
	twin.Rest(noSuchEntry),
}

// keys are words and patterns, each with a probability of its own.
var keys = twin.Objects([]twin.Field{
	{Path: "/text", Ptr: "/keyword", Codec: twin.Codec{
		Read: func(n *canon.Node) (*canon.Node, string) {
			text, problem := twin.ReadText(n)
			if text == nil {
				text = canon.NewText("")
			}
			return text, problem
		},
		Write: func(val, _ *canon.Node) *canon.Node { return val }, Empty: `""`,
	}},
	{Path: "/regex", Ptr: "/isRegex", Codec: twin.Flag, Required: true},
	{Path: "/probability", Ptr: "/probability", Codec: twin.Int},
	twin.Lost("/flags", twin.Text, "a pattern of RoleCall's lorebooks has no flags"),
}, "", "", `{"keyword":"","isRegex":false}`)

// activation is a switch, and another that RoleCall keeps.
var activation = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if v, problem := twin.Flag.Read(doc.Field("constant")); v != nil || problem != "" {
			if v == nil {
				return nil, problem
			}
			return canon.NewText("constant"), ""
		}
		if v, _ := twin.Flag.Read(doc.At("/unsupportedFields/vectorized")); v != nil {
			return canon.NewText("vector"), ""
		}
		return nil, ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		put := func(ptr string, on bool) {
			if was, _ := twin.Flag.Read(doc.At(ptr)); (was != nil) != on {
				if doc.Field("unsupportedFields").Kind() != canon.Object && ptr != "/constant" {
					twin.Set(doc, "/unsupportedFields", canon.NewObject())
				}
				twin.Set(doc, ptr, twin.Flag.Write(canon.NewBool(on), doc.At(ptr)))
			}
		}
		put("/constant", val.Text() == "constant")
		put("/unsupportedFields/vectorized", val.Text() == "vector")
		if val.Text() == "vector" {
			return []twin.Loss{{Value: "vector", Verdict: twin.Embedded, Reason: kept}}
		}
		return nil
	},
}

var logicWords = twin.Words([2]string{`"and_any"`, "and_any"}, [2]string{`"and_all"`, "and_all"}, [2]string{`"not_any"`, "not_any"}, [2]string{`"not_all"`, "not_all"})

// logic is how secondary keys count, where the mode is the one that has them.
var logic = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if doc.At("/triggers/mode").Text() != "advanced" {
			return nil, ""
		}
		if doc.At("/triggers/selectiveLogic").Kind() == canon.Null {
			return canon.NewText("and_any"), ""
		}
		return logicWords.Read(doc.At("/triggers/selectiveLogic"))
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		if doc.Field("triggers").Kind() != canon.Object {
			twin.Set(doc, "/triggers", canon.NewObject())
		}
		mode := "simple"
		if val != nil {
			mode = "advanced"
			twin.Set(doc, "/triggers/selectiveLogic", logicWords.Write(val, nil))
		}
		if doc.At("/triggers/mode").Text() != mode {
			twin.Set(doc, "/triggers/mode", canon.NewText(mode))
		}
		return nil
	},
}

func readLorebook(f content.File) (content.Reading, error) {
	body, problems := twin.Read(f.Doc, bookFields)
	problems = append(problems, lore.LeaveFolders(body, "/lorebook/entries", "category")...)
	return content.Reading{Warnings: problems, Found: []content.Found{
		{Kind: content.KindLorebook, Body: body, Notes: content.Notes{BookEntries: body.Field("entries").Len()}},
	}}, nil
}

func writeLorebook(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshBook, "/lorebook/name")
	if err != nil {
		return content.Written{}, err
	}
	full, _ := twin.Read(s.Doc, bookFields)
	lore.RestoreFolders(s.Body, full)
	return s.Written(twin.Lay(s.Doc, bookFields, s.Body)), nil
}

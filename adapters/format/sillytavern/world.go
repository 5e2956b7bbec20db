package sillytavern

import (
	"bytes"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// scoreWorld knows a world by its entries, an object of objects. The list is the
// shape of the card's spec; one whose entries have SillyTavern's keys was opened and
// saved there.
func scoreWorld(doc *canon.Node) float64 {
	entries := doc.Field("entries")
	for _, foreign := range []string{"spec", "lorebookVersion", "kind", "type", "schemaVersion", "lorebook", "prompts"} {
		if doc.Field(foreign) != nil {
			return 0
		}
	}
	if entries.Kind() != canon.Object && entries.Kind() != canon.Array {
		return 0
	}
	own, spec, n := 0, 0, 0
	see := func(e *canon.Node) {
		n++
		if e.Field("uid") != nil || e.Field("key") != nil {
			own++
		} else if e.Field("keys") != nil {
			spec++
		}
	}
	for _, e := range entries.Members() {
		see(e)
	}
	for _, e := range entries.Items() {
		see(e)
	}
	switch {
	case entries.Kind() == canon.Object && spec == 0 && (n == 0 || own > 0):
		return 0.9
	case own > 0 && own >= spec:
		return 0.88
	case n > 0 && own+spec > 0:
		return 0.52
	}
	return 0
}

const noSuchSetting = "SillyTavern has one such setting for all books"

var worldFields = []twin.Field{
	{Path: "/name", Ptr: "/name", Codec: twin.Text},
	twin.Lost("/description", twin.Text, "a world of SillyTavern has no description"),
	twin.Lost("/tags", twin.TextList, "a world of SillyTavern has no tags"),
	twin.Lost("/settings/scanDepth", twin.Int, noSuchSetting),
	twin.Lost("/settings/tokenBudget", twin.Int, noSuchSetting),
	twin.Lost("/settings/recursive", twin.Bool, noSuchSetting),
	twin.Lost("/settings/maxRecursion", twin.Int, noSuchSetting),
	twin.Lost("/settings/caseSensitive", twin.Bool, noSuchSetting),
	twin.Lost("/settings/wholeWords", twin.Bool, noSuchSetting),
	twin.Lost("/folders", twin.TextList, "SillyTavern has no folders of entries"),
	{Path: "/entries", Ptr: "/entries", Required: true, Codec: twin.WithEmpty(lore.Numbered(twin.Objects(entryFields, "/id", "entry-", freshEntry), nextEntry, numbered), "{}")},
}

const freshWorld = `{"entries":{}}`

// freshEntry is an entry as SillyTavern makes it.
const freshEntry = `{"uid":0,"key":[],"keysecondary":[],"comment":"","content":"","constant":false,"vectorized":false,"selective":false,` +
	`"selectiveLogic":0,"addMemo":true,"order":100,"position":0,"disable":false,"ignoreBudget":false,"excludeRecursion":false,` +
	`"preventRecursion":false,"matchPersonaDescription":false,"matchCharacterDescription":false,"matchCharacterPersonality":false,` +
	`"matchCharacterDepthPrompt":false,"matchScenario":false,"matchCreatorNotes":false,"delayUntilRecursion":0,"probability":100,` +
	`"useProbability":false,"depth":4,"outletName":"","group":"","groupOverride":false,"groupWeight":null,"scanDepth":null,"caseSensitive":null,` +
	`"matchWholeWords":null,"useGroupScoring":null,"automationId":"","role":null,"sticky":null,"cooldown":null,"delay":null,"triggers":[]}`

var entryFields = []twin.Field{
	{Path: "/id", Ptr: "/uid", Codec: lore.NumberID},
	{Path: "/title", Ptr: "/comment", Codec: twin.Text, Required: true},
	twin.Lost("/note", twin.Text, "an entry of SillyTavern has one text for people, its title"),
	{Path: "/content", Ptr: "/content", Codec: twin.Text, Required: true},
	twin.Alt("/enabled", twin.Field{Ptr: "/disable", Codec: notDisabled}, twin.Field{Ptr: "/enabled", Codec: twin.AbsentIs(twin.Bool, canon.NewBool(true))}),
	{Path: "/activation", Over: &activation},
	keysAt("/keys", "/key", "/keys"),
	keysAt("/secondary", "/keysecondary", "/secondary_keys"),
	{Path: "/logic", Over: &logic},
	{Path: "/matching/caseSensitive", Ptr: "/caseSensitive", Codec: twin.BoolOrNull, Required: true},
	{Path: "/matching/wholeWords", Ptr: "/matchWholeWords", Codec: twin.BoolOrNull, Required: true},
	{Path: "/matching/scanDepth", Ptr: "/scanDepth", Codec: twin.IntOrNull, Required: true},
	{Path: "/placement/position", Ptr: "/position", Codec: position, Required: true},
	{Path: "/placement/depth", Ptr: "/depth", Codec: twin.WithEmpty(twin.Int, "4"), Required: true},
	{Path: "/placement/role", Ptr: "/role", Codec: roleNumber, Required: true},
	{Path: "/placement/outlet", Ptr: "/outletName", Codec: twin.Text, Required: true},
	twin.Alt("/sortOrder", twin.Field{Ptr: "/order", Codec: twin.WithEmpty(twin.Int, "100"), Required: true}, twin.Field{Ptr: "/insertion_order", Codec: twin.WithEmpty(twin.Int, "100"), Required: true}),
	twin.Lost("/priority", twin.Int, "SillyTavern drops entries by their order"),
	{Path: "/displayIndex", Ptr: "/displayIndex", Codec: twin.Int},
	{Path: "/probability", Over: &probability},
	{Path: "/timing/sticky", Ptr: "/sticky", Codec: twin.IntOrNull, Required: true},
	{Path: "/timing/cooldown", Ptr: "/cooldown", Codec: twin.IntOrNull, Required: true},
	{Path: "/timing/delay", Ptr: "/delay", Codec: twin.IntOrNull, Required: true},
	{Path: "/recursion/exclude", Ptr: "/excludeRecursion", Codec: twin.Flag, Required: true},
	{Path: "/recursion/prevent", Ptr: "/preventRecursion", Codec: twin.Flag, Required: true},
	{Path: "/recursion/delayUntil", Ptr: "/delayUntilRecursion", Codec: lore.Level, Required: true},
	{Path: "/group/name", Ptr: "/group", Codec: twin.Text, Required: true},
	{Path: "/group/override", Ptr: "/groupOverride", Codec: twin.Flag, Required: true},
	{Path: "/group/weight", Ptr: "/groupWeight", Codec: twin.IntOrNull, Required: true},
	{Path: "/group/scoring", Ptr: "/useGroupScoring", Codec: twin.BoolOrNull, Required: true},
	{Path: "/filter", Ptr: "/characterFilter", Codec: twin.Object([]twin.Field{
		{Path: "/exclude", Ptr: "/isExclude", Codec: twin.Flag, Required: true},
		{Path: "/names", Ptr: "/names", Codec: twin.TextList, Required: true},
		{Path: "/tags", Ptr: "/tags", Codec: twin.TextList, Required: true},
	}, `{"isExclude":false,"names":[],"tags":[]}`)},
	twin.Switches("/sources", "SillyTavern does not scan it for keys",
		[2]string{"/matchPersonaDescription", "persona_description"}, [2]string{"/matchCharacterDescription", "character_description"},
		[2]string{"/matchCharacterPersonality", "character_personality"}, [2]string{"/matchCharacterDepthPrompt", "character_depth_prompt"},
		[2]string{"/matchScenario", "scenario"}, [2]string{"/matchCreatorNotes", "creator_notes"}),
	{Path: "/triggers", Ptr: "/triggers", Codec: twin.TextList, Required: true},
	{Path: "/ignoreBudget", Ptr: "/ignoreBudget", Codec: twin.Flag, Required: true},
	twin.Lost("/locked", twin.Bool, "SillyTavern has no locks"),
	twin.Lost("/folder", twin.Text, "SillyTavern has no folders of entries"),
	{Path: "/automationId", Ptr: "/automationId", Codec: twin.Text, Required: true},
	twin.Lost("/tags", twin.TextList, "an entry of SillyTavern has no tags"),
}

// notDisabled is "disable", for which absent means that it is enabled.
var notDisabled = twin.AbsentIs(twin.Not, canon.NewBool(true))

var position = twin.Words(
	[2]string{"0", "before"}, [2]string{"1", "after"}, [2]string{"2", "note_top"}, [2]string{"3", "note_bottom"}, [2]string{"4", "depth"},
	[2]string{"5", "examples_top"}, [2]string{"6", "examples_bottom"}, [2]string{"7", "outlet"},
	[2]string{`"before_char"`, "before"}, [2]string{`"after_char"`, "after"},
)

// activation is two switches, of which constant is the stronger.
var activation = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if v, problem := twin.Flag.Read(doc.Field("constant")); v != nil || problem != "" {
			if v == nil {
				return nil, problem
			}
			return canon.NewText("constant"), problem
		}
		if v, problem := twin.Flag.Read(doc.Field("vectorized")); v != nil {
			return canon.NewText("vector"), problem
		}
		return nil, ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		for ptr, on := range map[string]bool{"/constant": val.Text() == "constant", "/vectorized": val.Text() == "vector"} {
			if was, _ := twin.Flag.Read(doc.At(ptr)); (was != nil) != on {
				twin.Set(doc, ptr, twin.Flag.Write(canon.NewBool(on), doc.At(ptr)))
			}
		}
		return nil
	},
}

// probability is a number and a switch that makes it count.
var probability = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if v, _ := twin.Bool.Read(doc.Field("useProbability")); v.Raw() == "false" {
			return nil, ""
		}
		return twin.Int.Read(doc.Field("probability"))
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		use := doc.Field("useProbability")
		if v, _ := twin.Bool.Read(use); (v.Raw() != "false") != (val != nil) {
			twin.Set(doc, "/useProbability", twin.Bool.Write(canon.NewBool(val != nil), use))
		}
		if val != nil {
			twin.Set(doc, "/probability", twin.Int.Write(val, doc.Field("probability")))
		}
		return nil
	},
}

func readWorld(f content.File) (content.Reading, error) {
	body, problems := twin.Read(f.Doc, worldFields)
	r := one(content.KindLorebook, f, body, problems)
	r.Found[0].Notes.BookEntries = body.Field("entries").Len()
	return r, nil
}

func writeWorld(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshWorld, "/name")
	if err != nil {
		return content.Written{}, err
	}
	before := s.Doc.Field("entries").Bytes()
	losses := twin.Lay(s.Doc, worldFields, s.Body)
	if book := s.Doc.Field("originalData"); book != nil && !bytes.Equal(before, s.Doc.Field("entries").Bytes()) {
		losses = append(losses, content.Loss{
			Path: "original:/originalData", Value: twin.Clip(book), Verdict: twin.Dropped,
			Reason: "it is the card's book before the change, and SillyTavern would put it into a card instead of the entries",
		})
		twin.Drop(s.Doc, "/originalData")
	}
	return s.Written(losses), nil
}

var logic = lore.Logic(lore.NumberedLogic)

// numbered is what becomes of an id that is no number.
const numbered = "SillyTavern numbers them"

func nextEntry(old *canon.Node) int { return lore.After(old, "uid") }

package marinara

import (
	"fmt"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

const (
	noSuchBook  = "a lorebook of Marinara has no such field"
	noSuchEntry = "an entry of Marinara has no such field"
	freshBook   = `{"type":"marinara_lorebook","version":1,"data":{"lorebook":{"name":"","description":"","category":"uncategorized","scanDepth":2,"tokenBudget":2048,` +
		`"recursiveScanning":false,"maxRecursionDepth":3,"enabled":true,"tags":[]},"entries":[],"folders":[]}}`
	freshEntry = `{"id":"","name":"","content":"","description":"","keys":[],"secondaryKeys":[],"enabled":true,"constant":false,"selective":false,"selectiveLogic":"and",` +
		`"probability":null,"scanDepth":null,"matchWholeWords":null,"caseSensitive":null,"useRegex":false,"characterFilterMode":"any","characterFilterIds":[],` +
		`"characterTagFilterMode":"any","characterTagFilters":[],"generationTriggerFilterMode":"any","generationTriggerFilters":[],"additionalMatchingSources":[],` +
		`"position":0,"depth":4,"order":100,"role":"system","sticky":null,"cooldown":null,"delay":null,"ephemeral":null,"group":"","groupWeight":null,"folderId":null,` +
		`"preventRecursion":false,"excludeRecursion":false,"delayUntilRecursion":false,"locked":false,"tag":"","relationships":{},"dynamicState":{},"activationConditions":[],"schedule":null}`
)

var bookFields = []twin.Field{
	{Path: "/name", Ptr: "/data/lorebook/name", Codec: twin.Text, Required: true},
	{Path: "/description", Ptr: "/data/lorebook/description", Codec: twin.Text, Required: true},
	{Path: "/tags", Ptr: "/data/lorebook/tags", Codec: lists(twin.TextList), Required: true},
	{Path: "/settings/scanDepth", Ptr: "/data/lorebook/scanDepth", Codec: twin.WithEmpty(twin.Int, "2"), Required: true},
	{Path: "/settings/tokenBudget", Ptr: "/data/lorebook/tokenBudget", Codec: twin.WithEmpty(twin.Int, "2048"), Required: true},
	{Path: "/settings/recursive", Ptr: "/data/lorebook/recursiveScanning", Codec: twin.Bool, Required: true},
	{Path: "/settings/maxRecursion", Ptr: "/data/lorebook/maxRecursionDepth", Codec: twin.WithEmpty(twin.Int, "3"), Required: true},
	{Path: "/folders", Ptr: "/data/folders", Required: true, Codec: twin.Objects([]twin.Field{
		{Path: "/id", Ptr: "/id", Codec: twin.Text},
		{Path: "/name", Ptr: "/name", Codec: twin.Text, Required: true},
		{Path: "/parent", Ptr: "/parentFolderId", Codec: orNull(twin.Text), Required: true},
		{Path: "/enabled", Ptr: "/enabled", Codec: twin.WithEmpty(twin.Bool, "true"), Required: true},
		{Path: "/order", Ptr: "/order", Codec: twin.WithEmpty(twin.Int, "0"), Required: true},
	}, "/id", "folder-", `{"id":"","name":"","enabled":true,"parentFolderId":null,"order":0}`)},
	{Path: "/entries", Ptr: "/data/entries", Required: true, Codec: twin.Objects(entryFields, "/id", "entry-", freshEntry)},
	twin.Rest(noSuchBook),
}

// orNull is a codec for which null is nothing.
func orNull(c twin.Codec) twin.Codec { return twin.WithEmpty(c, "null") }

// lists are JSON in the files of today, and JSON in texts in rows of the database.
func lists(c twin.Codec) twin.Codec {
	inner := inText(c)
	write := inner.Write
	inner.Empty = "[]"
	inner.Write = func(val, old *canon.Node) *canon.Node {
		if old == nil || old.Kind() == canon.Null {
			return c.Write(val, nil)
		}
		return write(val, old)
	}
	return inner
}

var entryFields = []twin.Field{
	{Path: "/id", Ptr: "/id", Codec: twin.Text},
	{Path: "/title", Ptr: "/name", Codec: twin.Text, Required: true},
	{Path: "/note", Ptr: "/description", Codec: twin.Text, Required: true},
	{Path: "/content", Ptr: "/content", Codec: twin.Text, Required: true},
	{Path: "/enabled", Ptr: "/enabled", Codec: twin.AbsentIs(twin.Bool, canon.NewBool(true))},
	{Path: "/activation", Ptr: "/constant", Codec: lore.Constant("Marinara finds entries by their meaning for a whole book, not for one entry"), Required: true},
	{Path: "/keys", Over: keysOver("/keys", "/secondaryKeys")},
	{Path: "/secondary", Over: keysOver("/secondaryKeys", "/keys")},
	{Path: "/logic", Over: &logic},
	{Path: "/matching/caseSensitive", Ptr: "/caseSensitive", Codec: twin.BoolOrNull, Required: true},
	{Path: "/matching/wholeWords", Ptr: "/matchWholeWords", Codec: twin.BoolOrNull, Required: true},
	{Path: "/matching/scanDepth", Ptr: "/scanDepth", Codec: twin.IntOrNull, Required: true},
	{Path: "/placement/position", Ptr: "/position", Required: true, Codec: twin.Words([2]string{"0", "before"}, [2]string{"1", "after"}, [2]string{"2", "depth"})},
	{Path: "/placement/depth", Ptr: "/depth", Codec: twin.WithEmpty(twin.Int, "4"), Required: true},
	{Path: "/placement/role", Ptr: "/role", Codec: roleWord, Required: true},
	{Path: "/sortOrder", Ptr: "/order", Codec: twin.WithEmpty(twin.Int, "100"), Required: true},
	{Path: "/probability", Ptr: "/probability", Codec: twin.IntOrNull, Required: true},
	{Path: "/timing/sticky", Ptr: "/sticky", Codec: twin.IntOrNull, Required: true},
	{Path: "/timing/cooldown", Ptr: "/cooldown", Codec: twin.IntOrNull, Required: true},
	{Path: "/timing/delay", Ptr: "/delay", Codec: twin.IntOrNull, Required: true},
	{Path: "/recursion/exclude", Ptr: "/excludeRecursion", Codec: twin.Flag, Required: true},
	{Path: "/recursion/prevent", Ptr: "/preventRecursion", Codec: twin.Flag, Required: true},
	{Path: "/recursion/delayUntil", Ptr: "/delayUntilRecursion", Codec: round, Required: true},
	{Path: "/group/name", Ptr: "/group", Codec: twin.Text, Required: true},
	{Path: "/group/weight", Ptr: "/groupWeight", Codec: twin.IntOrNull, Required: true},
	{Path: "/filter", Over: &filter},
	{Path: "/sources", Ptr: "/additionalMatchingSources", Codec: lists(sources), Required: true},
	{Path: "/triggers", Over: &triggers},
	{Path: "/locked", Ptr: "/locked", Codec: twin.Flag, Required: true},
	{Path: "/folder", Ptr: "/folderId", Codec: orNull(twin.Text), Required: true},
	{Path: "/tags", Ptr: "/tag", Codec: oneTag, Required: true},
	twin.Rest(noSuchEntry),
}

var roleWord = twin.WithEmpty(twin.Words([2]string{`"system"`, "system"}, [2]string{`"user"`, "user"}, [2]string{`"assistant"`, "assistant"}), `"system"`)

// round is a switch: behind the first round, or not.
var round = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		v, problem := twin.Flag.Read(n)
		if v != nil {
			v = canon.NewInt(1)
		}
		return v, problem
	},
	Write: func(val, old *canon.Node) *canon.Node { return twin.Bool.Write(canon.NewBool(val.Raw() != "0"), old) },
	Lossy: func(val *canon.Node) string {
		if val.Raw() == "1" || val.Raw() == "0" {
			return ""
		}
		return "Marinara knows one such round, the first"
	},
	Empty: "false",
}

// oneTag is a list of at most one text.
var oneTag = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		text, problem := twin.ReadText(n)
		if text == nil {
			return nil, problem
		}
		return canon.NewArray(text), problem
	},
	Write: func(val, _ *canon.Node) *canon.Node { return val.At("/0") },
	Lay: func(val, _ *canon.Node) (*canon.Node, []twin.Loss) {
		var losses []twin.Loss
		var put *canon.Node
		for i, it := range val.Items() {
			if put == nil && it.Text() != "" {
				put = it
				continue
			}
			losses = append(losses, twin.Loss{Path: "/" + strconv.Itoa(i), Value: twin.Clip(it), Verdict: twin.Dropped, Reason: "an entry of Marinara has one tag"})
		}
		if put == nil {
			put = canon.NewText("")
		}
		return put, losses
	},
	Empty: `""`,
}

// sources are words, of which the character's scenario has a longer one.
var sources = func() twin.Codec {
	names := [][2]string{
		{"character_name", "character_name"},
		{"character_description", "character_description"},
		{"character_personality", "character_personality"},
		{"character_scenario", "scenario"},
		{"character_tags", "character_tags"},
		{"persona_description", "persona_description"},
		{"persona_tags", "persona_tags"},
	}
	read := func(n *canon.Node) (*canon.Node, string) {
		for _, s := range names {
			if s[0] == n.Text() {
				return canon.NewText(s[1]), ""
			}
		}
		return nil, fmt.Sprintf("is %s, which is not known; it stays in the original file and is not used", twin.Clip(n))
	}
	plain := func(val *canon.Node) *canon.Node {
		for _, s := range names {
			if s[1] == val.Text() {
				return canon.NewText(s[0])
			}
		}
		return nil
	}
	lay := func(val, old *canon.Node) (*canon.Node, []twin.Loss) {
		var list []*canon.Node
		var losses []twin.Loss
		for i, it := range val.Items() {
			if plain(it) == nil {
				losses = append(losses, twin.Loss{Path: "/" + strconv.Itoa(i), Value: twin.Clip(it), Verdict: twin.Dropped, Reason: "Marinara does not look there for keys"})
				continue
			}
			list = append(list, it)
		}
		for _, it := range old.Items() { // words that are not known stay
			if v, _ := read(it); v == nil && it.Kind() == canon.String {
				list = append(list, nil)
			}
		}
		return layWords(list, old, read, plain), losses
	}
	return twin.Codec{Read: twin.ReadList(read), Lay: lay, Empty: "[]", Write: func(val, old *canon.Node) *canon.Node {
		put, _ := lay(val, old)
		return put
	}}
}()

// layWords is a list of words in which those of old that are not known stay, at the end.
func layWords(list []*canon.Node, old *canon.Node, read func(*canon.Node) (*canon.Node, string), plain func(*canon.Node) *canon.Node) *canon.Node {
	var puts []*canon.Node
	for _, it := range list {
		if it != nil {
			puts = append(puts, plain(it))
		}
	}
	for _, it := range old.Items() {
		if v, _ := read(it); v == nil {
			puts = append(puts, it)
		}
	}
	return twin.Refill(old, puts)
}

func readLorebook(f content.File) (content.Reading, error) {
	body, problems := twin.Read(f.Doc, bookFields)
	problems = append(problems, lore.LeaveFolders(body, "/data/entries", "folder")...)
	return content.Reading{Warnings: problems, Found: []content.Found{
		{Kind: content.KindLorebook, Body: body, Notes: content.Notes{BookEntries: body.Field("entries").Len()}},
	}}, nil
}

func writeLorebook(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshBook, "/data/lorebook/name")
	if err != nil {
		return content.Written{}, err
	}
	full, _ := twin.Read(s.Doc, bookFields)
	lore.RestoreFolders(s.Body, full)
	return s.Written(twin.Lay(s.Doc, bookFields, s.Body)), nil
}

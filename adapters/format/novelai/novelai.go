// Package novelai is the format of NovelAI's lorebooks, in a JSON file and in a picture.
//
// It is an adapter of the content studio behind content.Format. What steers NovelAI's
// engine alone (ranges, budgets of an entry, biases) stays in the file. It knows no other
// platform and reads no disk.
package novelai

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Formats are the formats of this platform.
func Formats() []content.Format { return []content.Format{lorebook{}} }

type lorebook struct{}

// About implements content.Format. A picture comes back as a picture.
func (lorebook) About() content.About {
	return content.About{
		Name: "novelai-lorebook", Platform: "NovelAI", Ext: ".lorebook", Verbatim: true,
		Kinds: []string{content.KindLorebook}, Writes: []string{content.KindLorebook},
	}
}

// docOf is the lorebook in a file, or nil.
func docOf(f content.File) *canon.Node {
	for _, d := range f.Docs {
		if (d.Keyword == "" && f.Carrier.Kind == carrier.JSON || d.Keyword == carrier.NAIData) && d.Tree.Field("lorebookVersion") != nil &&
			d.Tree.Field("entries").Kind() == canon.Array {
			return d.Tree
		}
	}
	return nil
}

// Score implements content.Format.
func (lorebook) Score(f content.File) float64 {
	switch {
	case docOf(f) != nil:
		return 1
	case f.Carrier.Payload(carrier.NAIData) != nil && f.Carrier.Payload(carrier.Chara) == nil && f.Carrier.Payload(carrier.CCV3) == nil:
		return 0.6 // to say what is wrong with it
	}
	return 0
}

const (
	freshBook  = `{"lorebookVersion":6,"entries":[],"settings":{"orderByKeyLocations":false},"categories":[],"order":[]}`
	freshEntry = `{"text":"","contextConfig":{"prefix":"","suffix":"\n","tokenBudget":2048,"reservedTokens":0,"budgetPriority":400,"trimDirection":"trimBottom",` +
		`"insertionType":"newline","maximumTrimType":"sentence","insertionPosition":-1},"displayName":"","id":"","keys":[],"searchRange":1000,"enabled":true,` +
		`"forceActivation":false,"keyRelative":false,"nonStoryActivatable":false,"category":"","loreBiasGroups":[],"advancedConditions":[]}`
	noSuch = "NovelAI does not have it"
)

func lost(path string) twin.Field { return twin.Field{Path: path, Codec: twin.Text, Reason: noSuch} }

func lostAll(paths ...string) (fields []twin.Field) {
	for _, p := range paths {
		fields = append(fields, lost(p))
	}
	return fields
}

var bookFields = slices.Concat(lostAll("/name", "/description", "/tags", "/settings"), []twin.Field{
	{Path: "/folders", Ptr: "/categories", Codec: twin.Objects(slices.Concat([]twin.Field{
		{Path: "/id", Ptr: "/id", Codec: twin.Text},
		{Path: "/name", Ptr: "/name", Codec: twin.Text, Required: true},
		{Path: "/enabled", Ptr: "/enabled", Codec: twin.Bool},
	}, lostAll("/parent", "/order")), "/id", "category-", `{"name":"","id":"","enabled":true}`)},
	{Path: "/entries", Ptr: "/entries", Required: true, Codec: twin.Objects(entryFields, "/id", "entry-", freshEntry)},
})

var entryFields = slices.Concat([]twin.Field{
	{Path: "/id", Ptr: "/id", Codec: twin.Text},
	{Path: "/title", Ptr: "/displayName", Codec: twin.Text, Required: true},
	{Path: "/content", Ptr: "/text", Codec: twin.Text, Required: true},
	{Path: "/enabled", Over: &enabled},
	{Path: "/activation", Over: &activation},
	{Path: "/keys", Ptr: "/keys", Codec: lore.Keys, Required: true},
	{Path: "/sortOrder", Ptr: "/contextConfig/budgetPriority", Codec: priority, Required: true},
	{Path: "/folder", Ptr: "/category", Codec: twin.Text, Required: true},
}, lostAll("/note", "/secondary", "/logic", "/matching", "/placement", "/priority", "/displayIndex", "/probability", "/timing", "/recursion", "/group", "/filter",
	"/sources", "/triggers", "/ignoreBudget", "/locked", "/automationId", "/tags"))

var priority = func() twin.Codec {
	c := twin.Int
	c.Empty = "400"
	return c
}()

// enabled is there in every canonical entry.
var enabled = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		v, problem := twin.Bool.Read(doc.Field("enabled"))
		if v == nil {
			v = canon.NewBool(true)
		}
		return v, problem
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		if val == nil {
			val = canon.NewBool(true)
		}
		twin.Set(doc, "/enabled", twin.Bool.Write(val, doc.Field("enabled")))
		return nil
	},
}

var activation = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		v, problem := twin.Flag.Read(doc.Field("forceActivation"))
		if v == nil {
			return nil, problem
		}
		return canon.NewText("constant"), problem
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		twin.Set(doc, "/forceActivation", canon.NewBool(val.Text() == "constant"))
		if val.Text() == "vector" {
			return []twin.Loss{{Value: "vector", Verdict: twin.Dropped, Reason: "NovelAI finds entries by their keys"}}
		}
		return nil
	},
}

// Read implements content.Format.
func (lorebook) Read(f content.File) (content.Reading, error) {
	doc := docOf(f)
	if doc == nil {
		return content.Reading{}, fault.New(content.CodeUnread, "novelai.read", "%q carries no lorebook of NovelAI that can be read", f.Name).
			WithHint("export it from NovelAI again")
	}
	body, problems := readBody(doc)
	return content.Reading{
		Found:    []content.Found{{Kind: content.KindLorebook, Body: body, Notes: content.Notes{BookEntries: body.Field("entries").Len()}}},
		Warnings: append(append([]string{}, f.Carrier.Warnings...), problems...),
	}, nil
}

// readBody is the body; an entry in a category that is not there is in none.
func readBody(doc *canon.Node) (*canon.Node, []string) {
	body, problems := twin.Read(doc, bookFields)
	problems = append(problems, lore.LeaveFolders(body, "/entries", "category")...)
	return body, problems[:min(len(problems), 5)]
}

// Write implements content.Format.
func (lorebook) Write(w content.Writing) (content.Written, error) {
	body := w.Body.Clone()
	doc, err := canon.ParseTree([]byte(freshBook))
	must(err)
	var raw []byte
	if w.Twin != nil {
		if doc = docOf(content.Open(w.Twin.Name, w.Twin.Raw)); doc == nil {
			return content.Written{}, fault.New(content.CodeEscrow, "content.export", "the original %q of %s no longer reads", w.Twin.Name, w.Piece.Ref)
		}
		doc, raw = doc.Clone(), w.Twin.Raw
		if body.Field("name").Text() == content.NameFromFile(w.Twin.Name, 0) {
			twin.Drop(body, "/name")
		}
	}
	losses := astray(body)
	if w.Twin != nil {
		full, _ := twin.Read(doc, bookFields)
		lore.RestoreFolders(body, full)
	}
	was := ids(doc)
	losses = append(losses, twin.Lay(doc, bookFields, body)...)
	order(doc, was)
	out := content.Written{Losses: losses}
	if carrier.Sniff(raw) == carrier.PNG {
		out.Data, err = carrier.WriteTexts(raw, carrier.Payload{Keyword: carrier.NAIData, Text: doc.Bytes()})
		return out, err
	}
	out.Data = carrier.WriteJSON(raw, doc.Bytes())
	return out, nil
}

// astray takes entries out of categories that are not there.
func astray(body *canon.Node) (losses []content.Loss) {
	folders := map[string]bool{}
	for _, c := range body.Field("folders").Items() {
		folders[c.Field("id").Text()] = true
	}
	for i, e := range body.Field("entries").Items() {
		if at := e.Field("folder"); at != nil && !folders[at.Text()] {
			losses = append(losses, content.Loss{Path: fmt.Sprintf("/entries/%d/folder", i), Value: twin.Clip(at), Verdict: twin.Dropped, Reason: "the folder is not there"})
			twin.Drop(e, "/folder")
		}
	}
	return losses
}

func ids(doc *canon.Node) (list []string) {
	for _, e := range doc.Field("entries").Items() {
		list = append(list, e.Field("id").Text())
	}
	return list
}

// order keeps the list of ids that NovelAI shows in step, where entries have changed.
func order(doc *canon.Node, was []string) {
	now := ids(doc)
	if slices.Equal(now, was) || doc.Field("order").Kind() != canon.Array {
		return
	}
	there, before, seen := setOf(now), setOf(was), map[string]bool{}
	var list []*canon.Node
	for _, it := range doc.Field("order").Items() {
		if id := it.Text(); there[id] || !before[id] {
			list, seen[id] = append(list, it), true
		}
	}
	for _, id := range now {
		if id != "" && !seen[id] && !before[id] {
			list = append(list, canon.NewText(id))
		}
	}
	for i, it := range list {
		twin.Set(doc, "/order/"+strconv.Itoa(i), it)
	}
	for i := doc.Field("order").Len() - 1; i >= len(list); i-- {
		twin.Drop(doc, "/order/"+strconv.Itoa(i))
	}
}

func setOf(list []string) map[string]bool {
	m := map[string]bool{}
	for _, id := range list {
		m[id] = true
	}
	return m
}

// must is for pointers of our own into objects.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

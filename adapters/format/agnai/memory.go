package agnai

import (
	"fmt"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

func scoreMemory(doc *canon.Node) float64 {
	if doc.Field("kind").Text() == "memory" && doc.Field("entries").Kind() == canon.Array && doc.Field("schemaVersion") == nil {
		return 1
	}
	return 0
}

const (
	noSuchBook  = "a memory book of Agnai has no such field"
	noSuchEntry = "an entry of a memory book has no such field"
	freshMemory = `{"kind":"memory","name":"","description":"","entries":[]}`
	freshEntry  = `{"name":"","entry":"","keywords":[],"priority":0,"weight":0,"enabled":false}`
)

var memoryFields = []twin.Field{
	{Path: "/name", Ptr: "/name", Codec: twin.Text, Required: true},
	{Path: "/description", Ptr: "/description", Codec: twin.Text, Required: true},
	{Path: "/settings/scanDepth", Ptr: "/scanDepth", Codec: twin.Int},
	{Path: "/settings/tokenBudget", Ptr: "/tokenBudget", Codec: twin.Int},
	{Path: "/settings/recursive", Ptr: "/recursiveScanning", Codec: twin.Bool},
	{Path: "/entries", Ptr: "/entries", Required: true, Codec: twin.Objects(entryFields, "/id", "entry-", freshEntry)},
	twin.Rest(noSuchBook),
}

// entryFields: what stands behind sortOrder came with imported cards.
var entryFields = []twin.Field{
	{Path: "/id", Ptr: "/id", Codec: entryID},
	{Path: "/title", Ptr: "/name", Codec: twin.Text, Required: true},
	{Path: "/content", Ptr: "/entry", Codec: twin.Text, Required: true},
	{Path: "/keys", Ptr: "/keywords", Codec: words, Required: true},
	{Path: "/enabled", Ptr: "/enabled", Codec: twin.AbsentIs(twin.Bool, canon.NewBool(false))},
	{Path: "/priority", Ptr: "/priority", Codec: twin.WithEmpty(twin.Int, "0"), Required: true},
	{Path: "/sortOrder", Ptr: "/weight", Codec: twin.WithEmpty(twin.Int, "0"), Required: true},
	tail("/note", "/comment", twin.Text),
	tail("/secondary", "/secondaryKeys", words),
	tail("/activation", "/constant", lore.Constant("Agnai does not find entries by their meaning")),
	tail("/placement/position", "/position", twin.Words(
		[2]string{`"before_char"`, "before"}, [2]string{`"after_char"`, "after"}, [2]string{"0", "before"}, [2]string{"1", "after"}, [2]string{`""`, ""},
	)),
	{Path: "/probability", Over: &probability},
	{Path: "/logic", Over: &logic},
	tail("/recursion/exclude", "/excludeRecursion", twin.Flag),
	twin.Rest(noSuchEntry),
}

// entryID is a text or a number in the file.
var entryID = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		if n.Kind() == canon.Number {
			return canon.NewText(n.Raw()), ""
		}
		return twin.ReadText(n)
	},
	Write: func(val, old *canon.Node) *canon.Node {
		if n, err := strconv.Atoi(val.Text()); err == nil && old.Kind() == canon.Number && strconv.Itoa(n) == val.Text() {
			return canon.NewInt(int64(n))
		}
		return val
	},
	Empty: `""`,
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
		if val == nil {
			twin.Drop(doc, "/probability")
			if doc.Field("useProbability") != nil {
				twin.Set(doc, "/useProbability", twin.Bool.Write(canon.NewBool(false), doc.Field("useProbability")))
			}
			return nil
		}
		twin.Set(doc, "/probability", twin.Int.Write(val, doc.Field("probability")))
		if v, _ := twin.Bool.Read(doc.Field("useProbability")); v.Raw() != "true" {
			twin.Set(doc, "/useProbability", twin.Bool.Write(canon.NewBool(true), doc.Field("useProbability")))
		}
		return []twin.Loss{{Value: val.Raw(), Verdict: twin.Embedded, Reason: kept}}
	},
}

// words is a list of keys: words, never patterns.
var words = func() twin.Codec {
	read := func(n *canon.Node) (*canon.Node, string) {
		text, problem := twin.ReadText(n)
		if text == nil {
			return nil, problem
		}
		k := canon.NewObject()
		twin.Set(k, "/text", text)
		return k, problem
	}
	write := twin.WriteList(read, func(val *canon.Node) *canon.Node { return canon.NewText(spelled(val)) })
	lay := func(val, old *canon.Node) (*canon.Node, []twin.Loss) {
		var list []*canon.Node
		var losses []twin.Loss
		lose := func(i int, path string, n *canon.Node, v twin.Verdict, why string) {
			losses = append(losses, twin.Loss{Path: fmt.Sprintf("/%d%s", i, path), Value: twin.Clip(n), Verdict: v, Reason: why})
		}
		for i, k := range val.Items() {
			text := k.Field("text")
			switch {
			case text.Text() == "":
				lose(i, "", text, twin.Dropped, "an empty key is none")
				continue
			case k.Field("regex").Raw() == "true":
				lose(i, "", text, twin.Approximated, "Agnai's keys are words; the pattern is written as its text, and matches as one")
			case k.Field("flags") != nil:
				lose(i, "/flags", k.Field("flags"), twin.Dropped, "only a pattern has flags")
			}
			if p := k.Field("probability"); p != nil {
				lose(i, "/probability", p, twin.Dropped, "a key of Agnai has no probability")
			}
			list = append(list, k)
		}
		return write(canon.NewArray(list...), old), losses
	}
	return twin.Codec{
		Read: twin.ReadList(read), Lay: lay, Empty: "[]",
		Write: func(val, old *canon.Node) *canon.Node {
			put, _ := lay(val, old)
			return put
		},
	}
}()

// spelled is a key as a text: of a pattern with its slashes.
func spelled(val *canon.Node) string {
	return content.LoreKey{Text: val.Field("text").Text(), Regex: val.Field("regex").Raw() == "true", Flags: val.Field("flags").Text()}.Spelled()
}

func readMemory(f content.File) (content.Reading, error) {
	body, problems := twin.Read(f.Doc, memoryFields)
	return content.Reading{Warnings: append(problems, idle(body)...), Found: []content.Found{
		{Kind: content.KindLorebook, Body: body, Notes: content.Notes{BookEntries: body.Field("entries").Len()}},
	}}, nil
}

// idle says how many entries have values that Agnai keeps and does not use.
func idle(body *canon.Node) []string {
	n := 0
	for _, e := range body.Field("entries").Items() {
		for _, key := range []string{"secondary", "activation", "placement", "probability", "logic", "recursion"} {
			if e.Field(key) != nil {
				n++
				break
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of the entries have values of other programs, which Agnai keeps and does not use; here they are read", n)}
}

func writeMemory(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshMemory, "/name")
	if err != nil {
		return content.Written{}, err
	}
	return s.Written(twin.Lay(s.Doc, memoryFields, s.Body)), nil
}

// logic is how secondary keys count, if they do.
var logic = func() twin.Over {
	over := lore.Logic(lore.NumberedLogic)
	write := over.Write
	over.Write = func(doc, val *canon.Node) []twin.Loss {
		losses := write(doc, val)
		if val != nil {
			losses = append(losses, twin.Loss{Value: val.Text(), Verdict: twin.Embedded, Reason: kept})
		}
		return losses
	}
	return over
}()

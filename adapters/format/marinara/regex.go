package marinara

import (
	"fmt"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// scoreRegex knows a script by a pattern and placements that are words.
func scoreRegex(doc *canon.Node) float64 {
	if isScript(doc) {
		return 0.95
	}
	for _, row := range doc.Items() {
		if isScript(row) {
			return 0.95
		}
	}
	return 0
}

func isScript(n *canon.Node) bool {
	if n.Field("findRegex").Kind() != canon.String || n.Field("scriptName") != nil || n.Field("find_regex") != nil || n.Field("name").Kind() != canon.String {
		return false
	}
	if p := n.Field("placement"); p.Kind() == canon.String {
		return strings.Contains(p.Text(), "_output") || strings.Contains(p.Text(), "_input") || p.Text() == "[]"
	}
	for _, p := range n.Field("placement").Items() {
		if p.Kind() != canon.String {
			return false
		}
	}
	return n.Field("placement").Kind() == canon.Array
}

const freshRule = `{"id":"","name":"","enabled":true,"findRegex":"","replaceString":"","trimStrings":[],"placement":[],"flags":"","promptOnly":false,"order":0,"minDepth":null,"maxDepth":null}`

const noSuchRule = "a regex script of Marinara has no such field"

var ruleFields = []twin.Field{
	{Path: "/id", Ptr: "/id", Codec: twin.Text},
	{Path: "/name", Ptr: "/name", Codec: twin.Text, Required: true},
	{Path: "/find", Ptr: "/findRegex", Codec: twin.Text, Required: true},
	{Path: "/flags", Ptr: "/flags", Codec: twin.Text, Required: true},
	{Path: "/replace", Ptr: "/replaceString", Codec: twin.Text, Required: true},
	{Path: "/trim", Ptr: "/trimStrings", Codec: lists(texts("an empty text trims nothing")), Required: true},
	{Path: "/placement", Ptr: "/placement", Codec: lists(placements), Required: true},
	{Path: "/phases", Ptr: "/promptOnly", Codec: phases, Required: true},
	{Path: "/enabled", Ptr: "/enabled", Codec: twin.AbsentIs(twin.Bool, canon.NewBool(true))},
	{Path: "/order", Ptr: "/order", Codec: twin.WithEmpty(twin.Int, "0"), Required: true},
	{Path: "/minDepth", Ptr: "/minDepth", Codec: twin.IntOrNull, Required: true},
	{Path: "/maxDepth", Ptr: "/maxDepth", Codec: twin.IntOrNull, Required: true},
	twin.Lost("/substitute", twin.Text, "Marinara puts macros into every pattern as they are"),
	twin.Rest(noSuchRule),
}

var rules = twin.Objects(ruleFields, "/id", "rule-", freshRule)

// texts is a list of texts; why is the loss of an empty one.
func texts(why string) twin.Codec {
	c := twin.TextList
	c.Lay = func(val, old *canon.Node) (*canon.Node, []twin.Loss) {
		var list []*canon.Node
		var losses []twin.Loss
		for i, it := range val.Items() {
			if it.Text() == "" {
				losses = append(losses, twin.Loss{Path: fmt.Sprintf("/%d", i), Verdict: twin.Dropped, Reason: why})
				continue
			}
			list = append(list, it)
		}
		return twin.TextList.Write(canon.NewArray(list...), old), losses
	}
	return c
}

// placements are two words.
var placements = func() twin.Codec {
	read := func(n *canon.Node) (*canon.Node, string) {
		if n.Text() == "user_input" || n.Text() == "ai_output" {
			return canon.NewText(n.Text()), ""
		}
		return nil, fmt.Sprintf("is %s, which is not known; it stays in the original file and is not used", twin.Clip(n))
	}
	lay := func(val, old *canon.Node) (*canon.Node, []twin.Loss) {
		var list []*canon.Node
		var losses []twin.Loss
		for i, it := range val.Items() {
			if v, _ := read(it); v == nil {
				losses = append(losses, twin.Loss{Path: fmt.Sprintf("/%d", i), Value: it.Text(), Verdict: twin.Dropped, Reason: "scripts of Marinara run over what the user says and what the model says, and nowhere else"})
				continue
			}
			list = append(list, it)
		}
		return layWords(list, old, read, twin.Keep), losses
	}
	return twin.Codec{Read: twin.ReadList(read), Lay: lay, Empty: "[]", Write: func(val, old *canon.Node) *canon.Node {
		put, _ := lay(val, old)
		return put
	}}
}()

// phases is one switch.
var phases = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		v, problem := twin.Flag.Read(n)
		if v != nil {
			v = canon.NewArray(canon.NewText("prompt"))
		}
		return v, problem
	},
	Write: func(val, old *canon.Node) *canon.Node {
		return twin.Bool.Write(canon.NewBool(promptOnly(val)), old)
	},
	Lossy: func(val *canon.Node) string {
		if promptOnly(val) {
			return ""
		}
		return "Marinara has one switch, prompt only; without it a script changes the text wherever it is shown"
	},
	Empty: "false",
}

func promptOnly(val *canon.Node) bool { return val.Len() == 1 && val.At("/0").Text() == "prompt" }

// A file is one script, or a list of them. Both are read as a list.
func scriptsOf(doc *canon.Node) *canon.Node {
	if doc.Kind() == canon.Object {
		return canon.NewArray(doc)
	}
	return doc
}

func readRegex(f content.File) (content.Reading, error) {
	body := canon.NewObject()
	list, problem := rules.Read(scriptsOf(f.Doc))
	if list != nil {
		twin.Set(body, "/rules", list)
	}
	var problems []string
	if problem != "" {
		problems = append(problems, problem)
	}
	if f.Doc.Kind() == canon.Object && f.Doc.Field("name").Text() != "" {
		twin.Set(body, "/name", canon.NewText(f.Doc.Field("name").Text()))
	}
	return content.Reading{Warnings: problems, Found: []content.Found{{Kind: content.KindRegex, Body: body}}}, nil
}

func writeRegex(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, "[]", "")
	if err != nil {
		return content.Written{}, err
	}
	before, _ := rules.Read(scriptsOf(s.Doc))
	now := s.Body.Field("rules")
	if now == nil {
		now = canon.NewArray()
	}
	put, losses := rules.Lay(now, scriptsOf(s.Doc))
	for i := range losses {
		losses[i].Path = "/rules" + losses[i].Path
	}
	own := s.Doc.Field("name").Text()
	switch {
	case canon.Equal(s.Body.Field("rules"), before):
	case s.Doc.Kind() == canon.Object && put.Len() == 1:
		twin.Set(s.Doc, "", put.At("/0"))
	default:
		twin.Set(s.Doc, "", put)
	}
	if name := s.Body.Field("name"); name != nil && name.Text() != own {
		losses = append(losses, twin.Loss{Path: "/name", Value: twin.Clip(name), Verdict: twin.Dropped, Reason: "a file of scripts has no name for them together; the file's own says it"})
	}
	if d := s.Body.Field("description"); d != nil {
		losses = append(losses, twin.Loss{Path: "/description", Value: twin.Clip(d), Verdict: twin.Dropped, Reason: "a file of scripts has no description"})
	}
	return s.Written(losses), nil
}

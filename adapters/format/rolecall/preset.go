package rolecall

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/chatpreset"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/secret"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// scorePreset knows a preset of chat completion by the keys that RoleCall adds.
func scorePreset(f content.File) float64 {
	if !chatpreset.HasPrompts(f.Doc.Field("prompts")) && !chatpreset.IsEmpty(f.Doc) {
		return 0
	}
	for _, own := range []string{"/macro_engine_yaml", "/choice_groups", "/readme", "/extensions/linkedRegexScripts"} {
		if f.Doc.At(own) != nil {
			return 1
		}
	}
	return 0
}

const freshPreset = `{"name":"","readme":"","prompts":[],"prompt_order":[],"choice_groups":[]}`

// own are the fields that RoleCall adds to a preset of chat completion, or has in another
// way.
var own = map[string]twin.Field{
	"/description": {Path: "/description", Ptr: "/readme", Codec: twin.Text},
	"/hooks":       {Path: "/hooks", Ptr: "/macro_engine_yaml", Codec: twin.Text},
	"/choices":     {Path: "/choices", Ptr: "/choice_groups", Codec: choices},
	"/groups":      twin.Lost("/groups", twin.TextList, "RoleCall groups prompts by a prompt between them whose name is a heading"),
}

// choices are questions; what an answer sets beside its value stays in the file.
var choices = twin.Objects([]twin.Field{
	{Path: "/key", Ptr: "/id", Codec: twin.Text},
	{Path: "/type", Ptr: "/type", Required: true, Codec: twin.WithEmpty(twin.Words(
		[2]string{`"one"`, ""}, [2]string{`"many"`, "many"}, [2]string{`"toggle"`, "toggle"}, [2]string{`"input"`, "text"},
	), `"one"`)},
	{Path: "/label", Ptr: "/label", Codec: twin.Text, Required: true},
	{Path: "/description", Ptr: "/description", Codec: twin.Text},
	{Path: "/options", Ptr: "/options", Codec: twin.Objects([]twin.Field{
		{Path: "/id", Ptr: "/id", Codec: twin.Text},
		{Path: "/label", Ptr: "/label", Codec: twin.Text, Required: true},
		{Path: "/value", Ptr: "/value", Codec: twin.Text},
		{Path: "/blocks", Ptr: "/prompts", Codec: twin.TextList},
	}, "/id", "option-", `{"id":"","label":""}`)},
	{Path: "/default", Ptr: "/default", Codec: oneOrMany},
	{Path: "/placeholder", Ptr: "/placeholder", Codec: twin.Text},
	{Path: "/min", Ptr: "/min", Codec: twin.Sampler},
	twin.Rest("a choice of RoleCall has no such field"),
}, "/key", "choice-", `{"id":"","label":"","type":"one"}`)

// oneOrMany is a list of texts, written as one text while it is one.
var oneOrMany = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		switch n.Kind() {
		case canon.String, canon.Bool, canon.Number:
			text, _ := twin.ReadText(n)
			if text == nil {
				return nil, ""
			}
			return canon.NewArray(text), ""
		}
		return twin.TextList.Read(n)
	},
	Write: func(val, old *canon.Node) *canon.Node {
		if val.Len() == 1 && old.Kind() != canon.Array {
			return val.At("/0")
		}
		return twin.TextList.Write(val, old)
	},
	Empty: `""`,
}

// fields are those of a preset of chat completion, but for RoleCall's own.
func fields(doc *canon.Node) []twin.Field {
	list := chatpreset.Fields(doc)
	for i, f := range list {
		if mine, ok := own[f.Path]; ok {
			list[i] = mine
		}
	}
	return list
}

func readPreset(f content.File) (content.Reading, error) {
	body, problems := twin.Read(f.Doc, fields(f.Doc))
	r := content.Reading{
		Found:    []content.Found{{Kind: content.KindPreset, Body: body}},
		Warnings: append(problems, chatpreset.Strays(f.Doc)...),
	}
	chatpreset.ReadScripts(f, &r)
	return r, nil
}

func writePreset(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshPreset, "/name")
	if err != nil {
		return content.Written{}, err
	}
	losses := twin.Lay(s.Doc, fields(s.Doc), s.Body)
	losses = append(losses, chatpreset.LayScripts(s, w.Linked)...)
	stripped := secret.Strip(s.Doc)
	out := s.Written(losses)
	out.Stripped = stripped
	return out, nil
}

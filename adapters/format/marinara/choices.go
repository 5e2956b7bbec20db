package marinara

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

const noSuchChoice = "a choice of Marinara has no such field"

var choiceFields = []twin.Field{
	{Path: "/key", Ptr: "/variableName", Codec: twin.Text},
	{Path: "/type", Ptr: "/multiSelect", Codec: many, Required: true},
	{Path: "/label", Ptr: "/question", Codec: twin.Text, Required: true},
	{Path: "/options", Ptr: "/options", Required: true, Codec: twin.Objects([]twin.Field{
		{Path: "/id", Ptr: "/id", Codec: twin.Text},
		{Path: "/label", Ptr: "/label", Codec: twin.Text, Required: true},
		{Path: "/value", Ptr: "/value", Codec: twin.Text, Required: true},
		twin.Rest("an option of Marinara has no such field"),
	}, "/id", "option-", `{"id":"","label":"","value":""}`)},
	{Path: "/separator", Ptr: "/separator", Codec: twin.Text, Required: true},
	{Path: "/random", Ptr: "/randomPick", Codec: twin.WithEmpty(twin.Flag, `"false"`), Required: true},
	twin.Rest(noSuchChoice),
}

var choiceRows = twin.Objects(choiceFields, "/key", "choice_", freshChoice)

// many is a switch.
var many = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		v, problem := twin.Flag.Read(n)
		if v != nil {
			v = canon.NewText("many")
		}
		return v, problem
	},
	Write: func(val, old *canon.Node) *canon.Node {
		return twin.Bool.Write(canon.NewBool(val.Text() == "many"), text(old))
	},
	Lossy: func(val *canon.Node) string {
		if val.Text() == "many" {
			return ""
		}
		return "Marinara asks for one of the options, or for several"
	},
	Empty: `"false"`,
}

const (
	choicesAt  = "/data/choiceBlocks"
	defaultsAt = "/data/preset/defaultChoices"
)

// choices are rows; their defaults stand together in the preset.
var choices = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		list, problem := choiceRows.Read(doc.At(choicesAt))
		for _, c := range list.Items() {
			if vals := defaultOf(doc, c.Field("key").Text()); vals != nil {
				twin.Set(c, "/default", vals)
			}
		}
		return list, problem
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		rows := val.Clone()
		if rows == nil {
			rows = canon.NewArray()
		}
		if doc.At(defaultsAt).Kind() != canon.Object {
			twin.Set(doc, defaultsAt, canon.NewObject())
		}
		for _, c := range rows.Items() {
			key := c.Field("key").Text()
			if now := c.Field("default"); !canon.Equal(now, defaultOf(doc, key)) {
				setDefault(doc, key, now)
			}
			twin.Drop(c, "/default")
		}
		old, _ := choiceRows.Read(doc.At(choicesAt))
		for _, c := range old.Items() {
			if key := c.Field("key").Text(); !hasKey(rows, key) {
				twin.Drop(doc, defaultsAt+canon.JoinPointer(key))
			}
		}
		put, losses := choiceRows.Lay(rows, doc.At(choicesAt))
		for i, it := range put.Items() {
			if it.Field("id").Text() == "" && it.Field("id") != nil {
				twin.Set(it, "/id", it.Field("variableName"))
				twin.Set(it, "/sortOrder", canon.NewInt(int64(i)))
			}
		}
		twin.Set(doc, choicesAt, put)
		return losses
	},
}

func hasKey(rows *canon.Node, key string) bool {
	for _, c := range rows.Items() {
		if c.Field("key").Text() == key {
			return true
		}
	}
	return false
}

// defaultOf is a list of texts.
func defaultOf(doc *canon.Node, key string) *canon.Node {
	n := doc.At(defaultsAt).Field(key)
	switch n.Kind() {
	case canon.String:
		if n.Text() == "" {
			return nil
		}
		return canon.NewArray(canon.NewText(n.Text()))
	case canon.Array:
		vals, _ := twin.TextList.Read(n)
		return vals
	}
	return nil
}

func setDefault(doc *canon.Node, key string, now *canon.Node) {
	ptr := defaultsAt + canon.JoinPointer(key)
	old := doc.At(ptr)
	switch {
	case now.Len() == 0:
		twin.Drop(doc, ptr)
	case now.Len() == 1 && old.Kind() != canon.Array:
		twin.Set(doc, ptr, now.At("/0"))
	default:
		twin.Set(doc, ptr, twin.TextList.Write(now, old))
	}
}

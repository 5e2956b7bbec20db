package card

import (
	"fmt"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// triggers are scripts of Risu, sealed: each is carried as it stands.
var triggers = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		switch n.Kind() {
		case canon.Null:
			return nil, ""
		case canon.Array:
		default:
			return nil, fmt.Sprintf("is %s where a list belongs; it stays in the original file and is not used", n.Kind())
		}
		var list []*canon.Node
		for _, raw := range n.Items() {
			if raw.Kind() != canon.Object {
				continue
			}
			t := canon.NewObject()
			must(t.Set("/id", canon.NewText("trigger-"+strconv.Itoa(len(list)+1))))
			must(t.Set("/on", canon.NewBool(true)))
			must(t.Set("/engine", canon.NewText("risu")))
			if name := raw.Field("comment").Text(); name != "" {
				must(t.Set("/name", canon.NewText(name)))
			}
			must(t.Set("/data", raw))
			list = append(list, t)
		}
		if list == nil {
			return nil, ""
		}
		return canon.NewArray(list...), ""
	},
	Write: func(val, old *canon.Node) *canon.Node {
		var list []*canon.Node
		for _, t := range val.Items() {
			data := t.Field("data")
			if !isRisu(t) || data.Kind() != canon.Object {
				continue
			}
			for _, raw := range old.Items() {
				if canon.Equal(raw, data) {
					data = raw
					break
				}
			}
			if name := t.Field("name").Text(); name != data.Field("comment").Text() {
				data = data.Clone()
				must(data.Set("/comment", canon.NewText(name)))
			}
			list = append(list, data)
		}
		for _, raw := range old.Items() {
			if raw.Kind() != canon.Object {
				list = append(list, raw) // not read, and kept at the end
			}
		}
		return twin.Refill(old, list)
	},
	Empty: `[]`,
	Lossy: func(val *canon.Node) string {
		for i, t := range val.Items() {
			switch {
			case !isRisu(t) || t.Field("data").Kind() != canon.Object:
				return fmt.Sprintf("trigger %d is no script of Risu's; it is not written", i)
			case t.Field("on").Raw() != "true":
				return "Risu has no switch for a trigger: all are on there"
			case t.Field("name").Text() != t.At("/data/comment").Text():
				return "the name of a trigger stands in its script too: there it is the name that counts"
			case t.Field("id").Text() != "trigger-"+strconv.Itoa(i+1):
				return "Risu has no ids of triggers; read again they are counted"
			}
		}
		return ""
	},
}

func isRisu(t *canon.Node) bool {
	engine := t.Field("engine").Text()
	return engine == "" || engine == "risu"
}

// Risu's lists of files, and the types that they have among assets.
const (
	emotionType = "emotion"
	otherType   = "x-risu-asset"
)

// risuAssets are the two lists of files that Risu has beside version 2.
var risuAssets = twin.Codec{
	Read: func(bag *canon.Node) (*canon.Node, string) {
		var list []*canon.Node
		for _, l := range []struct{ key, typ string }{{"emotions", emotionType}, {"additionalAssets", otherType}} {
			for _, raw := range bag.Field(l.key).Items() {
				if a := readPair(raw, l.typ); a != nil {
					list = append(list, a)
				}
			}
		}
		if list == nil {
			return nil, ""
		}
		return canon.NewArray(list...), ""
	},
	Write: func(val, bag *canon.Node) *canon.Node {
		bag = bag.Clone()
		if bag.Kind() != canon.Object {
			bag = canon.NewObject()
		}
		for _, l := range []struct{ key, typ string }{{"emotions", emotionType}, {"additionalAssets", otherType}} {
			mine := canon.NewArray()
			for _, a := range val.Items() {
				if a.Field("type").Text() == l.typ {
					must(mine.Set("/-", a))
				}
			}
			read := func(n *canon.Node) (*canon.Node, string) { return readPair(n, l.typ), "" }
			old := bag.Field(l.key)
			if put := twin.WriteList(read, writePair)(mine, old); put.Len() > 0 || old != nil {
				must(bag.Set("/"+l.key, put))
			}
		}
		return bag
	},
	Lossy: func(val *canon.Node) string {
		for _, a := range val.Items() {
			if t := a.Field("type").Text(); t != emotionType && t != otherType {
				return "Risu has emotions and other files beside version 2; assets of other types are not written"
			}
		}
		return ""
	},
}

// readPair is one file: its name, where it is and its extension.
func readPair(n *canon.Node, typ string) *canon.Node {
	if n.Kind() != canon.Array || n.At("/1").Kind() != canon.String {
		return nil
	}
	a := canon.NewObject()
	must(a.Set("/type", canon.NewText(typ)))
	for i, key := range []string{"name", "uri", "ext"} {
		if v := n.At("/" + strconv.Itoa(i)); v.Text() != "" {
			must(a.Set("/"+key, canon.NewText(v.Text())))
		}
	}
	return a
}

func writePair(a *canon.Node) *canon.Node {
	text := func(key string) *canon.Node { return canon.NewText(a.Field(key).Text()) }
	if a.Field("ext") == nil {
		return canon.NewArray(text("name"), text("uri"))
	}
	return canon.NewArray(text("name"), text("uri"), text("ext"))
}

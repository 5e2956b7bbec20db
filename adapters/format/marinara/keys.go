package marinara

import (
	"fmt"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// keysOver is a list of keys, of which all are patterns or none: one switch says so for
// both lists of an entry. other is the other list.
func keysOver(ptr, other string) *twin.Over {
	codec := func(regex bool) twin.Codec {
		read := func(n *canon.Node) (*canon.Node, string) {
			text, problem := twin.ReadText(n)
			if text == nil {
				return nil, problem
			}
			k := canon.NewObject()
			twin.Set(k, "/text", text)
			if regex {
				twin.Set(k, "/regex", canon.NewBool(true))
			}
			return k, problem
		}
		return lists(twin.Codec{
			Read: twin.ReadList(read), Empty: "[]",
			Write: twin.WriteList(read, func(val *canon.Node) *canon.Node { return val.Field("text") }),
		})
	}
	isRegex := func(doc *canon.Node) bool {
		v, _ := twin.Flag.Read(doc.Field("useRegex"))
		return v != nil
	}
	return &twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) { return codec(isRegex(doc)).Read(doc.At(ptr)) },
		Write: func(doc, val *canon.Node) []twin.Loss {
			regex := isRegex(doc)
			if patterns, all := 0, 0; !regex || val.Len() > 0 {
				for _, k := range val.Items() {
					if k.Field("text").Text() != "" {
						all++
					}
					if k.Field("regex").Raw() == "true" && k.Field("text").Text() != "" {
						patterns++
					}
				}
				// the other list keeps its meaning
				if rest, _ := codec(regex).Read(doc.At(other)); rest == nil && all > 0 && (patterns == all) != regex {
					regex = patterns == all
					twin.Set(doc, "/useRegex", twin.Bool.Write(canon.NewBool(regex), doc.Field("useRegex")))
				}
			}
			var list []*canon.Node
			var losses []twin.Loss
			for i, k := range val.Items() {
				lose := func(path string, v twin.Verdict, why string) {
					losses = append(losses, twin.Loss{Path: fmt.Sprintf("/%d%s", i, path), Value: twin.Clip(k.At(path)), Verdict: v, Reason: why})
				}
				if k.Field("text").Text() == "" {
					lose("", twin.Dropped, "an empty key is none")
					continue
				}
				if k.Field("flags") != nil {
					lose("/flags", twin.Dropped, "a key of Marinara has no flags")
				}
				if k.Field("probability") != nil {
					lose("/probability", twin.Dropped, "a key of Marinara has no probability")
				}
				if is := k.Field("regex").Raw() == "true"; is != regex {
					lose("", twin.Approximated, "all keys of an entry of Marinara are patterns, or none is; its text stays")
				}
				list = append(list, k)
			}
			old := doc.At(ptr)
			twin.Set(doc, ptr, codec(regex).Write(canon.NewArray(list...), old))
			return losses
		},
	}
}

// logic is how secondary keys count, if they do.
var logic = lore.Logic(twin.Words([2]string{`"and"`, "and_any"}, [2]string{`"or"`, "and_any"}, [2]string{`"and_all"`, "and_all"}, [2]string{`"not"`, "not_any"}, [2]string{`"not_all"`, "not_all"}))

// A mode is one of two filters with a list each.
type mode struct{ mode, list string }

var (
	byName    = mode{"/characterFilterMode", "/characterFilterIds"}
	byTag     = mode{"/characterTagFilterMode", "/characterTagFilters"}
	byTrigger = mode{"/generationTriggerFilterMode", "/generationTriggerFilters"}
)

// read is the list that counts, and whether it excludes; nil where anything goes.
func (m mode) read(doc *canon.Node) (list *canon.Node, exclude bool) {
	word := doc.At(m.mode).Text()
	if word != "include" && word != "exclude" {
		return nil, false
	}
	list, _ = lists(twin.TextList).Read(doc.At(m.list))
	return list, word == "exclude"
}

func (m mode) write(doc, list *canon.Node, exclude bool) {
	word := "any"
	if list.Len() > 0 {
		if word = "include"; exclude {
			word = "exclude"
		}
	}
	if was, ex := m.read(doc); canon.Equal(was, list) && (list == nil || ex == exclude) {
		return
	}
	if doc.At(m.mode).Text() != word {
		twin.Set(doc, m.mode, canon.NewText(word))
	}
	if list == nil {
		list = canon.NewArray()
	}
	twin.Set(doc, m.list, lists(twin.TextList).Write(list, doc.At(m.list)))
}

// filter is two filters; one that includes beside one that excludes has no canonical
// form.
var filter = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		names, exNames := byName.read(doc)
		tags, exTags := byTag.read(doc)
		switch {
		case names == nil && tags == nil:
			return nil, ""
		case names != nil && tags != nil && exNames != exTags:
			return nil, "includes by one of names and tags and excludes by the other; it stays in the original file and is not used"
		}
		out := canon.NewObject()
		if exNames || exTags {
			twin.Set(out, "/exclude", canon.NewBool(true))
		}
		if names != nil {
			twin.Set(out, "/names", names)
		}
		if tags != nil {
			twin.Set(out, "/tags", tags)
		}
		return out, ""
	},
	Write: func(doc, val *canon.Node) (losses []twin.Loss) {
		exclude := val.Field("exclude").Raw() == "true"
		put := func(m mode, key string) {
			var list []*canon.Node
			for i, it := range val.Field(key).Items() {
				if it.Text() != "" {
					list = append(list, it)
					continue
				}
				losses = append(losses, twin.Loss{Path: "/" + key + "/" + strconv.Itoa(i), Verdict: twin.Dropped, Reason: "an empty name is none"})
			}
			if list == nil {
				m.write(doc, nil, false)
				return
			}
			m.write(doc, canon.NewArray(list...), exclude)
		}
		put(byName, "names")
		put(byTag, "tags")
		if again, _ := readFilter(doc); again == nil && val.Field("exclude") != nil {
			losses = append(losses, twin.Loss{Path: "/exclude", Value: "true", Verdict: twin.Dropped, Reason: "a filter without names and tags filters nothing"})
		}
		return losses
	},
}

func readFilter(doc *canon.Node) (*canon.Node, bool) {
	names, _ := byName.read(doc)
	if names == nil {
		names, _ = byTag.read(doc)
	}
	return names, names != nil
}

// triggers are the kinds of generation that an entry is for.
var triggers = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		list, exclude := byTrigger.read(doc)
		if exclude {
			return nil, "excludes kinds of generation, which has no canonical form; it stays in the original file and is not used"
		}
		return list, ""
	},
	Write: func(doc, val *canon.Node) (losses []twin.Loss) {
		var list []*canon.Node
		for i, it := range val.Items() {
			if it.Text() == "" {
				losses = append(losses, twin.Loss{Path: "/" + strconv.Itoa(i), Verdict: twin.Dropped, Reason: "an empty word is none"})
				continue
			}
			list = append(list, it)
		}
		if list == nil {
			byTrigger.write(doc, nil, false)
			return losses
		}
		byTrigger.write(doc, canon.NewArray(list...), false)
		return losses
	},
}

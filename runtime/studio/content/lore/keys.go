// Package lore is what the lorebook files of several platforms spell alike: keys, the
// logic of second keys, ids that are numbers, folders.
//
// The formats of the content studio put it into their tables of twin.Field. It knows no
// platform, and what only one of them does is that format's own.
package lore

import (
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// WriteKeys writes keys as most platforms spell them: words, and patterns between
// slashes. An empty key is none, and is left out.
func WriteKeys(val, old *canon.Node) *canon.Node {
	var list []*canon.Node
	for _, k := range val.Items() {
		if keyOf(k).Text != "" {
			list = append(list, k)
		}
	}
	return spellKeys(canon.NewArray(list...), old)
}

var spellKeys = twin.WriteList(ReadKey, func(val *canon.Node) *canon.Node { return canon.NewText(keyOf(val).Spelled()) })

// Keys reads and writes a list of them, with what is lost of each.
var Keys = twin.Codec{
	Read:  twin.ReadList(ReadKey),
	Write: WriteKeys,
	Lay: func(val, old *canon.Node) (*canon.Node, []twin.Loss) {
		return WriteKeys(val, old), keyLosses(val)
	},
	Empty: "[]",
}

// ReadKey is the canonical key that a text spells.
func ReadKey(n *canon.Node) (*canon.Node, string) {
	text, problem := twin.ReadText(n)
	if text == nil {
		return nil, problem
	}
	k := content.ReadKey(text.Text())
	out := canon.NewObject()
	twin.Set(out, "/text", canon.NewText(k.Text))
	if k.Regex {
		twin.Set(out, "/regex", canon.NewBool(true))
	}
	if k.Flags != "" {
		twin.Set(out, "/flags", canon.NewText(k.Flags))
	}
	return out, problem
}

func keyOf(val *canon.Node) content.LoreKey {
	return content.LoreKey{Text: val.Field("text").Text(), Regex: val.Field("regex").Raw() == "true", Flags: val.Field("flags").Text()}
}

func keyLosses(val *canon.Node) []twin.Loss {
	var losses []twin.Loss
	for i, it := range val.Items() {
		at, k := "/"+strconv.Itoa(i), keyOf(it)
		if p := it.Field("probability"); p != nil && k.Text != "" {
			losses = append(losses, twin.Loss{Path: at + "/probability", Value: twin.Clip(p), Verdict: twin.Dropped, Reason: "a probability belongs to an entry there, not to a key"})
		}
		verdict, why := twin.Approximated, ""
		switch back := content.ReadKey(k.Spelled()); {
		case k.Text == "":
			verdict, why = twin.Dropped, "an empty key is none"
		case !k.Regex && k.Flags != "":
			why = "only a pattern has flags"
		case back == k:
			continue
		case !k.Regex:
			why = "what stands between slashes is read as a pattern"
		case back.Regex:
			why = "patterns have the flags " + content.KeyFlags + " alone, and their slashes have a backslash"
		default:
			why = "it is not read as a pattern"
		}
		losses = append(losses, twin.Loss{Path: at, Value: twin.Clip(canon.NewText(k.Text)), Verdict: verdict, Reason: why})
	}
	return losses
}

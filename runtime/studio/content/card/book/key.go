package book

import (
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Keys reads and writes keys as most platforms spell them: words, and patterns between
// slashes.
var Keys = twin.Codec{
	Read:  twin.ReadList(readKey),
	Write: writeKeys,
	Lay: func(val, old *canon.Node) (*canon.Node, []twin.Loss) {
		return writeKeys(val, old), keyLosses(val)
	},
	Empty: "[]",
}

var writeKeys = twin.WriteList(readKey, func(val *canon.Node) *canon.Node {
	k := keyOf(val)
	if k.Text == "" {
		return canon.NewText("") // which is no key
	}
	return canon.NewText(k.Spelled())
})

func readKey(n *canon.Node) (*canon.Node, string) {
	text, problem := twin.ReadText(n)
	if text == nil {
		return nil, problem
	}
	k := content.ReadKey(text.Text())
	out := canon.NewObject()
	set(out, "/text", canon.NewText(k.Text))
	if k.Regex {
		set(out, "/regex", canon.NewBool(true))
	}
	if k.Flags != "" {
		set(out, "/flags", canon.NewText(k.Flags))
	}
	return out, problem
}

func keyOf(val *canon.Node) content.LoreKey {
	return content.LoreKey{Text: val.Field("text").Text(), Regex: val.Field("regex").Raw() == "true", Flags: val.Field("flags").Text()}
}

func hasPattern(list *canon.Node) bool {
	for _, it := range list.Items() {
		if content.ReadKey(it.Text()).Regex {
			return true
		}
	}
	return false
}

func keyLosses(val *canon.Node) []twin.Loss {
	var losses []twin.Loss
	for i, it := range val.Items() {
		at := "/" + strconv.Itoa(i)
		if p := it.Field("probability"); p != nil && keyOf(it).Text != "" {
			losses = append(losses, twin.Loss{Path: at + "/probability", Value: twin.Clip(p), Verdict: twin.Dropped, Reason: "a probability belongs to an entry there, not to a key"})
		}
		k := keyOf(it)
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

// keys are the words; version 3 has a switch that says whether there are patterns.
var keys = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) { return Keys.Read(doc.Field("keys")) },
	Write: func(doc, val *canon.Node) []twin.Loss {
		had := hasPattern(doc.Field("keys"))
		if val == nil {
			val = canon.NewArray()
		}
		put, losses := Keys.Lay(val, doc.Field("keys"))
		set(doc, "/keys", put)
		if has := hasPattern(put); has != had && (doc.Field("use_regex") != nil || has) {
			set(doc, "/use_regex", canon.NewBool(has))
		}
		return losses
	},
}

// secondary are the words of a second list, or of a decorator.
var secondary = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if h := headerOf(doc); h.has(claimSecond) {
			return h.words(), ""
		}
		return Keys.Read(doc.Field("secondary_keys"))
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		undecorate(doc, claimSecond)
		old := doc.Field("secondary_keys")
		if val == nil {
			if old.Kind() != canon.Null {
				set(doc, "/secondary_keys", twin.Refill(old, nil))
			}
			return nil
		}
		put, losses := Keys.Lay(val, old)
		set(doc, "/secondary_keys", put)
		return losses
	},
}

var logicWords = twin.Words([2]string{"0", "and_any"}, [2]string{"1", "not_all"}, [2]string{"2", "not_any"}, [2]string{"3", "and_all"})

// logic is how secondary keys count, if they do.
var logic = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if h := headerOf(doc); h.has(claimSecond) {
			return canon.NewText(h.logic()), ""
		}
		if v, problem := twin.Flag.Read(doc.Field("selective")); v == nil {
			return nil, problem
		}
		if at := doc.At("/extensions/selectiveLogic"); at.Kind() != canon.Null {
			return logicWords.Read(at)
		}
		return canon.NewText("and_any"), ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		undecorate(doc, claimSecond)
		setLogic(doc, val)
		return nil
	},
}

func setLogic(doc, val *canon.Node) {
	if was, _ := twin.Flag.Read(doc.Field("selective")); (was != nil) != (val != nil) {
		set(doc, "/selective", twin.Flag.Write(canon.NewBool(val != nil), doc.Field("selective")))
	}
	at := doc.At("/extensions/selectiveLogic")
	if val != nil && (val.Text() != "and_any" || at.Kind() != canon.Null) {
		set(doc, "/extensions/selectiveLogic", logicWords.Write(val, at))
	}
}

package book

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

func hasPattern(list *canon.Node) bool {
	for _, it := range list.Items() {
		if content.ReadKey(it.Text()).Regex {
			return true
		}
	}
	return false
}

// keys are the words; version 3 has a switch that says whether there are patterns.
var keys = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) { return lore.Keys.Read(doc.Field("keys")) },
	Write: func(doc, val *canon.Node) []twin.Loss {
		had := hasPattern(doc.Field("keys"))
		if val == nil {
			val = canon.NewArray()
		}
		put, losses := lore.Keys.Lay(val, doc.Field("keys"))
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
		return lore.Keys.Read(doc.Field("secondary_keys"))
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
		put, losses := lore.Keys.Lay(val, old)
		set(doc, "/secondary_keys", put)
		return losses
	},
}

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
			return lore.NumberedLogic.Read(at)
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
		set(doc, "/extensions/selectiveLogic", lore.NumberedLogic.Write(val, at))
	}
}

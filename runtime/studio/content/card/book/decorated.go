package book

import (
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Decorated are the fields of an entry that only decorators can say, in formats whose
// entries have no keys for them. key is that of the text. Decorators of other things stay in
// the text.
func Decorated(key string) []twin.Field {
	d := decoratedText{key}
	return []twin.Field{
		{Path: "/content", Over: &twin.Over{Read: d.readText, Write: d.writeText}},
		{Path: "/enabled", Over: &twin.Over{
			Read: func(doc *canon.Node) (*canon.Node, string) { return canon.NewBool(!d.head(doc).has(claimOff)), "" },
			Write: func(doc, val *canon.Node) []twin.Loss {
				line := ""
				if val.Raw() == "false" {
					line = "@@dont_activate\n"
				}
				d.put(doc, line, claimOff)
				return nil
			},
		}},
		d.number("/matching/scanDepth", "scan_depth", claimScan),
		d.number("/timing/delay", "activate_only_after", claimDelay),
		{Path: "/placement", Over: &twin.Over{Read: d.readPlace, Write: d.writePlace}},
	}
}

type decoratedText struct{ key string }

// head are the decorators that Decorated takes.
func (d decoratedText) head(doc *canon.Node) header {
	return headerIn(doc.Field(d.key).Text(), map[claim]bool{claimNone: true, claimSecond: true, claimActive: true})
}

// put writes lines in place of the decorators of these claims.
func (d decoratedText) put(doc *canon.Node, lines string, claims ...claim) {
	h := d.head(doc)
	var b strings.Builder
	b.WriteString(lines)
	for _, dec := range h.list {
		gone := false
		for _, c := range claims {
			gone = gone || dec.claim == c
		}
		if !gone {
			b.WriteString(dec.lines)
		}
	}
	set(doc, "/"+d.key, canon.NewText(b.String()+h.rest))
}

func (d decoratedText) readText(doc *canon.Node) (*canon.Node, string) {
	if doc.Field(d.key).Kind() != canon.String {
		return twin.ReadText(doc.Field(d.key))
	}
	return orNil(d.head(doc).shown()), ""
}

func (d decoratedText) writeText(doc, val *canon.Node) []twin.Loss {
	set(doc, "/"+d.key, canon.NewText(d.head(doc).hidden()+val.Text()))
	if d.head(doc).shown() == val.Text() {
		return nil
	}
	return []twin.Loss{{Value: twin.Clip(val), Verdict: twin.Approximated, Reason: "its first lines are decorators, which are read as settings of the entry"}}
}

func (d decoratedText) number(path, name string, c claim) twin.Field {
	return twin.Field{Path: path, Over: &twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			if h := d.head(doc); h.has(c) {
				return h.int(c), ""
			}
			return nil, ""
		},
		Write: func(doc, val *canon.Node) []twin.Loss {
			line := ""
			if val != nil {
				line = "@@" + name + " " + val.Raw() + "\n"
			}
			d.put(doc, line, c)
			return nil
		},
	}}
}

func (d decoratedText) readPlace(doc *canon.Node) (*canon.Node, string) {
	val, h := canon.NewObject(), d.head(doc)
	if h.has(claimPlace) {
		if dec := h.first(claimPlace); dec.name == "depth" {
			set(val, "/position", canon.NewText("depth"))
			set(val, "/depth", h.int(claimPlace))
		} else {
			set(val, "/position", canon.NewText(strings.TrimSuffix(dec.value, "_desc")))
		}
	}
	if h.has(claimRole) {
		set(val, "/role", canon.NewText(h.first(claimRole).value))
	}
	if val.Len() == 0 {
		return nil, ""
	}
	return val, ""
}

func (d decoratedText) writePlace(doc, val *canon.Node) (losses []twin.Loss) {
	lines := ""
	lose := func(key, why string) {
		if at := val.Field(key); at != nil {
			losses = append(losses, twin.Loss{Path: "/" + key, Value: twin.Clip(at), Verdict: twin.Dropped, Reason: why})
		}
	}
	depth := val.Field("depth")
	switch to := val.Field("position").Text(); to {
	case "depth":
		if depth == nil {
			depth = canon.NewInt(4)
			losses = append(losses, twin.Loss{Value: to, Verdict: twin.Approximated, Reason: "a depth has to be said; 4 is written"})
		}
		lines = "@@depth " + depth.Raw() + "\n"
	case "before", "after":
		lines = "@@position " + to + "_desc\n"
		lose("depth", "an entry that is not at a depth has none")
	default:
		lose("position", "no decorator says this position")
		lose("depth", "an entry that is not at a depth has none")
	}
	if role := val.Field("role").Text(); role != "" {
		lines += "@@role " + role + "\n"
	}
	lose("outlet", "there are no outlets")
	d.put(doc, lines, claimPlace, claimRole)
	return losses
}

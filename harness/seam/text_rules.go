package seam

import (
	"bytes"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// A Rule is one thing that matching does not look at, and why.
type Rule struct {
	Do  Action
	At  []string // pointers; * is any index
	Why string

	// For Mask: what Find matches in a string is replaced by Put, in which $1 stands for
	// a group.
	Find, Put string
}

// An Action is what a rule does.
type Action string

// The actions.
const (
	Drop   Action = "drop"   // the member is left out
	Unwrap Action = "unwrap" // a list of one text part, and nothing else, is that text
	Mask   Action = "mask"   // a part of a string is replaced
)

type mask struct {
	find *regexp.Regexp
	put  []byte
}

// add puts a rule into the tree.
func (r *rules) add(rule Rule) {
	for _, pointer := range rule.At {
		n := r.node(pointer)
		switch rule.Do {
		case Drop:
			n.drop = true
		case Unwrap:
			n.unwrap = true
			r.node(pointer + "/*/text") // there is a node for the text
		case Mask:
			n.masks = append(n.masks, mask{regexp.MustCompile(rule.Find), []byte(rule.Put)})
		}
	}
}

// text copies the string at src[at] with masks applied, and gives its end.
func (a *applier) text(at int, masks []mask) int {
	end := skipString(a.src, at)
	if end < 0 {
		return -1
	}
	quoted := a.src[at:end]
	plain, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return -1
	}
	masked := plain
	for _, m := range masks {
		masked = m.find.ReplaceAll(masked, m.put)
	}
	if bytes.Equal(masked, plain) {
		a.out = append(a.out, quoted...)
		return end
	}
	if quoted, err = jsontext.AppendQuote(nil, masked); err != nil {
		return -1
	}
	if a.out, err = canon.Append(a.out, quoted); err != nil {
		return -1
	}
	return end
}

// onlyText reports whether the array at src[at] holds one part, and that part a text
// and nothing else that counts.
func (a *applier) onlyText(at int, element *ruleNode) bool {
	parts := elements(a.src, at)
	if len(parts) != 1 {
		return false
	}
	kind, text, other := false, false, false
	eachMember(a.src, parts[0][0], func(name []byte, from, to int) bool {
		switch child := element.children[string(name)]; {
		case child != nil && child.drop:
		case string(name) == `"type"`:
			kind = string(a.src[from:to]) == `"text"`
		case string(name) == `"text"`:
			text = a.src[from] == '"'
		default:
			other = true
		}
		return !other
	})
	return kind && text && !other
}

// inner copies the text of the only part of the array at src[at], and gives the
// array's end.
func (a *applier) inner(at int, element *ruleNode) int {
	end := -1
	eachMember(a.src, elements(a.src, at)[0][0], func(name []byte, from, _ int) bool {
		if string(name) == `"text"` {
			end = a.value(from, element.children[`"text"`])
		}
		return true
	})
	if end < 0 {
		return -1
	}
	return skipValue(a.src, at)
}

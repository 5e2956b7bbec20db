package book

import (
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lore"
)

// A claim is what a decorator sets; two of one claim do not count both.
type claim int

const (
	claimNone claim = iota
	claimPlace
	claimRole
	claimScan
	claimDelay
	claimActive
	claimOff
	claimSecond
)

// A decorator is the first line of its block that is understood, or the first at all.
type decorator struct {
	name, value string
	claim       claim
	lines       string // the whole block as it stands: the line and what it falls back to
}

// A header is the decorators of an entry, and the text behind them.
type header struct {
	list []decorator
	rest string
}

// headerOf reads the decorators of an entry. What the entry says in a field of its own
// as well is not taken from a decorator.
func headerOf(doc *canon.Node) header {
	text := doc.Field("content").Text()
	if !strings.HasPrefix(text, "@@") {
		return header{rest: text}
	}
	return headerIn(text, ownFields(doc))
}

func headerIn(text string, taken map[claim]bool) header {
	h := header{rest: text}
	for len(h.list) < mostDecorators && strings.HasPrefix(h.rest, "@@") {
		line, rest, _ := cutLine(h.rest)
		d := decoratorOf(line)
		d.lines, h.rest = line, rest
		for strings.HasPrefix(h.rest, "@@@") { // for those who do not know the one above
			line, rest, _ = cutLine(h.rest)
			if next := decoratorOf("@@" + strings.TrimPrefix(line, "@@@")); d.claim == claimNone {
				d.name, d.value, d.claim = next.name, next.value, next.claim
			}
			d.lines += line
			h.rest = rest
		}
		switch {
		case d.claim == claimSecond && !taken[claimSecond] && h.has(claimSecond) && h.first(claimSecond).name != d.name:
			d.claim = claimNone // the one wants words, the other none of them: there is one list
		case d.claim == claimSecond, d.claim == claimActive, d.claim == claimOff:
			if taken[d.claim] {
				d.claim = claimNone
			}
		case d.claim == claimPlace && d.name == "position" && h.has(claimPlace) && h.first(claimPlace).name == "depth":
			h.drop(claimPlace) // position is the stronger
		default:
			if taken[d.claim] || h.has(d.claim) {
				d.claim = claimNone
			}
		}
		h.list = append(h.list, d)
	}
	if h.has(claimActive) { // dont_activate is ignored then, and goes with it
		for i := range h.list {
			if h.list[i].claim == claimOff {
				h.list[i].claim = claimActive
			}
		}
	}
	return h
}

// mostDecorators is how many are read of one entry; what is beyond is text.
const mostDecorators = 64

// ownFields are the claims that fields of the entry answer.
func ownFields(doc *canon.Node) map[claim]bool {
	there := func(ptr string) bool { return doc.At(ptr).Kind() != canon.Null }
	return map[claim]bool{
		claimNone:   true,
		claimPlace:  there("/extensions/position") || there("/extensions/depth"),
		claimRole:   there("/extensions/role"),
		claimScan:   there("/extensions/scan_depth"),
		claimDelay:  there("/extensions/delay"),
		claimSecond: doc.Field("secondary_keys").Len() > 0 || doc.Field("secondary_keys").Text() != "" || doc.Field("selective").Raw() == "true",
	}
}

// cutLine is the first line with its end, and what follows.
func cutLine(s string) (line, rest string, more bool) {
	i := strings.IndexByte(s, '\n')
	if i < 0 {
		return s, "", false
	}
	return s[:i+1], s[i+1:], true
}

// decoratorOf reads "@@name value"; what it does not understand has no claim.
func decoratorOf(line string) decorator {
	name, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "@@")), " ")
	d := decorator{name: name, value: strings.TrimSpace(value)}
	n, err := strconv.Atoi(d.value)
	number := err == nil && n >= 0 && n < 1<<31
	switch name {
	case "depth":
		d.claim = claimIf(number, claimPlace)
	case "position":
		d.claim = claimIf(d.value == "before_desc" || d.value == "after_desc", claimPlace)
	case "role":
		d.claim = claimIf(slices.Contains([]string{"system", "user", "assistant"}, d.value), claimRole)
	case "scan_depth":
		d.claim = claimIf(number, claimScan)
	case "activate_only_after":
		d.claim = claimIf(number, claimDelay)
	case "activate":
		d.claim = claimIf(d.value == "", claimActive)
	case "dont_activate":
		d.claim = claimIf(d.value == "", claimOff)
	case "additional_keys", "exclude_keys":
		d.claim = claimIf(len(commaList(d.value)) > 0, claimSecond)
	}
	return d
}

func claimIf(ok bool, c claim) claim {
	if ok {
		return c
	}
	return claimNone
}

func commaList(s string) (words []string) {
	for w := range strings.SplitSeq(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			words = append(words, w)
		}
	}
	return words
}

func (h header) has(c claim) bool {
	return slices.ContainsFunc(h.list, func(d decorator) bool { return d.claim == c })
}

// first is the decorator of a claim that it has.
func (h header) first(c claim) decorator {
	return h.list[slices.IndexFunc(h.list, func(d decorator) bool { return d.claim == c })]
}

// drop takes the claim away: the lines are text then.
func (h *header) drop(c claim) {
	for i := range h.list {
		if h.list[i].claim == c {
			h.list[i].claim = claimNone
		}
	}
}

// int is the number of a claim that has one.
func (h header) int(c claim) *canon.Node {
	n, err := strconv.Atoi(h.first(c).value)
	must(err) // it was read
	return canon.NewInt(int64(n))
}

// words are the second keys, as canonical ones.
func (h header) words() *canon.Node {
	var list []*canon.Node
	for _, d := range h.list {
		if d.claim != claimSecond {
			continue
		}
		for _, w := range commaList(d.value) {
			k, _ := lore.ReadKey(canon.NewText(w))
			list = append(list, k)
		}
	}
	return canon.NewArray(list...)
}

func (h header) logic() string {
	if h.first(claimSecond).name == "exclude_keys" {
		return "not_any"
	}
	return "and_any"
}

// shown is the text as people and models see it: without the lines that are fields.
func (h header) shown() string {
	var b strings.Builder
	for _, d := range h.list {
		if d.claim == claimNone {
			b.WriteString(d.lines)
		}
	}
	return b.String() + h.rest
}

// hidden are those lines, each with its end.
func (h header) hidden() string {
	var b strings.Builder
	for _, d := range h.list {
		if d.claim != claimNone {
			b.WriteString(d.lines)
		}
	}
	if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
		return s + "\n"
	}
	return b.String()
}

// undecorate turns decorators into the fields that they mean, so that one can be
// changed. All others stay.
func undecorate(doc *canon.Node, claims ...claim) {
	h := headerOf(doc)
	var left strings.Builder
	for _, d := range h.list {
		if d.claim == claimNone || !slices.Contains(claims, d.claim) {
			left.WriteString(d.lines)
		}
	}
	if left.Len()+len(h.rest) == len(doc.Field("content").Text()) {
		return
	}
	set(doc, "/content", canon.NewText(left.String()+h.rest))
	for _, c := range claims {
		if !h.has(c) {
			continue
		}
		switch c {
		case claimPlace:
			if d := h.first(c); d.name == "depth" {
				setPosition(doc, "depth")
				set(doc, "/extensions/depth", h.int(c))
			} else {
				to := strings.TrimSuffix(d.value, "_desc")
				setPosition(doc, to)
				set(doc, "/extensions/position", positions.Write(canon.NewText(to), nil))
			}
		case claimRole:
			set(doc, "/extensions/role", roleNumber.Write(canon.NewText(h.first(c).value), nil))
		case claimScan:
			set(doc, "/extensions/scan_depth", h.int(c))
		case claimDelay:
			set(doc, "/extensions/delay", h.int(c))
		case claimActive:
			set(doc, "/constant", canon.NewBool(true))
		case claimOff:
			set(doc, "/enabled", canon.NewBool(false))
		case claimSecond:
			set(doc, "/secondary_keys", lore.WriteKeys(h.words(), nil))
			setLogic(doc, canon.NewText(h.logic()))
		}
	}
}

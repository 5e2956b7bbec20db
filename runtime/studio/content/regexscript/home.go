package regexscript

import (
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Format is the format of a file of SillyTavern's scripts alone.
const Format = "sillytavern-regex"

// A Home is where a document of another kind, a card or a preset, carries scripts. Read
// they are a regex set of its own, which the document's piece links to.
type Home struct {
	At     string // in the document
	Format string // of a file of such scripts alone
	Read   func(list *canon.Node) (rules *canon.Node, problem string)
	Lay    func(rules, list *canon.Node) (put *canon.Node, losses []content.Loss)
	Alone  func(list *canon.Node) *canon.Node // the document of such a file
}

// Tavern is a home of SillyTavern's scripts.
func Tavern(at string) Home {
	return Home{At: at, Format: Format, Read: List.Read, Lay: Lay, Alone: twin.Keep}
}

// Find is the regex set that the document carries, under that name; false where there is
// none.
func (h Home) Find(doc *canon.Node, name string) (found content.Found, problem string, ok bool) {
	scripts := doc.At(h.At)
	if scripts.Kind() != canon.Array || scripts.Len() == 0 {
		return found, "", false
	}
	body := canon.NewObject()
	rules, problem := h.Read(scripts)
	if rules != nil {
		twin.Set(body, "/rules", rules)
	}
	if problem != "" {
		problem = h.At + ": " + problem
	}
	twin.Set(body, "/name", canon.NewText(name))
	return content.Found{
		Kind: content.KindRegex, Body: body, Place: h.At,
		Original: &store.Escrow{Format: h.Format, Name: name + ".json", Raw: carrier.WriteJSON(nil, h.Alone(scripts).Bytes())},
	}, problem, true
}

// Put writes rules into the document, over the scripts that are there. links is where the
// piece names its regex sets, for the paths of losses.
func (h Home) Put(doc, rules *canon.Node, links string) (losses []content.Loss) {
	if rules == nil {
		rules = canon.NewArray()
	}
	was, _ := h.Read(doc.At(h.At))
	if was == nil && rules.Len() == 0 {
		return nil
	}
	put, losses := h.Lay(rules, doc.At(h.At))
	for i := range losses {
		losses[i].Path = links + losses[i].Path
	}
	if !canon.Equal(was, rules) {
		losses = append(losses, twin.Lift(doc, h.At, put)...)
	}
	return losses
}

// Joined is both lists of rules; one whose id is taken gets another.
func Joined(a, b *canon.Node) *canon.Node {
	taken := map[string]bool{}
	var list []*canon.Node
	for _, half := range []*canon.Node{a, b} {
		for _, r := range half.Items() {
			r, id := r.Clone(), r.Field("id").Text()
			for n := 2; taken[r.Field("id").Text()]; n++ {
				twin.Set(r, "/id", canon.NewText(id+"-"+strconv.Itoa(n)))
			}
			taken[r.Field("id").Text()] = true
			list = append(list, r)
		}
	}
	return canon.NewArray(list...)
}

// Rules are the rules of the regex set with that id among the pieces; false where it is
// not at hand.
func Rules(pieces []store.Piece, id string) (p store.Piece, rules *canon.Node, ok bool) {
	for _, p := range pieces {
		if p.Kind != content.KindRegex || p.ID != id {
			continue
		}
		if body, err := canon.ParseTree(p.Body); err == nil {
			return p, body.Field("rules"), true
		}
	}
	return p, nil, false
}

package ccv3

import (
	"fmt"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/regexscript"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/risuscript"
	twins "github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

const (
	linkedScripts = "/links/regexes"
	ownScripts    = "/behavior/regex"
	risuBag       = "/data/extensions/risuai"
)

// tavernHome and risuHome are where a card carries scripts: SillyTavern's, which more
// programs read, first.
var (
	tavernHome = regexscript.Tavern("/data/extensions/regex_scripts")
	risuHome   = risuscript.Home(risuBag + "/customScripts")
)

// findScripts takes the scripts of a card as regex sets, which the character links to.
func findScripts(c card.Card, r *content.Reading) {
	if c.Version == card.V1 {
		return
	}
	called := strings.NewReplacer("/", " ", `\`, " ").Replace(c.Body.At("/identity/name").Text())
	for _, h := range []struct {
		regexscript.Home
		name string
	}{{tavernHome, called + " scripts"}, {risuHome, called + " Risu scripts"}} {
		found, problem, ok := h.Find(c.Doc, strings.TrimSpace(h.name))
		if !ok {
			continue
		}
		if problem != "" {
			r.Warnings = append(r.Warnings, problem)
		}
		r.Found = append(r.Found, found)
		r.Found[0].Links = append(r.Found[0].Links, content.FoundLink{Path: linkedScripts, List: true, To: len(r.Found) - 1})
	}
}

// embedScripts puts the linked regex sets into the card, over the scripts that are there:
// each where it came from. A set that is linked and is not at hand leaves the card's own
// as they are; where none is linked any more, the card's own go.
func (e *exporter) embedScripts(doc *canon.Node, version card.Version) {
	said := version == e.format.version
	if said && version != card.V1 { // scripts are a part of the file here
		e.losses = slices.DeleteFunc(e.losses, func(l content.Loss) bool { return l.Path == linkedScripts || l.Path == ownScripts })
	}
	if version == card.V1 {
		e.losses = slices.DeleteFunc(e.losses, func(l content.Loss) bool {
			return said && l.Path == content.InOriginal+tavernHome.At && e.body.At(linkedScripts).Len() > 0
		})
		return // a loss of the whole list
	}
	sets := e.sortScripts(doc, said)
	for _, s := range sets {
		switch {
		case s.absent:
			continue
		case s.rules.Len() == 0 && said:
			if scripts := doc.At(s.At); scripts.Len() > 0 {
				e.lose(content.InOriginal+s.At, string(scripts.Bytes()), "the regex set that was made of them is no longer linked, or is empty")
			}
		}
		if losses := s.Put(doc, s.rules, linkedScripts); said {
			e.losses = append(e.losses, losses...)
		}
	}
	if own := e.body.At(ownScripts); own.Len() > 0 && said {
		e.losses = append(e.losses, content.Loss{
			Path: ownScripts, Value: twins.Clip(own), Verdict: twins.Renamed,
			Reason: "they are written as scripts of SillyTavern, which are a regex set of their own when the card is read",
		})
	}
}

// A scriptSet is what goes to one home.
type scriptSet struct {
	regexscript.Home
	rules  *canon.Node
	absent bool // a set of it is not at hand
}

// sortScripts says which rules go where: what came from Risu goes to Risu's home where
// the card has one, all else to SillyTavern's.
func (e *exporter) sortScripts(doc *canon.Node, said bool) []*scriptSet {
	tavern, risu := &scriptSet{Home: tavernHome, rules: canon.NewArray()}, &scriptSet{Home: risuHome, rules: canon.NewArray()}
	for i, id := range e.body.At(linkedScripts).Items() {
		p, rules, ok := regexscript.Rules(e.pieces, id.Text())
		switch {
		case ok && len(p.Escrow) > 0 && p.Escrow[0].Format == risuscript.Format && doc.At(risuBag).Kind() == canon.Object:
			risu.rules = regexscript.Joined(risu.rules, rules)
		case ok:
			tavern.rules = regexscript.Joined(tavern.rules, rules)
		default: // it may be of either
			tavern.absent, risu.absent = true, true
			if said && doc.At(tavern.At).Len() == 0 && doc.At(risu.At).Len() == 0 {
				e.lose(fmt.Sprintf("%s/%d", linkedScripts, i), id.Text(), "the regex set is not in this studio")
			}
		}
	}
	if own := e.body.At(ownScripts); own.Len() > 0 {
		tavern.rules = regexscript.Joined(tavern.rules, own)
	}
	for _, s := range []*scriptSet{tavern, risu} {
		s.absent = s.absent && (doc.At(s.At).Len() > 0 || s.rules.Len() == 0)
	}
	return []*scriptSet{tavern, risu}
}

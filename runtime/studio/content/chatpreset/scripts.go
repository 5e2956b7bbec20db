package chatpreset

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/regexscript"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// ScriptsAt is where a preset carries regex scripts of its own.
const ScriptsAt = "/extensions/regex_scripts"

// ReadScripts takes the scripts of a preset as a regex set, which the preset links to.
func ReadScripts(f content.File, r *content.Reading) {
	found, problem, ok := regexscript.Tavern(ScriptsAt).Find(f.Doc, content.NameFromFile(f.Name, 0)+" scripts")
	if !ok {
		return
	}
	if problem != "" {
		r.Warnings = append(r.Warnings, problem)
	}
	r.Found = append(r.Found, found)
	r.Found[0].Links = append(r.Found[0].Links, content.FoundLink{Path: "/regexes", List: true, To: len(r.Found) - 1})
}

// LayScripts writes the regex sets that the preset names into it. A set that is not at
// hand leaves what the file has.
func LayScripts(s content.Sheet, linked []store.Piece) (losses []content.Loss) {
	names := s.Body.Field("regexes")
	if names == nil && s.Doc.At(ScriptsAt) == nil {
		return nil
	}
	all, here := canon.NewArray(), 0
	for i, id := range names.Items() {
		_, rules, found := regexscript.Rules(linked, id.Text())
		switch {
		case found:
			here++
			all = regexscript.Joined(all, rules)
		case s.Doc.At(ScriptsAt) == nil:
			losses = append(losses, content.Loss{
				Path: canon.JoinPointer("regexes", itoa(i)), Value: id.Text(), Verdict: twin.Dropped,
				Reason: "a preset of SillyTavern carries its scripts, and there is no such regex set at hand",
			})
		}
	}
	if names != nil && here < names.Len() {
		return losses
	}
	if IsManager(s.Doc) && all.Len() > 0 {
		return append(losses, content.Loss{Path: "/regexes", Value: twin.Clip(names), Verdict: twin.Dropped, Reason: "an export of the prompt manager holds no scripts"})
	}
	return append(losses, regexscript.Tavern(ScriptsAt).Put(s.Doc, all, "/regexes")...)
}

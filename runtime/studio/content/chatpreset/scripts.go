package chatpreset

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/regexscript"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// ScriptsAt is where a preset carries regex scripts of its own.
const ScriptsAt = "/extensions/regex_scripts"

// ScriptsFormat is the format of a file of such scripts alone.
const ScriptsFormat = "sillytavern-regex"

// ReadScripts takes the scripts of a preset as a regex set, which the preset links to.
func ReadScripts(f content.File, r *content.Reading) {
	scripts := f.Doc.At(ScriptsAt)
	if scripts.Kind() != canon.Array || scripts.Len() == 0 {
		return
	}
	body, problem := regexscript.Read(scripts)
	if problem != "" {
		r.Warnings = append(r.Warnings, ScriptsAt+": "+problem)
	}
	name := content.NameFromFile(f.Name, 0) + " scripts"
	twin.Set(body, "/name", canon.NewText(name))
	r.Found = append(r.Found, content.Found{
		Kind: content.KindRegex, Body: body,
		Original: &store.Escrow{Format: ScriptsFormat, Name: name + ".json", Raw: carrier.WriteJSON(nil, scripts.Bytes())}, Place: ScriptsAt,
	})
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
		found := false
		for _, p := range linked {
			if p.Kind != content.KindRegex || p.ID != id.Text() {
				continue
			}
			if body, err := canon.ParseTree(p.Body); err == nil {
				found = true
				all = joined(all, body.Field("rules"))
			}
		}
		switch {
		case found:
			here++
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
	was, _ := regexscript.List.Read(s.Doc.At(ScriptsAt))
	if was == nil && all.Len() == 0 {
		return losses
	}
	if IsManager(s.Doc) {
		return append(losses, content.Loss{Path: "/regexes", Value: twin.Clip(names), Verdict: twin.Dropped, Reason: "an export of the prompt manager holds no scripts"})
	}
	put, more := regexscript.Lay(all, s.Doc.At(ScriptsAt))
	for _, l := range more {
		l.Path = "/regexes" + l.Path
		losses = append(losses, l)
	}
	if !canon.Equal(was, all) {
		twin.Set(s.Doc, ScriptsAt, put)
	}
	return losses
}

// joined is both lists; a rule whose id is taken gets another.
func joined(a, b *canon.Node) *canon.Node {
	taken := map[string]bool{}
	var list []*canon.Node
	for _, half := range []*canon.Node{a, b} {
		for _, r := range half.Items() {
			r, id := r.Clone(), r.Field("id").Text()
			for n := 2; taken[r.Field("id").Text()]; n++ {
				twin.Set(r, "/id", canon.NewText(id+"-"+itoa(n)))
			}
			taken[r.Field("id").Text()] = true
			list = append(list, r)
		}
	}
	return canon.NewArray(list...)
}

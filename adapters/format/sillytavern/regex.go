package sillytavern

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/regexscript"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// scoreRegex knows a script by its name and pattern; a list of them by the first that
// has both. Placements that are words are another platform's.
func scoreRegex(doc *canon.Node) float64 {
	if regexscript.Is(doc) {
		return 0.95
	}
	for _, row := range doc.Items() {
		if regexscript.Is(row) {
			return 0.95
		}
	}
	return 0
}

// A file is one script, or a list of them. Both are read as a list.
func scriptsOf(doc *canon.Node) *canon.Node {
	if doc.Kind() == canon.Object {
		return canon.NewArray(doc)
	}
	return doc
}

func regexBody(doc *canon.Node) (*canon.Node, string) { return regexscript.Read(scriptsOf(doc)) }

func readRegex(f content.File) (content.Reading, error) {
	body, problem := regexBody(f.Doc)
	var problems []string
	if problem != "" {
		problems = append(problems, problem)
	}
	if name := f.Doc.Field("scriptName").Text(); name != "" {
		twin.Set(body, "/name", canon.NewText(name))
	}
	return one(content.KindRegex, f, body, problems), nil
}

func writeRegex(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, "[]", "")
	if err != nil {
		return content.Written{}, err
	}
	before, _ := regexBody(s.Doc)
	named := s.Doc.Field("scriptName").Text() // what the set is called after
	losses := rulesOver(&s, before)
	lose := func(path, why string) {
		if at := s.Body.At(path); at != nil {
			losses = append(losses, content.Loss{Path: path, Value: twin.Clip(at), Verdict: twin.Dropped, Reason: why})
		}
	}
	if named == "" || named != s.Body.Field("name").Text() {
		lose("/name", "a file of scripts has no name for them together; the file's own says it")
	}
	lose("/description", "a file of scripts has no description")
	return s.Written(losses), nil
}

// rulesOver lays the rules over the file. One script stays an object while it is one.
func rulesOver(s *content.Sheet, before *canon.Node) []content.Loss {
	now := s.Body.Field("rules")
	if now == nil {
		now = canon.NewArray()
	}
	put, losses := regexscript.Lay(now, scriptsOf(s.Doc))
	for i := range losses {
		losses[i].Path = "/rules" + losses[i].Path
	}
	switch {
	case canon.Equal(s.Body.Field("rules"), before.Field("rules")):
	case s.Doc.Kind() == canon.Object && put.Len() == 1:
		twin.Set(s.Doc, "", put.At("/0"))
	default:
		twin.Set(s.Doc, "", put)
	}
	return losses
}

package risu

import (
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/risuscript"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

func scoreRegex(f content.File) float64 {
	if f.Doc.Field("type").Text() == "regex" && f.Doc.Field("data").Kind() == canon.Array {
		return 0.95
	}
	return 0
}

func readRegex(f content.File) (content.Reading, error) {
	body := canon.NewObject()
	rules, problem := risuscript.Read(f.Doc.Field("data"))
	if rules != nil {
		twin.Set(body, "/rules", rules)
	}
	r := content.Reading{Found: []content.Found{{Kind: content.KindRegex, Body: body}}}
	if problem != "" {
		r.Warnings = []string{problem}
	}
	return r, nil
}

// renamed says which ids are others when the file is read again: it has none.
func renamed(path string, now, back *canon.Node) (losses []content.Loss) {
	for i, it := range now.Items() {
		id, to := it.Field("id"), back.At(fmt.Sprintf("/%d/id", i))
		if to != nil && !canon.Equal(id, to) {
			losses = append(losses, content.Loss{Path: fmt.Sprintf("%s/%d/id", path, i), Value: twin.Clip(id), Verdict: twin.Renamed, Reason: "a file of Risu has no ids for them; read again it is " + to.Text()})
		}
	}
	return losses
}

func writeRegex(w content.Writing) (content.Written, error) {
	s, err := sheetOf(w, `{"type":"regex","data":[]}`, "")
	if err != nil {
		return content.Written{}, err
	}
	losses := twin.Lay(canon.NewObject(), []twin.Field{
		lost("/name", twin.Text, "a file of scripts has no name; the file's own says it"),
		lost("/description", twin.Text, "a file of scripts has no description"),
	}, s.body)
	return s.written(append(losses, layRules(s.doc, "/data", s.body)...)), nil
}

// layRules lays the rules of a body over the scripts at ptr.
func layRules(doc *canon.Node, ptr string, body *canon.Node) (losses []content.Loss) {
	now := body.Field("rules")
	if now == nil {
		now = canon.NewArray()
	}
	put, more := risuscript.Lay(now, doc.At(ptr))
	for _, l := range more {
		l.Path = "/rules" + l.Path
		losses = append(losses, l)
	}
	losses = append(losses, relist(doc, ptr, put)...)
	back, _ := risuscript.Read(put)
	return append(losses, renamed("/rules", now, back)...)
}

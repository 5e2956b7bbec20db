package risu

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/risulore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

func scoreBook(f content.File) float64 {
	if f.Doc.Field("type").Text() == "risu" && f.Doc.Field("data").Kind() == canon.Array {
		return 1
	}
	return 0
}

// bookFields are what a file of Risu does not hold of a book.
var bookFields = []twin.Field{
	lost("/name", twin.Text, "a lorebook of Risu has no name; the file's own says it"),
	lost("/description", twin.Text, "a lorebook of Risu has no description"),
	lost("/tags", twin.TextList, noBookTags),
	lost("/settings", twin.Text, noBookSettings),
}

const (
	noBookTags     = "a lorebook of Risu has no tags"
	noBookSettings = "a lorebook of Risu has no settings in its file"
)

func readBook(f content.File) (content.Reading, error) {
	body, problems := risulore.Read(f.Doc.Field("data"))
	return content.Reading{
		Found:    []content.Found{{Kind: content.KindLorebook, Body: body, Notes: content.Notes{BookEntries: body.Field("entries").Len()}}},
		Warnings: problems,
	}, nil
}

func writeBook(w content.Writing) (content.Written, error) {
	s, err := sheetOf(w, risulore.Fresh, "")
	if err != nil {
		return content.Written{}, err
	}
	losses := twin.Lay(canon.NewObject(), bookFields, s.body)
	put, more := risulore.Lay(s.body, s.doc.Field("data"))
	twin.Set(s.doc, "/data", put)
	return s.written(append(losses, more...)), nil
}

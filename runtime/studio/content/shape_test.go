package content_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

func TestAShapeReadsOnlyWhatItKnows(t *testing.T) {
	read := 0
	s := content.Shape{
		Name: "paper-note", Platform: "Paper", Kind: content.KindPersona, Also: []string{content.KindLorebook},
		Know: content.OfJSON(func(doc *canon.Node) float64 {
			if doc.Field("paper") != nil {
				return 1
			}
			return 0
		}),
		From: func(content.File) (content.Reading, error) { read++; return content.Reading{}, nil },
	}
	a := s.About()
	if a.Ext != ".json" || !slices.Equal(a.Kinds, []string{content.KindPersona, content.KindLorebook}) || !slices.Equal(a.Writes, []string{content.KindPersona}) {
		t.Errorf("About is %+v", a)
	}
	for raw, want := range map[string]float64{`{"paper":1}`: 1, `{}`: 0, `no JSON`: 0} {
		if got := s.Score(content.Open("a.json", []byte(raw))); got != want {
			t.Errorf("Score of %q is %v, not %v", raw, got, want)
		}
	}
	if _, err := s.Read(content.Open("a.json", []byte(`no JSON`))); err == nil || !strings.Contains(err.Error(), `"a.json" is no file of Paper`) || read != 0 {
		t.Errorf("a file without a document: %v, read %d times", err, read)
	}
	if _, err := s.Read(content.Open("a.json", []byte(`{"paper":1}`))); err != nil || read != 1 {
		t.Errorf("a file of its own: %v, read %d times", err, read)
	}
}

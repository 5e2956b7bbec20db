package sillytavern_test

import (
	"slices"
	"testing"
)

func TestSeedsAreRead(t *testing.T) {
	for _, seed := range []string{seedWorld, seedChat, seedOld, seedRegex, seedQR1, seedQR2, seedAll, seedParts} {
		suite.Import(t, "x.json", []byte(seed))
	}
}

// wide are the fields that a file says in several places, by file.
var wide = map[string][]string{
	"preset-legacy.json": {"name", "role", "enabled"}, // the three texts become prompts
	"regex-legacy.json":  {"placement", "phases"},     // the old number goes
}

// TestOneEditIsOneChange changes each value of each corpus file by itself.
func TestOneEditIsOneChange(t *testing.T) {
	files, _ := corpus(t)
	edits := 0
	for name, data := range files {
		if slices.Contains(others, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			im := suite.Import(t, name, data)
			for _, p := range im.Pieces {
				edits += suite.OneEdits(t, p, im.Pieces, wide[name]...)
			}
		})
	}
	if edits < 200 {
		t.Errorf("%d edits", edits)
	}
}

package program_test

import (
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

func TestATargetBesideItsOwner(t *testing.T) {
	s := &program.State{Path: "house.hall"}
	for raw, want := range map[string]string{
		"../kitchen": "house.kitchen", "../kitchen/table": "house.kitchen.table", "..": "house", "../../street": "street", "../../../street": "street", ".././yard": "house.yard",
	} {
		if got := s.Beside(raw); got != want {
			t.Errorf("%s is %q, not %q", raw, got, want)
		}
	}
}

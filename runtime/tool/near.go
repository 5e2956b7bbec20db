package tool

import (
	"cmp"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Near returns at most three of names that somebody may have meant by name, the
// nearest first.
func Near(name string, names []string) []string {
	type scored struct {
		name string
		dist int
	}
	// Names are short; a hostile one must not cost a quadratic walk.
	if len(name) > 2*maxName {
		return nil
	}
	var found []scored
	low := strings.ToLower(name)
	for _, n := range names {
		d := fault.Edits(low, strings.ToLower(n))
		switch {
		case d <= 1+len(n)/4:
		case len(low) >= 3 && (strings.Contains(n, low) || strings.Contains(low, n)):
			d = 1 + len(n)/4
		default:
			continue
		}
		found = append(found, scored{n, d})
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(a.dist, b.dist) })
	var out []string
	for _, f := range found[:min(3, len(found))] {
		out = append(out, f.name)
	}
	return out
}

package cli

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/upkeep"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

func (a *app) cmdCassettePrune() *cobra.Command {
	var dry bool
	var episodes []int
	c := dryRun(&cobra.Command{
		Use: "prune NAME…", Short: "Drop episodes that no scenario asks for, or those named", Args: cobra.MinimumNArgs(1),
		Long: `Prune runs the scenarios that play a cassette and drops the episodes that none of them asked
for. It refuses where no scenario plays it, or where one fails: then nothing is proven. With
--episode it drops those, and runs nothing. It names what it drops.`,
		Example: "  soundstage cassette prune content/rename --dry-run\n  soundstage cassette prune content/rename --episode 2,5",
		RunE: func(_ *cobra.Command, names []string) error {
			if len(episodes) > 0 {
				return a.pruneNamed(names, episodes, dry)
			}
			return a.pruneUnused(names, dry)
		},
	}, &dry)
	c.Flags().IntSliceVar(&episodes, "episode", nil, "drop these, `n` counted from 1, and run nothing")
	return c
}

func (a *app) pruneNamed(names []string, episodes []int, dry bool) error {
	const op = "cassette.prune"
	if len(names) > 1 {
		return fault.New(fault.Invalid, op, "--episode is of one cassette, and %d are named", len(names)).WithHint("name one")
	}
	return a.edit(names, dry, func(path string) (upkeep.Report, error) {
		c, err := cassette.Open(path)
		if err != nil {
			return upkeep.Report{}, err
		}
		for _, n := range episodes {
			if n < 1 || n > c.Len() {
				return upkeep.Report{}, fault.New(fault.NotFound, op, "cassette %q has no episode %d", names[0], n).
					WithHint("list them: soundstage cassette ls %s", names[0])
			}
		}
		return upkeep.Prune(path, func(i int) bool { return slices.Contains(episodes, i+1) }, dry)
	})
}

func (a *app) pruneUnused(names []string, dry bool) error {
	const op = "cassette.prune"
	var known []string
	for _, name := range names {
		if err := a.mustHave(name); err != nil {
			return err
		}
		known = append(known, played(name))
	}
	uses, err := a.unused(known, io.Discard)
	if err != nil {
		return err
	}
	for i, name := range known {
		u := uses[name]
		if u == nil || len(u.scenarios) == 0 && len(u.failed) == 0 {
			return fault.New(fault.NotFound, op, "no scenario plays cassette %q", names[i]).
				WithHint("name the episodes: soundstage cassette prune %s --episode N", names[i])
		}
		if len(u.failed) > 0 {
			return fault.New(codeScenario, op, "scenario %q fails, so that nothing is proven of cassette %q", u.failed[0], names[i]).
				WithHint("mend it first: soundstage test %s", u.failed[0])
		}
	}
	next := 0
	return a.edit(names, dry, func(path string) (upkeep.Report, error) {
		left := uses[known[next]].left
		next++
		return upkeep.Prune(path, func(i int) bool { return slices.Contains(left, i) }, dry)
	})
}

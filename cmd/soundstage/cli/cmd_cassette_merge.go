package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/diff"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// cassetteMerged is what cassette merge prints with --json.
type cassetteMerged struct {
	File     string `json:"file" jsonschema:"what was written"`
	Episodes int    `json:"episodes" jsonschema:"that it has now"`
}

func (a *app) cmdCassetteMerge() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "merge BASE OURS THEIRS", Short: "Merge two recordings that grew from one, as a merge driver of git",
		Long: `Merge puts what both sides changed since BASE into OURS: episodes that one side added,
recorded anew or dropped. Lines keep their bytes. Where both sides recorded one thing
differently, nothing is written, and it says which: record the scenario again.

As git's merge driver, once in each clone (.gitattributes then says: *.yaml merge=cassette):

  git config merge.cassette.driver "soundstage cassette merge %O %A %B"`,
		Args:    cobra.ExactArgs(3),
		Example: "  soundstage cassette merge base.yaml ours.yaml theirs.yaml --output merged.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			if output == "" {
				output = args[1]
			}
			return a.mergeCassettes(args[0], args[1], args[2], output)
		},
	}
	c.Flags().StringVar(&output, "output", "", "write to this `file` (default: OURS)")
	return c
}

func (a *app) mergeCassettes(base, ours, theirs, output string) error {
	var sides [3]*cassette.Cassette
	for i, name := range []string{base, ours, theirs} {
		if info, err := os.Stat(a.path(name)); i == 0 && err == nil && info.Size() == 0 {
			continue // both sides added the file: git has nothing for the base
		}
		var err error
		if sides[i], err = cassette.Open(a.path(name)); err != nil {
			return err
		}
		defer sides[i].Close() //nolint:errcheck // only read
	}
	merged, clashes, err := cassette.Merge(sides[0], sides[1], sides[2], func(x, y *cassette.Episode) bool {
		return len(diff.Episodes(x, y)) == 0
	})
	switch {
	case err != nil:
		return err
	case len(clashes) > 0:
		return fault.New(cassette.CodeClash, "cassette.merge", "both sides changed %s", clashText(clashes)).
			WithHint("merge the scenario first, take either side of the cassette, and record again: soundstage record NAME")
	}
	if err := replaceFile(a.path(output), merged); err != nil {
		return notWritten(err, "cassette.merge", output)
	}
	if err := cassette.Verify(a.path(output)); err != nil {
		return err
	}
	c, err := cassette.Open(a.path(output))
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // only read
	out := cassetteMerged{File: output, Episodes: c.Len()}
	return a.print(out, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", output, count(out.Episodes, "episode")) })
}

// maxClashes is how many clashes a message names.
const maxClashes = 5

func clashText(clashes []cassette.Clash) string {
	var parts []string
	for i, c := range clashes {
		if i == maxClashes {
			parts = append(parts, fmt.Sprintf("%d more", len(clashes)-i))
			break
		}
		switch {
		case c.Ours == 0 && c.Theirs == 0:
			parts = append(parts, c.What+" of the header")
		case c.Ours == 0:
			parts = append(parts, fmt.Sprintf("%s (dropped here, their episode %d)", c.What, c.Theirs))
		case c.Theirs == 0:
			parts = append(parts, fmt.Sprintf("%s (our episode %d, dropped there)", c.What, c.Ours))
		default:
			parts = append(parts, fmt.Sprintf("%s (our episode %d, theirs %d)", c.What, c.Ours, c.Theirs))
		}
	}
	return strings.Join(parts, ", ")
}

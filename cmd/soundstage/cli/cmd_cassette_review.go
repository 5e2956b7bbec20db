package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/diff"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The result of cassette review.
type (
	cassetteReview struct {
		Ref       string      `json:"ref" jsonschema:"what is compared with"`
		Cassettes []reviewRow `json:"cassettes" jsonschema:"those that are not as they were, in order of name"`
	}
	reviewRow struct {
		Name   string        `json:"name" jsonschema:"area/name"`
		State  string        `json:"state" jsonschema:"added, removed or changed"`
		Origin string        `json:"origin,omitempty" jsonschema:"live, imported or scripted; none of one that is removed"`
		Same   int           `json:"same" jsonschema:"calls that mean the same as before"`
		Header []diff.Change `json:"header,omitempty" jsonschema:"what is another in the header"`
		Calls  []callRow     `json:"calls" jsonschema:"calls that do not mean the same: recorded is before, today is now"`
	}
)

func (a *app) cmdCassetteReview() *cobra.Command {
	return &cobra.Command{
		Use: "review [REF]", Short: "Say what re-recorded cassettes mean, as Markdown for a review (default: since HEAD)",
		Long: `Review compares each cassette below ` + cassettesDir + ` that is not as it was at a git ref with what it
was, by meaning: which turns another prompt, tool, call or answer has. The output is the text
of a comment on a pull request.`,
		Args:    cobra.MaximumNArgs(1),
		Example: "  soundstage cassette review\n  soundstage cassette review origin/main > comment.md",
		RunE: func(c *cobra.Command, args []string) error {
			ref := "HEAD"
			if len(args) == 1 {
				ref = args[0]
			}
			return a.review(c.Context(), ref)
		},
	}
}

func (a *app) review(ctx context.Context, ref string) error {
	files, err := a.history().Changed(ctx, ref)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(a.doors.Env["TMPDIR"], "soundstage-review-")
	if err != nil {
		return fault.Wrap(err, fault.Internal, "cassette.review", "make a folder for what was")
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left is in the folder for such things
	out := cassetteReview{Ref: ref, Cassettes: []reviewRow{}}
	for _, name := range touchedCassettes(files) {
		row, err := a.reviewOf(ctx, ref, name, filepath.Join(dir, fmt.Sprintf("%d.yaml", len(out.Cassettes))))
		if err != nil {
			return err
		}
		out.Cassettes = append(out.Cassettes, row)
	}
	return a.print(out, func(w io.Writer) { writeCassetteReview(w, out) })
}

// touchedCassettes are the names of cassettes that are among files, by themselves or by
// the bodies that stand apart from them.
func touchedCassettes(files []string) []string {
	var names []string
	for _, f := range files {
		name, below := strings.CutPrefix(f, cassettesDir+"/")
		for _, ext := range []string{".yaml", ".blobs"} {
			if n, ok := strings.CutSuffix(name, ext); below && ok {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// reviewOf compares one cassette with what it was, which is put at file.
func (a *app) reviewOf(ctx context.Context, ref, name, file string) (reviewRow, error) {
	row := reviewRow{Name: name, State: "changed", Calls: []callRow{}}
	older, err := a.before(ctx, ref, name, file)
	if err != nil {
		return row, err
	}
	newer, err := cassette.OpenAny(a.cassetteFile(name))
	switch {
	case fault.CodeOf(err) == cassette.CodeMissing:
		row.State = "removed"
		return row, nil
	case err != nil:
		return row, err
	}
	defer newer.Close() //nolint:errcheck // only read
	row.Origin = string(newer.Header().Origin)
	if older == nil {
		row.State = "added"
		for i := range newer.Len() {
			row.Calls = append(row.Calls, callRow{Today: i + 1})
		}
		return row, nil
	}
	defer older.Close() //nolint:errcheck // only read
	report, err := diff.Cassettes(older, newer)
	if err != nil {
		return row, err
	}
	row.Same, row.Header, row.Calls = report.Same, report.Header, callRows(report)
	return row, nil
}

// before is a cassette as it was; nil if it was not there.
func (a *app) before(ctx context.Context, ref, name, file string) (*cassette.Cassette, error) {
	for ext, to := range map[string]string{".yaml": file, ".blobs": strings.TrimSuffix(file, ".yaml") + ".blobs"} {
		b, err := a.history().Show(ctx, ref, cassettesDir+"/"+name+ext)
		if fault.CodeOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(to, b, 0o600); err != nil {
			return nil, fault.Wrap(err, fault.Internal, "cassette.review", "keep what cassette %q was", name)
		}
	}
	c, err := cassette.OpenAny(file)
	if fault.CodeOf(err) == cassette.CodeMissing {
		return nil, nil
	}
	return c, err
}

// maxReviewed bounds the lines of a review: a comment takes no more.
const maxReviewed = 200

func writeCassetteReview(w io.Writer, out cassetteReview) {
	if len(out.Cassettes) == 0 {
		fmt.Fprintf(w, "No cassette changed since %s.\n", code(out.Ref))
		return
	}
	fmt.Fprintf(w, "### Cassettes that changed since %s\n", code(out.Ref))
	left := maxReviewed
	for _, r := range out.Cassettes {
		fmt.Fprintf(w, "\n**%s** (%s)\n", r.Name, r.summary())
		if r.State != "changed" {
			continue
		}
		for _, c := range r.Header {
			fmt.Fprintf(w, "- header: %s\n", code(c.Text()))
		}
		for _, c := range r.Calls {
			fmt.Fprintf(w, "- %s\n", strings.TrimSuffix(c.heading(), ":"))
			for _, change := range c.Changes {
				if left--; left >= 0 {
					fmt.Fprintf(w, "  - %s\n", code(change.Text()))
				}
			}
		}
	}
	if left < 0 {
		fmt.Fprintf(w, "\n… and %s: soundstage cassette review --json\n", count(-left, "more change"))
	}
}

func (r reviewRow) summary() string {
	switch {
	case r.State == "removed":
		return "removed"
	case r.State == "added":
		return fmt.Sprintf("new, %s, %s", r.Origin, count(len(r.Calls), "call"))
	case len(r.Calls) == 0 && len(r.Header) == 0:
		return fmt.Sprintf("%s, means the same: %s", r.Origin, count(r.Same, "call"))
	}
	return fmt.Sprintf("%s, %s of %d changed", r.Origin, count(len(r.Calls), "call"), len(r.Calls)+r.Same)
}

// code is a text as Markdown's inline code: what a provider said is not to be read as
// anything else.
func code(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) == 1 {
		return fence + s + fence
	}
	return fence + " " + s + " " + fence
}

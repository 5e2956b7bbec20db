package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lint"
)

// codePieceLint says that pieces hold what their author hardly wants.
const codePieceLint fault.Code = "PIECE_LINT"

// lintResult is what lint prints with --json.
type lintResult struct {
	Pieces   int              `json:"pieces" jsonschema:"pieces that were looked at"`
	Errors   int              `json:"errors" jsonschema:"findings that make the command fail"`
	Warnings int              `json:"warnings" jsonschema:"findings that do so with --strict"`
	Findings []studio.Finding `json:"findings" jsonschema:"in order of kind, id and body: rule, severity, piece, path, message"`
}

func (a *app) cmdLint() *cobra.Command {
	var all, strict bool
	var rules strings.Builder
	for _, r := range lint.Rules() {
		fmt.Fprintf(&rules, "  %-16s %-8s %s\n", r.ID, r.Severity, r.Says)
	}
	c := &cobra.Command{
		Use:   "lint [KIND/ID | KIND]",
		Short: "Look for what is wrong with pieces",
		Long: `Lint looks at one piece, at all of a kind, or with --all at the whole studio, and changes
nothing. Its rules:

` + rules.String() + `
The exit status is 1 where there is an error, and with --strict where there is a warning.
Notes never fail it.`,
		Example: "  soundstage lint lorebook/coast\n  soundstage lint preset\n  soundstage lint --all --strict --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := lintTarget(args, all)
			if err != nil {
				return err
			}
			return a.withStore(c.Context(), func(ctx context.Context, h *house) error {
				return a.lintPieces(ctx, h, ref, strict)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "look at every piece")
	c.Flags().BoolVar(&strict, "strict", false, "fail on warnings too")
	return c
}

func lintTarget(args []string, all bool) (store.Ref, error) {
	switch {
	case all == (len(args) == 1):
		return store.Ref{}, fault.New(fault.Invalid, "lint", "lint takes a piece, a kind, or --all").WithHint("see: soundstage lint --help")
	case all:
		return store.Ref{}, nil
	case !strings.Contains(args[0], "/"):
		return store.Ref{Kind: args[0]}, nil
	}
	return parseRef(args[0])
}

func (a *app) lintPieces(ctx context.Context, h *house, ref store.Ref, strict bool) error {
	const op = "lint"
	got, err := h.shared.Lint(ctx, op, ref, func(int) {})
	if fault.CodeOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, op, "no piece %s", ref).WithHint("list pieces: soundstage piece ls")
	}
	if err != nil {
		return err
	}
	out := lintResult{Pieces: got.Pieces, Findings: got.Findings}
	for _, f := range got.Findings {
		switch f.Severity {
		case studio.LintError:
			out.Errors++
		case studio.LintWarning:
			out.Warnings++
		}
	}
	if err := a.print(out, func(w io.Writer) {
		for _, f := range out.Findings {
			fmt.Fprintf(w, "%s %s %s %s: %s\n", f.Piece, f.Severity, f.Rule, cmp.Or(f.Path, "/"), f.Message)
		}
		fmt.Fprintf(w, "%s, %s, %s\n", count(out.Pieces, "piece"), count(out.Errors, "error"), count(out.Warnings, "warning"))
	}); err != nil {
		return err
	}
	if out.Errors > 0 || strict && out.Warnings > 0 {
		return fault.New(codePieceLint, op, "%s and %s in %s", count(out.Errors, "error"), count(out.Warnings, "warning"), count(out.Pieces, "piece")).
			WithHint("each finding names its place; soundstage lint --help says what the rules mean")
	}
	return nil
}

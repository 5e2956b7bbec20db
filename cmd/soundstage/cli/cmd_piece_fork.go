package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// The results of the commands about what differs.
type (
	pieceDiff struct {
		Kind string         `json:"kind" jsonschema:"kind of the piece"`
		ID   string         `json:"id" jsonschema:"its id"`
		From int64          `json:"from" jsonschema:"the earlier revision; 0 is nothing"`
		To   int64          `json:"to" jsonschema:"the later revision"`
		Rows []draft.Change `json:"rows" jsonschema:"each value that differs: path, label, before, after"`
	}
	pieceForked struct {
		Kind     string `json:"kind" jsonschema:"kind of the pieces"`
		ID       string `json:"id" jsonschema:"id of the fork"`
		Source   string `json:"source" jsonschema:"id of what was forked"`
		Revision int64  `json:"revision" jsonschema:"the source's revision: the base of later merges"`
	}
	pieceMerged struct {
		Draft     string               `json:"draft" jsonschema:"what was composed; empty where all that differs is in conflict"`
		Target    string               `json:"target" jsonschema:"the piece that the draft changes"`
		Base      string               `json:"base" jsonschema:"what both came from, with its revision"`
		Theirs    string               `json:"theirs" jsonschema:"what was taken, with its revision"`
		Conflicts []studio.ConflictRow `json:"conflicts" jsonschema:"what both changed: path, base, ours, theirs; the draft has ours"`
		More      int                  `json:"more,omitempty" jsonschema:"conflicts that were left out"`
		Review    *draft.Review        `json:"review,omitempty" jsonschema:"the draft's card"`
	}
)

func (a *app) cmdPieceDiff() *cobra.Command {
	return &cobra.Command{
		Use: "diff KIND/ID [FROM [TO]]", Short: "Say what differs between two revisions, value by value", Args: cobra.RangeArgs(1, 3),
		Long: `Diff compares two revisions of a piece. Without TO it is the current one, without FROM the
one before. Members of a list that have ids are compared by id.`,
		Example: "  soundstage piece diff character/ada\n  soundstage piece diff character/ada 1 3 --json",
		RunE: func(c *cobra.Command, args []string) error {
			var revs [2]int64
			for i, arg := range args[1:] {
				var err error
				if revs[i], err = parseRevision("piece.diff", args[0], arg); err != nil {
					return err
				}
			}
			return a.withPiece(c.Context(), args[0], func(ctx context.Context, h *house, ref store.Ref) error {
				out := pieceDiff{Kind: ref.Kind, ID: ref.ID, To: revs[1]}
				if out.To == 0 {
					p, err := h.store.Get(ctx, ref, 0)
					if err != nil {
						return err
					}
					out.To = p.Revision
				}
				var err error
				if out.From, out.Rows, err = h.shared.Between(ctx, ref, revs[0], out.To); err != nil {
					return err
				}
				return a.print(out, func(w io.Writer) {
					fmt.Fprintf(w, "%s: revision %d to %d, %s\n", ref, out.From, out.To, count(len(out.Rows), "difference"))
					writeRows(w, out.Rows)
				})
			})
		},
	}
}

// parseRevision reads a revision as people write it.
func parseRevision(op, piece, s string) (int64, error) {
	rev, err := strconv.ParseInt(s, 10, 64)
	if err != nil || rev < 1 {
		return 0, fault.New(fault.Invalid, op, "revision is %q", s).WithHint("list revisions: soundstage piece history %s", piece)
	}
	return rev, nil
}

// writeRows prints what differs, one line a value.
func writeRows(w io.Writer, rows []draft.Change) {
	for _, r := range rows {
		fmt.Fprintf(w, "  %s  %s\n", plain.Line(r.Path, 120), plain.Line(r.Label, 80))
		if r.Before != "" {
			fmt.Fprintf(w, "    - %s\n", oneLine(r.Before))
		}
		if r.After != "" {
			fmt.Fprintf(w, "    + %s\n", oneLine(r.After))
		}
	}
}

func (a *app) cmdPieceFork() *cobra.Command {
	var id string
	c := &cobra.Command{
		Use: "fork KIND/ID", Short: "Copy a piece to a new id that remembers its source", Args: cobra.ExactArgs(1),
		Long: `Fork copies a piece with its original file. Unlike a duplicate, a fork can take later changes
of its source, and give its own back: soundstage piece merge.`,
		Example: "  soundstage piece fork character/ada --id ada-noir",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withPiece(c.Context(), args[0], func(ctx context.Context, h *house, ref store.Ref) error {
				p, err := h.store.Get(ctx, ref, 0)
				if err != nil {
					return err
				}
				f, err := studio.Fork(p, id)
				if err != nil {
					return err
				}
				stamp := store.Stamp{At: h.clock.Now(), Cause: fmt.Sprintf("fork of %s at revision %d", ref, p.Revision)}
				if f, err = h.store.Create(ctx, f, stamp); err != nil {
					return err
				}
				out := pieceForked{Kind: f.Kind, ID: f.ID, Source: ref.ID, Revision: p.Revision}
				return a.print(out, func(w io.Writer) {
					fmt.Fprintf(w, "forked %s at revision %d as %s\n", ref, p.Revision, f.Ref)
				})
			})
		},
	}
	c.Flags().StringVar(&id, "id", "", "the fork's `id` (default: the piece's own with -fork)")
	return c
}

func (a *app) cmdPieceMerge() *cobra.Command {
	var rev int64
	c := &cobra.Command{
		Use: "merge KIND/ID [FROM]", Short: "Merge a fork and its source, as a draft", Args: cobra.RangeArgs(1, 2),
		Long: `Merge compares a fork and its source with the revision that was forked, and drafts what the
first piece becomes. Without FROM the piece is a fork and takes the changes of its source. Where
both changed a value, the draft keeps that of the first piece, and the conflict is listed.`,
		Example: `  soundstage piece merge character/ada-noir
  soundstage piece merge character/ada character/ada-noir
  soundstage tool call change.apply '{"draft":"d-0001"}'`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.withPiece(c.Context(), args[0], func(ctx context.Context, h *house, ref store.Ref) error {
				in := studio.MergeIn{Kind: ref.Kind, ID: ref.ID, Revision: rev}
				if len(args) == 2 {
					in.From = args[1]
				}
				rep, err := h.shared.Merge(ctx, tool.Call{Skin: tool.CLI}, in)
				if err != nil {
					return err
				}
				out := pieceMerged{
					Draft: rep.Out.Draft, Target: rep.Out.Target, Base: rep.Out.Base, Theirs: rep.Out.Theirs,
					Conflicts: rep.Out.Conflicts, More: rep.Out.More, Review: rep.Review,
				}
				return a.print(out, func(w io.Writer) { writeMerge(w, rep) })
			})
		},
	}
	c.Flags().Int64Var(&rev, "revision", 0, "the `revision` of FROM to take (default: the current one)")
	return c
}

func writeMerge(w io.Writer, rep tool.Reply[studio.MergeOut]) {
	out := rep.Out
	fmt.Fprintf(w, "merge %s into %s; both come from %s\n", out.Theirs, out.Target, out.Base)
	side := func(name string, v *string) {
		if v != nil {
			fmt.Fprintf(w, "    %s %s\n", name, oneLine(*v))
		}
	}
	for _, c := range out.Conflicts {
		fmt.Fprintf(w, "  conflict %s  %s\n", plain.Line(c.Path, 120), plain.Line(c.Label, 80))
		side("base  ", c.Base)
		side("ours  ", c.Ours)
		side("theirs", c.Theirs)
	}
	if out.More > 0 {
		fmt.Fprintf(w, "  and %s more\n", count(out.More, "conflict"))
	}
	if rep.Review == nil {
		fmt.Fprintln(w, out.Next)
		return
	}
	writeReview(w, *rep.Review)
	fmt.Fprintf(w, "nothing is saved yet: soundstage tool call change.apply '{\"draft\":%q}'\n", out.Draft)
}

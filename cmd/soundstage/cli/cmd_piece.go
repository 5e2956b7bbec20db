package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
)

// The results of the piece commands.
type (
	pieceList struct {
		Pieces []store.Summary `json:"pieces" jsonschema:"in order of kind and id"`
	}
	pieceShow struct {
		Kind     string          `json:"kind" jsonschema:"kind of the piece"`
		ID       string          `json:"id" jsonschema:"its id"`
		Revision int64           `json:"revision" jsonschema:"the revision shown"`
		Title    string          `json:"title" jsonschema:"what lists show"`
		Escrow   []string        `json:"escrow" jsonschema:"formats of which the original file is kept"`
		Body     json.RawMessage `json:"body" jsonschema:"the canonical body"`
	}
	pieceHistory struct {
		Kind      string           `json:"kind" jsonschema:"kind of the piece"`
		ID        string           `json:"id" jsonschema:"its id"`
		Revisions []store.Revision `json:"revisions" jsonschema:"oldest first"`
	}
	pieceRestored struct {
		Kind     string `json:"kind" jsonschema:"kind of the piece"`
		ID       string `json:"id" jsonschema:"its id"`
		From     int64  `json:"from" jsonschema:"the revision that was brought back"`
		Revision int64  `json:"revision" jsonschema:"the new revision; with --dry-run the present one"`
		// Rows and DryRun came later.
		Rows   []draft.Change `json:"rows" jsonschema:"each value that becomes another one: path, label, before, after"`
		DryRun bool           `json:"dry_run,omitempty" jsonschema:"nothing was written"`
	}
)

func (a *app) cmdPiece() *cobra.Command {
	c := &cobra.Command{
		Use:     "piece",
		Short:   "List, show, compare, fork, merge and restore what is in the studio",
		Example: "  soundstage piece ls\n  soundstage piece history character/ada\n  soundstage piece restore character/ada 1",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.cmdPieceLs(), a.cmdPieceShow(), a.cmdPieceDiff(), a.cmdPieceHistory(), a.cmdPieceRestore(),
		a.cmdPieceFork(), a.cmdPieceMerge())
	return c
}

func (a *app) cmdPieceLs() *cobra.Command {
	var q store.Query
	c := &cobra.Command{
		Use: "ls", Short: "List pieces", Args: cobra.NoArgs,
		Example: "  soundstage piece ls\n  soundstage piece ls --kind character --text engines",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c.Context(), func(ctx context.Context, h *house) error {
				list, err := h.store.List(ctx, q)
				if err != nil {
					return err
				}
				return a.print(pieceList{Pieces: list}, func(w io.Writer) {
					t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
					for _, s := range list {
						fmt.Fprintf(t, "%s\tr%d\t%s\t%d bytes\n", s.Ref, s.Revision, plain.Line(s.Title, 60), s.Size)
					}
					_ = t.Flush() // to a writer that was checked when it was opened
					if len(list) == 0 {
						fmt.Fprintln(a.doors.Stderr, "no such pieces; bring one in with: soundstage import FILE")
					}
				})
			})
		},
	}
	c.Flags().StringVar(&q.Kind, "kind", "", "only this `kind`")
	c.Flags().StringVar(&q.Text, "text", "", "only those that hold this `text`")
	return c
}

func (a *app) cmdPieceShow() *cobra.Command {
	var rev int64
	c := &cobra.Command{
		Use: "show KIND/ID", Short: "Print a piece's body", Args: cobra.ExactArgs(1),
		Example: "  soundstage piece show character/ada\n  soundstage piece show character/ada --revision 1",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withPiece(c.Context(), args[0], func(ctx context.Context, h *house, ref store.Ref) error {
				p, err := h.store.Get(ctx, ref, rev)
				if err != nil {
					return err
				}
				out := pieceShow{Kind: p.Kind, ID: p.ID, Revision: p.Revision, Title: p.Title, Escrow: []string{}, Body: p.Body}
				for _, e := range p.Escrow {
					out.Escrow = append(out.Escrow, e.Format)
				}
				return a.print(out, func(w io.Writer) {
					fmt.Fprintf(w, "%s  revision %d  %q  escrow %v\n", p.Ref, p.Revision, p.Title, out.Escrow)
					fmt.Fprintf(w, "%s\n", indent(p.Body))
				})
			})
		},
	}
	c.Flags().Int64Var(&rev, "revision", 0, "an older `revision`")
	return c
}

func (a *app) cmdPieceHistory() *cobra.Command {
	return &cobra.Command{
		Use: "history KIND/ID", Short: "List a piece's revisions, also of a deleted one", Args: cobra.ExactArgs(1),
		Example: "  soundstage piece history character/ada",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withPiece(c.Context(), args[0], func(ctx context.Context, h *house, ref store.Ref) error {
				revs, err := h.store.History(ctx, ref)
				if err != nil {
					return err
				}
				if len(revs) == 0 {
					return fault.New(fault.NotFound, "piece.history", "no piece %s, now or before", ref).WithHint("list pieces: soundstage piece ls")
				}
				out := pieceHistory{Kind: ref.Kind, ID: ref.ID, Revisions: revs}
				return a.print(out, func(w io.Writer) {
					t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
					for _, r := range revs {
						what := fmt.Sprintf("%d bytes", r.Size)
						if r.Deleted {
							what = "deleted"
						}
						who := r.Session
						if who == "" {
							who = "a person"
						}
						fmt.Fprintf(t, "r%d\t%s\t%s\t%s\t%s\n", r.Revision, r.At.Format("2006-01-02 15:04:05"), what, r.Cause, who)
					}
					_ = t.Flush() // to a writer that was checked when it was opened
				})
			})
		},
	}
}

func (a *app) cmdPieceRestore() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use: "restore KIND/ID REVISION", Short: "Bring an old revision back, as a new one", Args: cobra.ExactArgs(2),
		Long: `Restore writes an old revision again and says what that changes; history only grows. It brings
back a deleted piece as well. --dry-run only says it.`,
		Example: "  soundstage piece restore character/ada 1 --dry-run\n  soundstage piece restore character/ada 1",
		RunE: func(c *cobra.Command, args []string) error {
			rev, err := parseRevision("piece.restore", args[0], args[1])
			if err != nil {
				return err
			}
			return a.withPiece(c.Context(), args[0], func(ctx context.Context, h *house, ref store.Ref) error {
				return a.restore(ctx, h, ref, rev, dry)
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would change, and write nothing")
	return c
}

// restore writes an old revision again: history only grows.
func (a *app) restore(ctx context.Context, h *house, ref store.Ref, rev int64, dry bool) error {
	p, err := h.store.Get(ctx, ref, rev)
	if err != nil {
		return err
	}
	stamp := store.Stamp{At: h.clock.Now(), Cause: fmt.Sprintf("restore %d", rev)}
	now, err := h.store.Get(ctx, ref, 0)
	gone := fault.CodeOf(err) == fault.NotFound
	if err != nil && !gone {
		return err
	}
	out := pieceRestored{Kind: ref.Kind, ID: ref.ID, From: rev, Revision: now.Revision, DryRun: dry}
	if out.Rows, err = studio.Rows(now, p); err != nil {
		return err
	}
	switch {
	case dry:
		return a.print(out, func(w io.Writer) {
			fmt.Fprintf(w, "restoring %s to revision %d would change %s\n", ref, rev, count(len(out.Rows), "value"))
			writeRows(w, out.Rows)
		})
	case gone:
		p, err = h.store.Create(ctx, p, stamp)
	default:
		p.Revision, p.Escrow = now.Revision, now.Escrow // the imported original stays
		p, err = h.store.Update(ctx, p, stamp)
	}
	if err != nil {
		return err
	}
	out.Revision = p.Revision
	return a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "restored %s: revision %d is now revision %d\n", ref, rev, p.Revision)
	})
}

// withStore runs f in the opened studio.
func (a *app) withStore(ctx context.Context, f func(context.Context, *house) error) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	return f(ctx, h)
}

// withPiece is withStore for a command about one piece.
func (a *app) withPiece(ctx context.Context, name string, f func(context.Context, *house, store.Ref) error) error {
	ref, err := parseRef(name)
	if err != nil {
		return err
	}
	return a.withStore(ctx, func(ctx context.Context, h *house) error { return f(ctx, h, ref) })
}

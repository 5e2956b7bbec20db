package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
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
		Revision int64  `json:"revision" jsonschema:"the new revision"`
	}
)

func (a *app) cmdPiece() *cobra.Command {
	c := &cobra.Command{
		Use:     "piece",
		Short:   "List, show and restore what is in the studio",
		Example: "  soundstage piece ls\n  soundstage piece history character/ada\n  soundstage piece restore character/ada 1",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.cmdPieceLs(), a.cmdPieceShow(), a.cmdPieceHistory(), a.cmdPieceRestore())
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
	return &cobra.Command{
		Use: "restore KIND/ID REVISION", Short: "Bring an old revision back, as a new one", Args: cobra.ExactArgs(2),
		Example: "  soundstage piece restore character/ada 1",
		RunE: func(c *cobra.Command, args []string) error {
			var rev int64
			if _, err := fmt.Sscanf(args[1], "%d", &rev); err != nil || rev < 1 {
				return fault.New(fault.Invalid, "piece.restore", "revision is %q", args[1]).WithHint("list revisions: soundstage piece history %s", args[0])
			}
			return a.withPiece(c.Context(), args[0], func(ctx context.Context, h *house, ref store.Ref) error {
				return a.restore(ctx, h, ref, rev)
			})
		},
	}
}

// restore writes an old revision again: history only grows.
func (a *app) restore(ctx context.Context, h *house, ref store.Ref, rev int64) error {
	p, err := h.store.Get(ctx, ref, rev)
	if err != nil {
		return err
	}
	stamp := store.Stamp{At: h.clock.Now(), Cause: fmt.Sprintf("restore %d", rev)}
	now, err := h.store.Get(ctx, ref, 0)
	switch fault.CodeOf(err) {
	case "":
		p.Revision = now.Revision
		p, err = h.store.Update(ctx, p, stamp)
	case fault.NotFound:
		p, err = h.store.Create(ctx, p, stamp)
	}
	if err != nil {
		return err
	}
	out := pieceRestored{Kind: ref.Kind, ID: ref.ID, From: rev, Revision: p.Revision}
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

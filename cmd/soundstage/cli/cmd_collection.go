package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
)

// The results of the collection commands.
type (
	collectionRow struct {
		Name   string   `json:"name" jsonschema:"what you called it"`
		About  string   `json:"about,omitempty" jsonschema:"what it is for"`
		Pieces []string `json:"pieces" jsonschema:"kind/id, in the order in which they were added"`
	}
	collectionList struct {
		Collections []collectionRow `json:"collections" jsonschema:"by name"`
	}
)

func rowOfCollection(c studio.Collection) collectionRow {
	row := collectionRow{Name: c.Name, About: c.About, Pieces: []string{}}
	for _, ref := range c.Pieces {
		row.Pieces = append(row.Pieces, ref.String())
	}
	return row
}

func (a *app) cmdCollection() *cobra.Command {
	c := &cobra.Command{
		Use:   "collection",
		Short: "Group pieces under names of your own",
		Long: `Collections are yours: agents can read them and not change them. A piece may be in many; taking
it out, or dropping the collection, leaves the piece as it is.`,
		Example: "  soundstage collection new Noir --about \"the winter campaign\"\n  soundstage collection add Noir character/ada\n  soundstage collection ls Noir",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.cmdCollectionNew(), a.cmdCollectionAdd(), a.cmdCollectionRm(), a.cmdCollectionLs())
	return c
}

// withCollections runs f over the collections of the studio.
func (a *app) withCollections(c *cobra.Command, f func(context.Context, *house, *studio.Collections) error) error {
	return a.withStore(c.Context(), func(ctx context.Context, h *house) error {
		return f(ctx, h, studio.NewCollections(h.store, h.clock))
	})
}

func (a *app) cmdCollectionNew() *cobra.Command {
	var about string
	c := &cobra.Command{
		Use: "new NAME", Short: "Make a collection", Args: cobra.ExactArgs(1),
		Example: "  soundstage collection new Noir --about \"the winter campaign\"",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withCollections(c, func(ctx context.Context, _ *house, kept *studio.Collections) error {
				made, err := kept.New(ctx, args[0], about)
				if err != nil {
					return err
				}
				return a.print(rowOfCollection(made), func(w io.Writer) { fmt.Fprintf(w, "made the collection %q\n", made.Name) })
			})
		},
	}
	c.Flags().StringVar(&about, "about", "", "what it is for, in a few `words`")
	return c
}

func (a *app) cmdCollectionAdd() *cobra.Command {
	return &cobra.Command{
		Use: "add NAME KIND/ID…", Short: "Put pieces into a collection", Args: cobra.MinimumNArgs(2),
		Example: "  soundstage collection add Noir character/ada lorebook/london",
		RunE: func(c *cobra.Command, args []string) error {
			refs, err := parseRefs(args[1:])
			if err != nil {
				return err
			}
			return a.withCollections(c, func(ctx context.Context, h *house, kept *studio.Collections) error {
				for _, ref := range refs {
					if _, err := h.store.Get(ctx, ref, 0); err != nil {
						return err
					}
				}
				got, err := kept.Add(ctx, args[0], refs...)
				if err != nil {
					return err
				}
				return a.print(rowOfCollection(got), func(w io.Writer) { fmt.Fprintf(w, "%q holds %s\n", got.Name, count(len(got.Pieces), "piece")) })
			})
		},
	}
}

func parseRefs(args []string) ([]store.Ref, error) {
	refs := make([]store.Ref, len(args))
	for i, arg := range args {
		var err error
		if refs[i], err = parseRef(arg); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

func (a *app) cmdCollectionRm() *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME [KIND/ID…]", Short: "Take pieces out of a collection, or drop it whole", Args: cobra.MinimumNArgs(1),
		Long:    "Rm takes the pieces out; without any it drops the collection. The pieces themselves stay.",
		Example: "  soundstage collection rm Noir character/ada\n  soundstage collection rm Noir",
		RunE: func(c *cobra.Command, args []string) error {
			refs, err := parseRefs(args[1:])
			if err != nil {
				return err
			}
			return a.withCollections(c, func(ctx context.Context, _ *house, kept *studio.Collections) error {
				if len(refs) > 0 {
					got, err := kept.Take(ctx, args[0], refs...)
					if err != nil {
						return err
					}
					return a.print(rowOfCollection(got), func(w io.Writer) { fmt.Fprintf(w, "%q holds %s\n", got.Name, count(len(got.Pieces), "piece")) })
				}
				got, err := kept.Get(ctx, args[0])
				if err == nil {
					err = kept.Drop(ctx, args[0])
				}
				if err != nil {
					return err
				}
				return a.print(rowOfCollection(got), func(w io.Writer) {
					fmt.Fprintf(w, "dropped the collection %q; its %s stay\n", got.Name, count(len(got.Pieces), "piece"))
				})
			})
		},
	}
}

func (a *app) cmdCollectionLs() *cobra.Command {
	return &cobra.Command{
		Use: "ls [NAME]", Short: "List collections, or what is in one", Args: cobra.MaximumNArgs(1),
		Example: "  soundstage collection ls\n  soundstage collection ls Noir",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withCollections(c, func(ctx context.Context, _ *house, kept *studio.Collections) error {
				all, err := kept.All(ctx)
				if len(args) == 1 {
					var one studio.Collection
					one, err = kept.Get(ctx, args[0])
					all = []studio.Collection{one}
				}
				if err != nil {
					return err
				}
				out := collectionList{Collections: []collectionRow{}}
				for _, got := range all {
					out.Collections = append(out.Collections, rowOfCollection(got))
				}
				return a.print(out, func(w io.Writer) { writeCollections(w, out.Collections, len(args) == 1) })
			})
		},
	}
}

func writeCollections(w io.Writer, rows []collectionRow, whole bool) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\n", plain.Line(r.Name, 60), count(len(r.Pieces), "piece"), plain.Line(r.About, 80))
	}
	_ = t.Flush() // to a writer that was checked when it was opened
	if whole {
		for _, p := range rows[0].Pieces {
			fmt.Fprintf(w, "  %s\n", p)
		}
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// exportResult is what export prints with --json.
type exportResult struct {
	Kind   string         `json:"kind" jsonschema:"kind of the piece"`
	ID     string         `json:"id" jsonschema:"its id"`
	Format string         `json:"format" jsonschema:"what was written"`
	File   string         `json:"file" jsonschema:"the file, as it was named"`
	Bytes  int            `json:"bytes" jsonschema:"its size"`
	Losses []content.Loss `json:"losses" jsonschema:"what the format cannot hold"`
}

func (a *app) cmdExport() *cobra.Command {
	var format, out string
	c := &cobra.Command{
		Use:   "export KIND/ID",
		Short: "Write a piece as a file for another program",
		Long: "Export writes a piece in one of these formats: " + strings.Join(newFormats().Writing(""), ", ") + `.
Without --format it is the one that the piece was imported from. What the format cannot
hold is listed. A file that exists is never replaced.`,
		Example: "  soundstage export character/ada\n  soundstage export character/ada --format json-v3 -o ada.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.exportPiece(c.Context(), args[0], format, out)
		},
	}
	c.Flags().StringVar(&format, "format", "", "the `format` to write")
	c.Flags().StringVarP(&out, "out", "o", "", "the `file` to write (default: named after the piece)")
	return c
}

func (a *app) exportPiece(ctx context.Context, name, format, out string) error {
	ref, err := parseRef(name)
	if err != nil {
		return err
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	p, err := h.store.Get(ctx, ref, 0)
	if err != nil {
		return err
	}
	if format == "" {
		format = h.formats.Usual(p)
	}
	linked, err := content.Linked(ctx, p, func(ctx context.Context, ref store.Ref) (store.Piece, error) { return h.store.Get(ctx, ref, 0) })
	if err != nil {
		return err
	}
	made, err := h.formats.Convert(p, format, linked)
	if err != nil {
		return err
	}
	if out == "" {
		out = made.Name
	}
	err = writeNew(a.path(out), made.Data)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "export", "file %q exists", out).WithHint("name another with -o; an export never replaces a file")
	}
	if err != nil {
		return notWritten(err, "export", out)
	}
	r := exportResult{Kind: ref.Kind, ID: ref.ID, Format: format, File: out, Bytes: len(made.Data), Losses: append([]content.Loss{}, made.Losses...)}
	return a.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "exported %s as %s to %s (%d bytes)\n", ref, format, out, len(made.Data))
		for _, l := range made.Losses {
			fmt.Fprintf(w, "  %s %s: %s\n", l.Verdict, l.Path, l.Reason)
		}
	})
}

// parseRef reads kind/id.
func parseRef(s string) (store.Ref, error) {
	kind, id, ok := strings.Cut(s, "/")
	ref := store.Ref{Kind: kind, ID: id}
	if !ok {
		return ref, fault.New(fault.Invalid, "cli", "%q names no piece", s).WithHint("write KIND/ID, like character/ada")
	}
	return ref, store.CheckRef(ref)
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
)

// exportResult is what export prints with --json.
type exportResult struct {
	Kind   string        `json:"kind" jsonschema:"kind of the piece"`
	ID     string        `json:"id" jsonschema:"its id"`
	Format string        `json:"format" jsonschema:"what was written"`
	File   string        `json:"file" jsonschema:"the file, as it was named; without -o, from the folder on that you are in"`
	Bytes  int           `json:"bytes" jsonschema:"its size"`
	Losses []studio.Loss `json:"losses" jsonschema:"what the format cannot hold"`
	// These came later.
	Exact    bool     `json:"exact" jsonschema:"it is the file that the piece came from, byte for byte"`
	Stripped []string `json:"stripped" jsonschema:"pointers of credentials that are left out"`
	Warnings []string `json:"warnings" jsonschema:"what else there is to know"`
}

func (a *app) cmdExport() *cobra.Command {
	var to, format, out string
	c := &cobra.Command{
		Use:   "export KIND/ID",
		Short: "Write a piece as a file for another program",
		Long: `Export writes a piece in a format that soundstage formats lists; without --to, in the one
that it was imported from. What the format cannot hold is listed; soundstage transfer says it
before. Without -o it goes into the studio's Export folder. A file that exists is never
replaced, and no credential leaves in one.`,
		Example: "  soundstage export character/ada\n  soundstage export character/ada --to json-v3 -o ada.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if to != "" && format != "" {
				return fault.New(fault.Invalid, "export", "--to %q and --format %q are one flag", to, format).WithHint("give --to alone")
			}
			return a.crossed(c.Context(), args[0], to+format, func(ctx context.Context, h *house, x studio.Crossing) error {
				return a.exportPiece(ctx, h, x, out)
			})
		},
	}
	c.Flags().StringVar(&to, "to", "", "the `format` to write (default: the one that it came from)")
	c.Flags().StringVar(&format, "format", "", "the same as --to")
	c.Flags().StringVarP(&out, "out", "o", "", "the `file` to write (default: a new one in the studio's Export folder)")
	return c
}

func (a *app) exportPiece(ctx context.Context, h *house, x studio.Crossing, out string) (err error) {
	if out == "" {
		if out, err = h.shared.Exports.Save(ctx, "", x.File.Name, x.File.Data); err != nil {
			return err
		}
		out = a.fromHere(filepath.Join(h.dir, filepath.FromSlash(out)))
	} else if err := a.exportTo(out, x.File.Data); err != nil {
		return err
	}
	told := x.Told()
	r := exportResult{
		Kind: told.Kind, ID: told.ID, Format: told.Format, File: out, Bytes: told.Bytes,
		Losses: told.Losses, Exact: told.Exact, Stripped: told.Stripped, Warnings: told.Warnings,
	}
	return a.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "exported %s as %s to %s (%d bytes)\n", x.Piece.Ref, r.Format, out, r.Bytes)
		writeCost(w, x)
	})
}

// exportTo writes the file that the person named.
func (a *app) exportTo(out string, data []byte) error {
	err := writeNew(a.path(out), data)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "export", "file %q exists", out).WithHint("name another with -o; an export never replaces a file")
	}
	if err != nil {
		return notWritten(err, "export", out)
	}
	return nil
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

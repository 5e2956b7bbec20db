package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// An outgoer writes files as every preview and every export does.
type outgoer struct{ formats *content.Formats }

// Usual implements [studio.Converter].
func (o outgoer) Usual(p store.Piece) string { return o.formats.Usual(p) }

// Convert implements [studio.Converter].
func (o outgoer) Convert(p store.Piece, format string, linked []store.Piece) (studio.File, error) {
	c, err := o.formats.Convert(p, format, linked)
	if err != nil {
		return studio.File{}, err
	}
	f := studio.File{Format: format, Name: c.Name, Data: c.Data, Stripped: c.Stripped, Exact: c.Verbatim}
	for _, l := range c.Losses {
		f.Losses = append(f.Losses, studio.Loss{Path: l.Path, Value: l.Value, Target: l.Target, Verdict: string(l.Verdict), Reason: l.Reason})
	}
	return f, nil
}

// The results of formats and transfer.
type (
	formatList struct {
		Formats []formatRow `json:"formats" jsonschema:"by name"`
	}
	formatRow struct {
		Name     string   `json:"name" jsonschema:"stable; what --to takes"`
		Platform string   `json:"platform" jsonschema:"whose format it is"`
		Reads    []string `json:"reads" jsonschema:"kinds of pieces that are read from it"`
		Writes   []string `json:"writes" jsonschema:"kinds of pieces that are written in it"`
		Ext      string   `json:"ext" jsonschema:"of a file that is written"`
	}
	transferResult struct {
		Kind     string        `json:"kind" jsonschema:"kind of the piece"`
		ID       string        `json:"id" jsonschema:"its id"`
		Revision int64         `json:"revision" jsonschema:"its revision"`
		Format   string        `json:"format" jsonschema:"the target"`
		Name     string        `json:"name" jsonschema:"of the file that an export would write"`
		Bytes    int           `json:"bytes" jsonschema:"its size"`
		Exact    bool          `json:"exact" jsonschema:"it is the file that the piece came from, byte for byte"`
		Losses   []studio.Loss `json:"losses" jsonschema:"what the format cannot hold: path, value, target, verdict, reason"`
		Stripped []string      `json:"stripped" jsonschema:"pointers of credentials that are left out"`
		Warnings []string      `json:"warnings" jsonschema:"what else there is to know"`
	}
)

func (a *app) cmdFormats() *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use:   "formats",
		Short: "List the file formats that are read and written",
		Long: `Formats lists whose files can be imported, and what a piece can be exported as. What each
holds and loses is in docs/reference/formats.md.`,
		Example: "  soundstage formats\n  soundstage formats --kind lorebook",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.listFormats(kind)
		},
	}
	c.Flags().StringVar(&kind, "kind", "", "only those for this `kind` of piece")
	return c
}

func (a *app) listFormats(kind string) error {
	out := formatList{Formats: []formatRow{}}
	for _, f := range a.formats().All() {
		row := formatRow{Name: f.Name, Platform: f.Platform, Reads: only(f.Kinds, kind), Writes: only(f.Writes, kind), Ext: f.Ext}
		if len(row.Reads)+len(row.Writes) > 0 {
			out.Formats = append(out.Formats, row)
		}
	}
	if len(out.Formats) == 0 {
		var kinds []string
		for _, k := range content.Kinds() {
			kinds = append(kinds, k.Name())
		}
		return fault.New(fault.NotFound, "formats", "no format holds a piece of kind %q", kind).WithHint("kinds are %s", strings.Join(kinds, ", "))
	}
	return a.print(out, func(w io.Writer) {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "FORMAT\tPLATFORM\tREADS\tWRITES\tFILE")
		for _, f := range out.Formats {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", f.Name, f.Platform, dash(f.Reads), dash(f.Writes), f.Ext)
		}
		_ = t.Flush() // to a writer that was checked when it was opened
	})
}

// formats are those of the studio that the person is in, or named; without one those of
// any.
func (a *app) formats() *content.Formats {
	dir, err := a.studioDir()
	if err != nil {
		return newFormats()
	}
	cfg, err := readConfig(dir, a.studio)
	if err != nil {
		return newFormats() // the settings are for commands that need them
	}
	return formatsWith(cfg.spelling(dir))
}

// only is the kind where the list has it, and the whole list for "".
func only(list []string, kind string) []string {
	found := []string{}
	for _, k := range list {
		if kind == "" || k == kind {
			found = append(found, k)
		}
	}
	return found
}

func dash(list []string) string {
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, ", ")
}

func (a *app) cmdTransfer() *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "transfer KIND/ID",
		Short: "Say what a piece would lose in another platform's format",
		Long: `Transfer writes nothing. It says what export would write, with each value that the format
cannot hold whole, and why: dropped, approximated, renamed, or embedded where few programs look.`,
		Example: "  soundstage transfer preset/noir --to sillytavern-chat\n  soundstage transfer character/ada --to charx --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.crossed(c.Context(), args[0], to, func(_ context.Context, _ *house, x studio.Crossing) error {
				r := transferred(x)
				return a.print(r, func(w io.Writer) {
					fmt.Fprintf(w, "%s as %s: %s (%d bytes), nothing written\n", x.Piece.Ref, r.Format, r.Name, r.Bytes)
					writeCost(w, x)
				})
			})
		},
	}
	c.Flags().StringVar(&to, "to", "", "the `format`, as soundstage formats lists it (default: the one that it came from)")
	return c
}

// crossed opens the studio and writes a piece in a format, in memory.
func (a *app) crossed(ctx context.Context, name, format string, do func(context.Context, *house, studio.Crossing) error) error {
	ref, err := parseRef(name)
	if err != nil {
		return err
	}
	return a.withStore(ctx, func(ctx context.Context, h *house) error {
		x, err := h.shared.Cross(ctx, "export", ref, 0, format)
		if fault.CodeOf(err) == fault.NotFound {
			return fault.New(fault.NotFound, "export", "no piece %s", ref).WithHint("list pieces: soundstage piece ls")
		}
		if err != nil {
			return err
		}
		return do(ctx, h, x)
	})
}

func transferred(x studio.Crossing) transferResult {
	told := x.Told()
	return transferResult{
		Kind: told.Kind, ID: told.ID, Revision: told.Revision, Format: told.Format, Name: told.Name, Bytes: told.Bytes,
		Exact: told.Exact, Losses: told.Losses, Stripped: told.Stripped, Warnings: told.Warnings,
	}
}

// writeCost lists what a crossing costs.
func writeCost(w io.Writer, x studio.Crossing) {
	for _, l := range x.File.Losses {
		value := ""
		if strings.HasPrefix(l.Path, content.InOriginal) { // the piece does not show it
			value = fmt.Sprintf(" (%s)", plain.Clip(strings.Join(strings.Fields(l.Value), " "), 60)) // on one line
		}
		fmt.Fprintf(w, "  %s %s%s: %s\n", l.Verdict, l.Path, value, l.Reason)
	}
	for _, ptr := range x.File.Stripped {
		fmt.Fprintf(w, "  left out %s: a credential\n", ptr)
	}
	for _, warning := range x.Warnings {
		fmt.Fprintf(w, "  warning: %s\n", warning)
	}
}

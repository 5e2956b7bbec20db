package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// maxImport bounds a file that is read into the studio, in bytes.
const maxImport = 96 << 20

// importResult is what import prints with --json.
type importResult struct {
	Format   string          `json:"format" jsonschema:"what the file was"`
	Pieces   []importedPiece `json:"pieces" jsonschema:"what it held; a piece that another one names comes before it"`
	Warnings []string        `json:"warnings" jsonschema:"what the reader had to guess or mend"`
}

// importedPiece is one of them.
type importedPiece struct {
	Kind     string `json:"kind" jsonschema:"kind of the piece"`
	ID       string `json:"id" jsonschema:"its id in the studio"`
	Title    string `json:"title" jsonschema:"what lists show"`
	Revision int64  `json:"revision" jsonschema:"1, or more where a deleted piece had the id"`
}

func (a *app) cmdImport() *cobra.Command {
	var id string
	var anyway bool
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Read a file of another program into the studio",
		Long: `Import reads a card, lorebook, persona, preset, regex set or quick-reply set of another
program; soundstage formats lists them. All pieces of a file come in, or none. The file is kept
byte for byte beside the piece, so that an export to the same format loses nothing. An id that
is taken is refused, and so is content that the studio has under another id.`,
		Example: "  soundstage import ada.png\n  soundstage import --id countess ada.json\n  soundstage import --anyway --id ada-copy ada.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.importFile(c.Context(), args[0], id, anyway)
		},
	}
	c.Flags().BoolVar(&anyway, "anyway", false, "also what the studio has under another id")
	c.Flags().StringVar(&id, "id", "", "the piece's `id` (default: from its name)")
	return c
}

func (a *app) importFile(ctx context.Context, file, id string, anyway bool) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	raw, err := a.readFile(ctx, file, maxImport)
	if err != nil {
		return err
	}
	in, err := h.formats.Import(filepath.Base(file), raw)
	if err != nil {
		return err
	}
	if id != "" {
		if err := renameImport(&in, id); err != nil {
			return err
		}
	}
	if !anyway {
		const hint = "use what is there; --anyway makes a second one"
		if err := h.shared.Duplicates(ctx, "import", filepath.Base(file), hint, in.Pieces); err != nil {
			return err
		}
	}
	made, err := h.importPieces(ctx, filepath.Base(file), in.Pieces)
	if err != nil {
		return err
	}
	out := importResult{Format: in.Format, Warnings: in.Warnings, Pieces: made}
	return a.print(out, func(w io.Writer) {
		for _, p := range made {
			fmt.Fprintf(w, "imported %s/%s %q from %s\n", p.Kind, p.ID, p.Title, in.Format)
		}
		for _, warning := range in.Warnings {
			fmt.Fprintf(w, "  warning: %s\n", warning)
		}
	})
}

// renameImport gives the piece that the file is about another id, and those that it
// brings along ids made of that.
func renameImport(in *content.Imported, id string) error {
	last := len(in.Pieces) - 1
	if err := store.CheckID(id); err != nil {
		return err
	}
	named, err := content.Renamed(in.Pieces, id)
	if err != nil {
		return fault.New(fault.Invalid, "import", "--id %q names one piece, and the file holds %d that do not belong together", id, last+1).WithHint("leave --id out")
	}
	in.Pieces = named
	return nil
}

// importPieces writes all of them or none.
func (h *house) importPieces(ctx context.Context, file string, pieces []store.Piece) ([]importedPiece, error) {
	saved, err := h.store.CreateAll(ctx, pieces, store.Stamp{At: h.clock.Now(), Cause: "import"})
	if fault.CodeOf(err) == fault.Conflict {
		return nil, h.taken(ctx, file, pieces, err)
	}
	if err != nil {
		return nil, err
	}
	var made []importedPiece
	for _, p := range saved {
		made = append(made, importedPiece{Kind: p.Kind, ID: p.ID, Title: p.Title, Revision: p.Revision})
	}
	return made, nil
}

// taken is why the id of one of the pieces is not free: the same content has it, or
// another.
func (h *house) taken(ctx context.Context, file string, pieces []store.Piece, err error) error {
	for _, p := range pieces {
		has, miss := h.store.Get(ctx, p.Ref, 0)
		if miss == nil && content.Fingerprint(has.Body) == content.Fingerprint(p.Body) {
			hint := "there is nothing to do; --anyway with another --id makes a second one"
			if !h.allThere(ctx, pieces) {
				hint = "the file holds more, and nothing of it was made: --anyway with another --id makes all of it"
			}
			return fault.Wrap(err, fault.Conflict, "import", "%q was not imported: %s is there, and has the same content", file, p.Ref).WithHint("%s", hint)
		}
		if miss == nil {
			break // the first that is there is the one that was refused
		}
	}
	return fault.Wrap(err, fault.Conflict, "import", "%q was not imported", file).
		WithHint("give it another id with --id, or change the piece that is there")
}

// allThere says whether the studio has each of the pieces, with the same content.
func (h *house) allThere(ctx context.Context, pieces []store.Piece) bool {
	return !slices.ContainsFunc(pieces, func(p store.Piece) bool {
		has, err := h.store.Get(ctx, p.Ref, 0)
		return err != nil || content.Fingerprint(has.Body) != content.Fingerprint(p.Body)
	})
}

// readFile reads a file that the person named, up to limit bytes. What they named may
// be a pipe that nobody writes to, so it is not waited for when ctx ends.
func (a *app) readFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	type read struct {
		raw []byte
		err error
	}
	done := make(chan read, 1)
	go func() {
		raw, err := a.readWhole(name, limit)
		done <- read{raw, err}
	}()
	select {
	case r := <-done:
		return r.raw, r.err
	case <-ctx.Done():
		return nil, fault.Wrap(ctx.Err(), fault.Cancelled, "read", "%q was not read to its end", name)
	}
}

func (a *app) readWhole(name string, limit int64) ([]byte, error) {
	const op = "read"
	if name == "" {
		return nil, fault.New(fault.Invalid, op, "the file has no name").WithHint("name the file to read")
	}
	shown := plain.Clip(name, 200)
	f, err := os.Open(a.path(name))
	if os.IsNotExist(err) {
		return nil, fault.New(fault.NotFound, op, "no file %q", shown).WithHint("check the name; a relative one begins in the folder that you are in")
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, op, "cannot open %q: %v", shown, reasonOf(err)).WithHint("check its name and who may read it")
	}
	defer f.Close() //nolint:errcheck // only read
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fault.New(fault.Invalid, op, "cannot read %q: %v", shown, reasonOf(err)).WithHint("name a file, not a folder")
	}
	if int64(len(raw)) > limit {
		return nil, fault.New(fault.TooLarge, op, "%q is larger than %d bytes", shown, limit).WithHint("give a smaller file")
	}
	return raw, nil
}

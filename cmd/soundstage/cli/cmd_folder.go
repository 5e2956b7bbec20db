package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/adapters/folder"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// The names in a studio that have to do with files.
const (
	foldersFile = "folders.json" // in stateDir: paths are of this machine
	exportDir   = "Export"
)

// The results of the folder commands.
type (
	folderChanged struct {
		Name string `json:"name" jsonschema:"what agents call the folder"`
		Path string `json:"path" jsonschema:"the folder itself, without links"`
	}
	folderList struct {
		Folders []folderChanged `json:"folders" jsonschema:"by name"`
	}
)

// folders is the door to what the person shared of this machine. The studio's own files
// and the person's settings are never in it.
func (a *app) folders(dir string) *folder.Folders {
	state := filepath.Join(dir, stateDir)
	protected := []string{state}
	if config := a.configDir(); config != "" {
		protected = append(protected, config)
	}
	return folder.New(folder.Options{File: filepath.Join(state, foldersFile), Export: filepath.Join(dir, exportDir), Protected: protected})
}

// An incomer reads files as soundstage import does.
type incomer struct{ formats *content.Formats }

// Incoming implements [studio.Importer].
func (i incomer) Incoming(name string, raw []byte) (studio.Incoming, error) {
	got, err := i.formats.Import(name, raw)
	return studio.Incoming{Format: got.Format, Pieces: got.Pieces, Warnings: got.Warnings}, err
}

// Fingerprint implements [studio.Importer].
func (incomer) Fingerprint(p store.Piece) string { return content.Fingerprint(p.Body) }

func (a *app) cmdFolder() *cobra.Command {
	c := &cobra.Command{
		Use:   "folder",
		Short: "Say which folders of this machine agents may read",
		Long: `Folder keeps the list of folders that agents may list, search and read, and import files
from. Nothing in them is ever written. Only you change the list; agents cannot.`,
		Example: "  soundstage folder share ~/cards\n  soundstage folder ls\n  soundstage folder unshare cards",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.cmdFolderShare(), a.cmdFolderUnshare(), a.cmdFolderLs())
	return c
}

func (a *app) cmdFolderShare() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "share FOLDER", Short: "Let agents read a folder", Args: cobra.ExactArgs(1),
		Long: `Share keeps the real path of the folder: where it is moved, or a link takes its place, it is
not shared any more. Files and folders whose names begin with a dot are left out.`,
		Example: "  soundstage folder share ~/cards\n  soundstage folder share ~/cards --name inbox",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c.Context(), func(ctx context.Context, h *house) error {
				g, err := h.folders.Share(ctx, name, a.path(args[0]))
				if err != nil {
					return err
				}
				return a.print(folderChanged(g), func(w io.Writer) {
					fmt.Fprintf(w, "shared %s as %s; agents can read what is in it\n", plain.Line(g.Path, 200), g.Name)
				})
			})
		},
	}
	c.Flags().StringVar(&name, "name", "", "what agents call it (default: the folder's own `name`)")
	return c
}

func (a *app) cmdFolderUnshare() *cobra.Command {
	return &cobra.Command{
		Use: "unshare NAME", Short: "Stop letting agents read a folder", Args: cobra.ExactArgs(1),
		Example: "  soundstage folder unshare cards",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c.Context(), func(ctx context.Context, h *house) error {
				g, err := h.folders.Unshare(ctx, args[0])
				if err != nil {
					return err
				}
				return a.print(folderChanged(g), func(w io.Writer) {
					fmt.Fprintf(w, "%s is not shared any more\n", g.Name)
				})
			})
		},
	}
}

func (a *app) cmdFolderLs() *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List the folders that agents may read", Args: cobra.NoArgs,
		Example: "  soundstage folder ls",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c.Context(), func(ctx context.Context, h *house) error {
				list, err := h.folders.Grants(ctx)
				if err != nil {
					return err
				}
				out := folderList{Folders: []folderChanged{}}
				for _, g := range list {
					out.Folders = append(out.Folders, folderChanged(g))
				}
				return a.print(out, func(w io.Writer) {
					t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
					for _, g := range out.Folders {
						fmt.Fprintf(t, "%s\t%s\n", g.Name, plain.Line(g.Path, 200))
					}
					_ = t.Flush() // to a writer that was checked when it was opened
					if len(list) == 0 {
						fmt.Fprintln(a.doors.Stderr, "no folder is shared; share one with: soundstage folder share FOLDER")
					}
				})
			})
		},
	}
}

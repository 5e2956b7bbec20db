package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/importer"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// importedDir is the area of cassettes that are named after the file that they came
// from.
const importedDir = "imported"

// The results of cassette import.
type (
	importNote struct {
		File  string `json:"file" jsonschema:"the recording as it was named"`
		Entry int    `json:"entry" jsonschema:"of the recording, 1 is the first; 0: all of it"`
		Text  string `json:"text" jsonschema:"what could not be carried over, and what became of the entry"`
	}
	importedCassette struct {
		Name     string       `json:"name" jsonschema:"area/name of the cassette, or its file"`
		From     []string     `json:"from" jsonschema:"the recordings, in order"`
		Formats  []string     `json:"formats" jsonschema:"what each of them was"`
		Episodes int          `json:"episodes" jsonschema:"calls that were carried over"`
		Notes    []importNote `json:"notes" jsonschema:"what was not"`
		Upstream string       `json:"upstream,omitempty" jsonschema:"an upstream script with the same answers, of a format that keeps no requests"`
	}
	cassetteImported struct {
		Cassettes []importedCassette `json:"cassettes" jsonschema:"those that were written"`
		Episodes  int                `json:"episodes" jsonschema:"in all of them"`
	}
)

func (a *app) cmdCassetteImport() *cobra.Command {
	var out, format string
	var formats []string
	for _, f := range importer.Formats() {
		formats = append(formats, string(f))
	}
	c := &cobra.Command{
		Use:   "import FILE…",
		Short: "Make cassettes of another tool's recordings",
		Long: `Import reads recordings of other tools and writes cassettes with the origin "imported":
go-vcr (v1 to v4), vcrpy and pytest-recording (YAML, JSON), Polly.JS, aimock, httprr, HAR.
Secrets are masked first, keys are computed as a replay will ask for them, content
encodings are undone. What a format has no place for is named, entry by entry.

Each FILE becomes ` + cassettesDir + `/` + importedDir + `/<its name>; with -o, all of them become one. A cassette
that is there is never overwritten: if one is, nothing is written at all.`,
		Example: "  soundstage cassette import fixtures/*.yaml\n  soundstage cassette import session.har -o research/browse\n  soundstage cassette import --format har export.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			return a.importCassettes(c.Context(), files, out, importer.Format(format))
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "one cassette of all, `area/name` or a file that ends in .yaml")
	c.Flags().StringVar(&format, "format", "", "the `format`, where it is not seen in the file: "+strings.Join(formats, ", "))
	return c
}

// An incoming cassette is made whole in memory before anything is written.
type incoming struct {
	importedCassette
	file     string
	episodes []cassette.Episode
	script   []byte // of an upstream
}

func (a *app) importCassettes(ctx context.Context, files []string, out string, format importer.Format) error {
	list, err := a.gather(ctx, files, out, format)
	if err != nil {
		return err
	}
	for i := range list {
		if err := a.vacant(list[i].file); err != nil {
			return err
		}
		if len(list[i].script) > 0 {
			list[i].Upstream = a.upstreamFile(list[i].Name)
			if err := a.vacant(list[i].Upstream); err != nil {
				return err
			}
		}
	}
	var done cassetteImported
	for _, in := range list {
		if err := in.write(ctx); err != nil {
			return err
		}
		if in.Upstream != "" {
			in.Upstream = a.shortPath(in.Upstream)
		}
		done.Cassettes = append(done.Cassettes, in.importedCassette)
		done.Episodes += in.Episodes
	}
	return a.print(done, func(w io.Writer) { writeImported(w, done) })
}

func writeImported(w io.Writer, done cassetteImported) {
	for _, c := range done.Cassettes {
		formats := slices.Compact(slices.Clone(c.Formats))
		fmt.Fprintf(w, "%s: %s from %s\n", c.Name, count(c.Episodes, "episode"), strings.Join(formats, ", "))
		for _, n := range c.Notes {
			where := n.File
			if n.Entry > 0 {
				where += fmt.Sprintf(", entry %d", n.Entry)
			}
			fmt.Fprintf(w, "  %s: %s\n", where, n.Text)
		}
		if c.Upstream != "" {
			fmt.Fprintf(w, "  upstream script: %s\n", c.Upstream)
		}
	}
	if len(done.Cassettes) > 1 {
		fmt.Fprintf(w, "%s, %s\n", count(len(done.Cassettes), "cassette"), count(done.Episodes, "episode"))
	}
}

// gather reads every file and makes what is to be written.
func (a *app) gather(ctx context.Context, files []string, out string, format importer.Format) ([]*incoming, error) {
	var list []*incoming
	byFile := map[string]string{} // of a cassette: the recording that it is made of
	mask := a.redactor(a.doors.Dir)
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name := out
		if name == "" {
			name = importedName(file)
		}
		path, err := a.cassettePath(name)
		if err != nil {
			return nil, err
		}
		if out == "" || len(list) == 0 {
			if other, taken := byFile[path]; taken {
				return nil, fault.New(fault.Conflict, "cassette.import", "%q and %q would both become %q", other, file, name).
					WithHint("import them one by one, with -o")
			}
			byFile[path] = file
			list = append(list, &incoming{importedCassette: importedCassette{Name: name}, file: path})
		}
		raw, err := a.readFile(ctx, file, importer.MaxFile)
		if err != nil {
			return nil, err
		}
		in := list[len(list)-1]
		if err := unlessDone(ctx, file, func() error {
			rec, err := importer.Read(file, raw, format)
			if err != nil {
				return err
			}
			return in.take(file, rec, mask)
		}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// unlessDone does what takes long with a large file, and does not wait for its end when
// ctx ends: the command does then.
func unlessDone(ctx context.Context, file string, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fault.Wrap(ctx.Err(), fault.Cancelled, "cassette.import", "%q; nothing was written", file)
	}
}

// take adds what a file holds to a cassette.
func (in *incoming) take(file string, rec *importer.Recording, mask *redact.Redactor) error {
	for i, e := range rec.Episodes {
		e, err := seam.Adopt(e, seam.DefaultRules(), mask)
		if err != nil {
			return fault.Wrap(err, fault.CodeOf(err), "cassette.import", "%q, entry %d", file, rec.Entries[i]).
				WithHint("%s", fault.HintOf(err))
		}
		in.episodes = append(in.episodes, e)
	}
	in.From = append(in.From, file)
	in.Formats = append(in.Formats, string(rec.Format))
	in.Episodes = len(in.episodes)
	for _, n := range rec.Notes {
		in.Notes = append(in.Notes, importNote{file, n.Entry, n.Text})
	}
	switch {
	case len(rec.Script) == 0:
	case len(in.script) > 0:
		in.Notes = append(in.Notes, importNote{file, 0, "no upstream script: one is made of a single recording only"})
	default:
		in.script = mask.Mask(rec.Script)
	}
	return nil
}

// importedName is what a cassette is called by the file that it is made of: with the
// file's folders, where it lies below the current one.
func importedName(file string) string {
	if !filepath.IsLocal(file) {
		file = filepath.Base(file)
	}
	file = strings.TrimSuffix(filepath.ToSlash(filepath.Clean(file)), ".gz")
	return importedDir + "/" + strings.TrimSuffix(file, filepath.Ext(file))
}

// cassettePath is cassetteFile for a name that a cassette is to be made at.
func (a *app) cassettePath(name string) (string, error) {
	area, rest, ok := strings.Cut(strings.TrimSuffix(name, ".yaml"), "/")
	if !strings.HasSuffix(name, ".yaml") && (!ok || area == "" || rest == "" || !filepath.IsLocal(filepath.FromSlash(name))) {
		return "", fault.New(fault.Invalid, "cassette.import", "%q is no name of a cassette", name).
			WithHint("name it area/name, or name a file that ends in .yaml")
	}
	return a.cassetteFile(name), nil
}

// upstreamFile is the upstream script of a cassette: where a scenario of its name would
// have it, or beside a cassette that is named by its file.
func (a *app) upstreamFile(name string) string {
	if file, ok := strings.CutSuffix(name, ".yaml"); ok {
		return a.path(file + ".upstream.yaml")
	}
	return a.path(filepath.Join(scenariosDir, filepath.FromSlash(name)+".upstream.yaml"))
}

// vacant is an error where something is at path already.
func (a *app) vacant(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fault.New(cassette.CodeExists, "cassette.import", "%q is there already; nothing was written", a.shortPath(path)).
			WithHint("name another one with -o, or remove it first")
	}
	return nil
}

// shortPath is a path as a person in the current folder would write it.
func (a *app) shortPath(path string) string {
	if rel, err := filepath.Rel(a.doors.Dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// write makes the cassette, or leaves nothing behind.
func (in *incoming) write(ctx context.Context) error {
	w, err := cassette.CreateWith(in.file, cassette.Header{Origin: cassette.Imported, Rules: seam.DefaultRules()}, cassette.CreateOptions{Again: true})
	if err != nil {
		return err
	}
	for i, e := range in.episodes {
		err := ctx.Err()
		if err == nil {
			err = w.Append(e)
		} else {
			err = fault.Wrap(err, fault.Cancelled, "cassette.import", "nothing of %q was written", in.Name)
		}
		if err != nil {
			err = fault.Wrap(err, fault.CodeOf(err), "cassette.import", "%q, episode %d", in.Name, i+1)
			return errors.Join(err, w.Abandon(), os.Remove(in.file+".part"))
		}
	}
	if err := w.Commit(); err != nil {
		return err
	}
	if in.Upstream == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(in.Upstream), 0o755); err != nil {
		return notWritten(err, "cassette.import", in.Upstream)
	}
	if err := writeNew(in.Upstream, in.script); err != nil {
		return notWritten(err, "cassette.import", in.Upstream)
	}
	return nil
}

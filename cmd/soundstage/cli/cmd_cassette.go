package cli

import (
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/plain"
)

// cassettesDir is where cassettes lie, below the folder that the program was
// started in.
const cassettesDir = "cassettes"

// The results of the cassette commands.
type (
	cassetteRow struct {
		Name     string          `json:"name" jsonschema:"area/name"`
		Origin   cassette.Origin `json:"origin" jsonschema:"live, imported or scripted: the weakest of its episodes"`
		Episodes int             `json:"episodes" jsonschema:"recorded calls"`
		Bytes    int64           `json:"bytes" jsonschema:"size of the file"`
		Rules    []string        `json:"rules" jsonschema:"rule presets in force"`
	}
	cassetteList struct {
		Cassettes []cassetteRow `json:"cassettes" jsonschema:"in order of name"`
	}
	episodeRow struct {
		Line     int             `json:"line" jsonschema:"1 is the first episode"`
		Key      string          `json:"key" jsonschema:"what a request must hash to"`
		Lane     string          `json:"lane,omitempty" jsonschema:"which agent spoke"`
		Origin   cassette.Origin `json:"origin" jsonschema:"where the answer came from"`
		At       string          `json:"at,omitempty" jsonschema:"date of recording"`
		Method   string          `json:"method" jsonschema:"HTTP method"`
		URL      string          `json:"url" jsonschema:"what was asked, redacted"`
		Model    string          `json:"model,omitempty" jsonschema:"the model that was asked for"`
		Status   int             `json:"status" jsonschema:"HTTP status"`
		Request  string          `json:"request" jsonschema:"the request's body, clipped"`
		Response string          `json:"response" jsonschema:"the response's body, clipped"`
		Chunks   int             `json:"chunks" jsonschema:"reads in which it came"`
		End      string          `json:"end,omitempty" jsonschema:"cut, cancelled or error where it did not end well"`
	}
	cassetteShow struct {
		cassetteRow
		List []episodeRow `json:"list" jsonschema:"the episodes, in recorded order"`
	}
	cassetteVerified struct {
		Cassettes int `json:"cassettes" jsonschema:"files that are whole"`
		Episodes  int `json:"episodes" jsonschema:"lines that were decoded and checked"`
	}
)

func (a *app) cmdCassette() *cobra.Command {
	c := &cobra.Command{
		Use:     "cassette",
		Short:   "Read, compare, check and mend recordings",
		Example: "  soundstage cassette ls\n  soundstage cassette show content/rename\n  soundstage cassette lint",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.cmdCassetteLs(), a.cmdCassetteShow(), a.cmdCassetteVerify(), a.cmdCassetteImport(),
		a.cmdCassetteMigrate(), a.cmdCassetteRekey(), a.cmdCassetteRedact(), a.cmdCassetteDedupe())
	return c
}

// cassettes lists the names below the folder; a missing folder is empty.
func (a *app) cassettes() ([]string, error) {
	root := a.path(cassettesDir)
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		names = append(names, strings.TrimSuffix(filepath.ToSlash(rel), ".yaml"))
		return err
	})
	if os.IsNotExist(err) {
		return nil, nil
	}
	return names, err
}

// cassetteFile is the file of area/name, or of a path that ends in .yaml.
func (a *app) cassetteFile(name string) string {
	if strings.HasSuffix(name, ".yaml") {
		return a.path(name)
	}
	return a.path(filepath.Join(cassettesDir, filepath.FromSlash(name)+".yaml"))
}

// named is the cassettes named, or all where none is.
func (a *app) named(names []string) ([]string, error) {
	if len(names) > 0 {
		return names, nil
	}
	all, err := a.cassettes()
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "cassette", "walk %s", cassettesDir)
	}
	return all, nil
}

// mustHave is the error of a name that there is no file of.
func (a *app) mustHave(name string) error {
	file := a.cassetteFile(name)
	if _, err := os.Stat(file); err == nil || !os.IsNotExist(err) {
		return nil
	}
	return fault.New(cassette.CodeMissing, "cassette.open", "there is no cassette %q (file %q)", name, file).
		WithHint("list them: soundstage cassette ls; or name a file that ends in .yaml")
}

// openCassette opens a cassette of any format that can be read.
func (a *app) openCassette(name string) (*cassette.Cassette, cassetteRow, error) {
	if err := a.mustHave(name); err != nil {
		return nil, cassetteRow{}, err
	}
	file := a.cassetteFile(name)
	c, err := cassette.OpenAny(file)
	if err != nil {
		return nil, cassetteRow{}, err
	}
	row := cassetteRow{Name: name, Origin: c.Header().Origin, Episodes: c.Len(), Rules: append([]string{}, c.Header().Rules...)}
	if info, err := os.Stat(file); err == nil {
		row.Bytes = info.Size()
	}
	return c, row, nil
}

func (a *app) cmdCassetteLs() *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List the cassettes below " + cassettesDir, Args: cobra.NoArgs,
		Example: "  soundstage cassette ls --json",
		RunE: func(*cobra.Command, []string) error {
			names, err := a.cassettes()
			if err != nil {
				return fault.Wrap(err, fault.Internal, "cassette.ls", "walk %s", cassettesDir)
			}
			out := cassetteList{Cassettes: []cassetteRow{}}
			for _, name := range names {
				c, row, err := a.openCassette(name)
				if err != nil {
					return err
				}
				_ = c.Close() // only read
				out.Cassettes = append(out.Cassettes, row)
			}
			return a.print(out, func(w io.Writer) {
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				for _, r := range out.Cassettes {
					fmt.Fprintf(t, "%s\t%s\t%s\t%d bytes\n", r.Name, r.Origin, count(r.Episodes, "episode"), r.Bytes)
				}
				_ = t.Flush() // to a writer that was checked when it was opened
				if len(out.Cassettes) == 0 {
					fmt.Fprintf(w, "no cassettes below %s\n", cassettesDir)
				}
			})
		},
	}
}

func (a *app) cmdCassetteShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Print a cassette's episodes", Args: cobra.ExactArgs(1),
		Example: "  soundstage cassette show content/rename\n  soundstage cassette show ./elsewhere.yaml --json",
		RunE: func(_ *cobra.Command, args []string) error {
			c, row, err := a.openCassette(args[0])
			if err != nil {
				return err
			}
			defer c.Close() //nolint:errcheck // only read
			out := cassetteShow{cassetteRow: row, List: []episodeRow{}}
			for i := range c.Len() {
				e, err := c.Episode(i)
				if err != nil {
					return err
				}
				out.List = append(out.List, showEpisode(i+1, e))
			}
			return a.print(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %s, %s, rules %s\n", row.Name, row.Origin, count(row.Episodes, "episode"), strings.Join(row.Rules, " "))
				for _, r := range out.List {
					came := fmt.Sprintf("%d, %s", r.Status, count(r.Chunks, "chunk"))
					if r.End != "" {
						came += ", " + r.End
					}
					fmt.Fprintf(w, "\n%d  %s %s  → %s\n", r.Line, r.Method, r.URL, came)
					fmt.Fprintf(w, "   key %.12s  model %s  origin %s  %s\n", r.Key, r.Model, r.Origin, r.At)
					fmt.Fprintf(w, "   > %s\n   < %s\n", oneLine(r.Request), oneLine(r.Response))
				}
			})
		},
	}
}

// maxShown is how many runes of a body are shown.
const maxShown = 2000

func showEpisode(line int, e cassette.Episode) episodeRow {
	u := e.Request.URL
	if p, err := url.Parse(u); err == nil {
		u = p.Redacted()
	}
	return episodeRow{
		Line: line, Key: e.Key, Lane: e.Lane, Origin: e.Origin, At: e.At, Method: e.Request.Method, URL: u, Model: e.Model,
		Status: e.Response.Status, Request: body(e.Request.Body), Response: body(e.Response.Body),
		Chunks: max(1, len(e.Response.Chunks)), End: e.Response.End,
	}
}

func body(b []byte) string {
	if !utf8.Valid(b) {
		return fmt.Sprintf("(%d bytes, not text)", len(b))
	}
	return plain.Clip(string(b), maxShown)
}

func (a *app) cmdCassetteVerify() *cobra.Command {
	return &cobra.Command{
		Use: "verify [NAME…]", Short: "Read every line and check its sum (default: all cassettes)",
		Example: "  soundstage cassette verify\n  soundstage cassette verify content/rename",
		RunE: func(_ *cobra.Command, names []string) error {
			if len(names) == 0 {
				var err error
				if names, err = a.cassettes(); err != nil {
					return fault.Wrap(err, fault.Internal, "cassette.verify", "walk %s", cassettesDir)
				}
			}
			var out cassetteVerified
			for _, name := range names {
				c, row, err := a.openCassette(name)
				if err != nil {
					return err
				}
				_ = c.Close() // only read
				if err := cassette.Verify(a.cassetteFile(name)); err != nil {
					return err
				}
				out.Cassettes++
				out.Episodes += row.Episodes
			}
			return a.print(out, func(w io.Writer) {
				if out.Cassettes == 0 {
					fmt.Fprintf(w, "no cassettes below %s\n", cassettesDir)
					return
				}
				fmt.Fprintf(w, "%s, %s: whole\n", count(out.Cassettes, "cassette"), count(out.Episodes, "episode"))
			})
		},
	}
}

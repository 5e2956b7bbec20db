package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
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
		Format   int             `json:"format" jsonschema:"of the file; an older one is replayed after soundstage cassette migrate"`
		Models   []string        `json:"models,omitempty" jsonschema:"that were asked, by name"`
		Lanes    []string        `json:"lanes,omitempty" jsonschema:"agents that spoke beside the main one"`
		From     string          `json:"from,omitempty" jsonschema:"date of the oldest episode"`
		To       string          `json:"to,omitempty" jsonschema:"date of the newest episode"`
		Tokens   tokens          `json:"tokens" jsonschema:"as the providers reported them"`
		Cost     string          `json:"cost,omitempty" jsonschema:"of all calls by the prices of then, where every model has one"`
	}
	cassetteList struct {
		Cassettes []cassetteRow `json:"cassettes" jsonschema:"in order of name"`
		Episodes  []episodeRow  `json:"episodes,omitempty" jsonschema:"of the cassette that was named"`
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
		a.cmdCassetteDiff(), a.cmdCassetteStats(), a.cmdCassetteTextconv(),
		a.cmdCassetteMerge(), a.cmdCassetteReview(),
		a.cmdCassetteMigrate(), a.cmdCassetteRekey(), a.cmdCassetteRedact(), a.cmdCassetteDedupe(),
		a.cmdCassetteLint(), a.cmdCassettePrune())
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
	row := cassetteRow{Name: name, Origin: c.Header().Origin, Episodes: c.Len(), Format: c.Header().Format, Rules: append([]string{}, c.Header().Rules...)}
	if info, err := os.Stat(file); err == nil {
		row.Bytes = info.Size()
	}
	return c, row, nil
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

package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/stores"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// defaultModel is what init writes when nobody chose.
const defaultModel = "anthropic/claude-sonnet-4-5"

// defaultCap is what one session may cost then, in dollars.
const defaultCap = "1.00"

// initResult is what init prints with --json.
type initResult struct {
	Studio string `json:"studio" jsonschema:"the folder, as it was given"`
	Config string `json:"config" jsonschema:"the file that was written in it"`
	Model  string `json:"model" jsonschema:"the model ref in it"`
	Store  string `json:"store,omitempty" jsonschema:"where the pieces are, if not in the folder"`
}

func (a *app) cmdInit() *cobra.Command {
	var model, limit, store string
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a folder a studio",
		Long: "Init writes " + configName + " into DIR (default: here). It never replaces one.\n\n" +
			"With --store the pieces are in a schema of a PostgreSQL database, so that several hosts\n" +
			"work on one studio; settings, traces and exports stay in DIR. ADDRESS is\n" +
			"postgres://USER@HOST/DATABASE?schema=NAME, without a password, or $NAME of a variable that\n" +
			"holds an address. The password comes from " + stores.EnvPassword + ", PGPASSWORD or .pgpass.",
		Example: `  soundstage init studio
  soundstage init --model openai/gpt-5.2 --cap 2.50
  soundstage init --store 'postgres://ada@db.example/studios?schema=mine' studio`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return a.initStudio(dir, model, limit, store)
		},
	}
	c.Flags().StringVar(&model, "model", defaultModel, "the model `ref` to work with")
	c.Flags().StringVar(&limit, "cap", defaultCap, "most `dollars` that one session may cost")
	c.Flags().StringVar(&store, "store", "", "the `address` of a store on a server (default: a file in DIR)")
	return c
}

func (a *app) initStudio(dir, model, limit, store string) error {
	const op = "init"
	c := config{Model: model, Caps: caps{Session: limit}, Store: store}
	if err := c.check("the command line"); err != nil {
		return err
	}
	if model != defaultModel { // that one is known, and the catalogue takes long to read
		if _, err := a.catalog().Find(model); err != nil {
			return err
		}
	}
	path := filepath.Join(a.path(dir), configName)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fault.Wrap(err, fault.Invalid, op, "make %q", dir)
	}
	text := fmt.Appendf(nil, configText, model, limit)
	if store != "" {
		text = fmt.Appendf(text, storeText, store)
	}
	err := writeNew(path, text)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, op, "%q is a studio already", dir).
			WithHint("edit %s in it, or name another folder", configName)
	}
	if err != nil {
		return notWritten(err, op, filepath.Join(dir, configName))
	}
	out := initResult{Studio: dir, Config: configName, Model: model, Store: store}
	return a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "studio in %s, model %s\n", dir, model)
		if store != "" {
			fmt.Fprintf(w, "pieces at %s\n", store)
		}
	})
}

// path joins a relative path to the folder that the program was started in.
func (a *app) path(p string) string {
	if filepath.IsAbs(p) || stores.Remote(p) {
		return p
	}
	return filepath.Join(a.doors.Dir, p)
}

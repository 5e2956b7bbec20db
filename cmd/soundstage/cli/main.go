// Package cli is the command line: it reads the environment, builds everything
// (wiring.go) and runs one command (one cmd_ file each).
//
// It is the top of the house: it may import every layer, and nothing imports it but
// main and the scenario engine. It holds no logic that another skin would want:
// that belongs to runtime.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/adapters/model"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/plain"
)

// Doors are all the ways out that a run of the program has. Nothing in this
// package opens another.
type Doors = script.Doors

// Main runs one command and returns the process's exit status.
func Main(d Doors) int { return NewProgram().Main(d) }

// A Program is what many runs of the command line in one process share: the
// catalogue of models, which never changes and takes long to read.
type Program struct{ models *model.Catalog }

// NewProgram returns a Program that has read nothing yet.
func NewProgram() *Program { return &Program{model.NewCatalog()} }

// Main runs one command and returns the process's exit status.
func (p *Program) Main(d Doors) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	select {
	case <-d.Signals: // it came before we did
		cancel()
	default:
		go func() {
			select {
			case <-d.Signals:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	a := &app{doors: d, models: p.models, help: &witness{w: d.Stdout}}
	root := a.root()
	a.json = wantsJSON(d.Args) // also for what is wrong before flags are parsed
	root.SetArgs(d.Args)
	err := root.ExecuteContext(ctx)
	if a.help.err != nil {
		err = lost(a.help.err)
	}
	if err != nil {
		a.complain(err)
	}
	return status(err)
}

// An app is one run of the program.
type app struct {
	doors  Doors
	json   bool   // print JSON
	studio string // --studio
	told   bool   // a result is on standard output
	models *model.Catalog
	help   *witness   // standard output as the command library gets it
	places places     // of stories, as the command line names them
	seam   *seam.Seam // of the session that is served, where it is replayed or recorded
}

// root builds the command tree; each command is in its own file.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "soundstage",
		Short: "Run, record, replay and serve tool-using agents",
		Long: `Soundstage runs agents that work on real pieces through one tool registry, and
replays whole journeys from cassettes: no model cost, no network.

` + exitHelp,
		Example: `  soundstage demo                       see a whole journey, replayed
  soundstage init studio && cd studio
  soundstage import ada.png
  soundstage run "rename Ada to Countess Ada"
  soundstage mcp                        serve the same tools to an agent`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON (schemas are in docs/reference/cli)")
	root.PersistentFlags().StringVar(&a.studio, "studio", "", "the studio's `folder`, or the postgres:// address of its store (default: here or above)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fault.New(fault.Invalid, "cli", "%v", err).WithHint("see: %s --help", c.CommandPath())
	})
	for _, add := range []func() *cobra.Command{
		a.cmdInit, a.cmdDemo, a.cmdRun, a.cmdRecord, a.cmdTest, a.cmdDrift, a.cmdMCP, a.cmdAsk, a.cmdServer, a.cmdProxy, a.cmdUpstream, a.cmdImport, a.cmdExport, a.cmdTransfer, a.cmdFormats, a.cmdLint,
		a.cmdPiece, a.cmdCollection, a.cmdFolder, a.cmdStory, a.cmdTool, a.cmdCassette, a.cmdTrace, a.cmdLedger, a.cmdDoctor, a.cmdVersion,
	} {
		root.AddCommand(add())
	}
	// Before its own commands are made: they keep the writer that there is then.
	root.SetIn(a.doors.Stdin)
	root.SetOut(a.help)
	root.SetErr(a.doors.Stderr)
	strictBuiltins(root)
	strictArgs(root)
	return root
}

// wantsJSON looks for the flag before a "--".
func wantsJSON(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == "--json" {
			return true
		}
	}
	return false
}

// strictArgs turns cobra's own complaints about arguments into coded errors.
func strictArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if check(c, args) != nil {
				return usage(c, args)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		strictArgs(sub)
	}
}

// usage is the error of arguments that a command does not take.
func usage(c *cobra.Command, args []string) error {
	if c.HasSubCommands() {
		return noCommand(c, args)
	}
	_, takes, _ := strings.Cut(c.Use, " ")
	if takes == "" {
		takes = "no argument"
	}
	hint := "usage: " + c.UseLine()
	if len(args) > 1 {
		hint += "; quote what belongs together"
	}
	return fault.New(fault.Invalid, "cli", "%s takes %s, and got %s", c.CommandPath(), takes, count(len(args), "argument")).WithHint("%s", hint)
}

// noCommand is the error of a command that there is not, with the near ones.
func noCommand(c *cobra.Command, args []string) error {
	c.SuggestionsMinimumDistance = 2
	hint := "see: " + c.CommandPath() + " --help"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s? %s", strings.Join(near, ", "), hint)
	}
	return fault.New(fault.Invalid, "cli", "%s has no command %q", c.CommandPath(), strings.Join(args, " ")).WithHint("%s", hint)
}

// strictBuiltins gives cobra's own commands the manners of ours: a name that there
// is not is an error.
func strictBuiltins(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		case "help":
			c.Run, c.RunE = nil, func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return noCommand(root, args)
				}
				found.InitDefaultHelpFlag()
				return found.Help()
			}
		}
	}
}

// A complaint is an error as JSON. MCP answers have the same shape.
type complaint struct {
	OK      bool   `json:"ok" jsonschema:"always false"`
	Code    string `json:"code" jsonschema:"stable UPPER_SNAKE code"`
	Message string `json:"message" jsonschema:"what was wrong"`
	Hint    string `json:"hint,omitempty" jsonschema:"the next step"`
}

// complain prints err: one line, and one for the hint. With --json it is the one
// object on standard output, unless a result that tells of it is there already.
func (a *app) complain(err error) {
	code := fault.CodeOf(err)
	if errors.Is(err, context.Canceled) { // wherever it was met
		code = fault.Cancelled
		err = fault.New(code, "soundstage", "interrupted; what was saved before is kept")
	}
	if a.json && !a.told {
		b, _ := json.Marshal(complaint{Code: string(code), Message: err.Error(), Hint: fault.HintOf(err)}) // a struct of strings
		fmt.Fprintf(a.doors.Stdout, "%s\n", b)
		return
	}
	fmt.Fprintf(a.doors.Stderr, "soundstage: %s: %s\n", code, plain.Text(err.Error()))
	if h := fault.HintOf(err); h != "" {
		fmt.Fprintf(a.doors.Stderr, "  → %s\n", plain.Text(h))
	}
}

// print writes v as one line of JSON with --json, else what text writes, made safe for
// a terminal. A list that is empty is [], never null. What could not be printed whole is
// an error: whoever reads it may act on the rest.
func (a *app) print(v any, text func(w io.Writer)) error {
	if !a.json {
		var b strings.Builder
		text(&b)
		return a.put(plain.Text(b.String()))
	}
	b, err := json.Marshal(v, jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false), json.FormatNilMapAsNull(false))
	if err != nil {
		return fault.Wrap(err, fault.Internal, "cli.print", "encode the answer")
	}
	a.told = true
	return a.put(string(b) + "\n")
}

// put writes to standard output.
func (a *app) put(s string) error {
	if _, err := io.WriteString(a.doors.Stdout, s); err != nil {
		return lost(err)
	}
	return nil
}

// lost is the error of output that nobody got.
func lost(err error) error {
	return fault.Wrap(err, fault.Invalid, "cli.print", "standard output takes no more").
		WithHint("what was done before is kept; give the output another place")
}

// A witness remembers the first error of a writer, for those who do not look.
type witness struct {
	w   io.Writer
	err error
}

func (w *witness) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

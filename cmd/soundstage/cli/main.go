// Package cli is the command line: it reads the environment, builds everything
// (wiring.go) and runs one command (one cmd_ file each).
//
// It is the top of the house: it may import every layer, and nothing imports it but
// main and the scenario engine. It holds no logic that another skin would want:
// that belongs to runtime.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/adapters/model"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/script"
)

// Doors are all the ways out that a run of the program has. Nothing in this
// package opens another.
type Doors = script.Doors

// Main runs one command and returns the process's exit status.
func Main(d Doors) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-d.Signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	a := &app{doors: d}
	root := a.root()
	root.SetArgs(d.Args)
	root.SetIn(d.Stdin)
	root.SetOut(d.Stdout)
	root.SetErr(d.Stderr)
	err := root.ExecuteContext(ctx)
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
	models *model.Catalog
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
	root.PersistentFlags().StringVar(&a.studio, "studio", "", "the studio's `folder` (default: here or above)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fault.New(fault.Invalid, "cli", "%v", err).WithHint("see: %s --help", c.CommandPath())
	})
	for _, add := range []func() *cobra.Command{
		a.cmdInit, a.cmdDemo, a.cmdRun, a.cmdRecord, a.cmdTest, a.cmdMCP, a.cmdImport, a.cmdExport,
		a.cmdPiece, a.cmdTool, a.cmdCassette, a.cmdTrace, a.cmdDoctor, a.cmdVersion,
	} {
		root.AddCommand(add())
	}
	strictArgs(root)
	return root
}

// strictArgs turns cobra's own complaints about arguments into coded errors.
func strictArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usage(c, err)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		strictArgs(sub)
	}
}

func usage(c *cobra.Command, err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return fault.New(fault.Invalid, "cli", "%s", line).WithHint("usage: %s", c.UseLine())
}

// A complaint is an error as JSON. MCP answers have the same shape.
type complaint struct {
	OK      bool   `json:"ok" jsonschema:"always false"`
	Code    string `json:"code" jsonschema:"stable UPPER_SNAKE code"`
	Message string `json:"message" jsonschema:"what was wrong"`
	Hint    string `json:"hint,omitempty" jsonschema:"the next step"`
}

// complain prints err: one line, and one for the hint.
func (a *app) complain(err error) {
	code := fault.CodeOf(err)
	if code == fault.Internal && strings.HasPrefix(err.Error(), "unknown command") {
		code = fault.Invalid
	}
	if errors.Is(err, context.Canceled) {
		code = fault.Cancelled
	}
	if a.json {
		b, _ := json.Marshal(complaint{Code: string(code), Message: err.Error(), Hint: fault.HintOf(err)}) // a struct of strings
		fmt.Fprintf(a.doors.Stdout, "%s\n", b)
		return
	}
	fmt.Fprintf(a.doors.Stderr, "soundstage: %s: %v\n", code, err)
	if h := fault.HintOf(err); h != "" {
		fmt.Fprintf(a.doors.Stderr, "  → %s\n", h)
	}
}

// print writes v as one line of JSON with --json, else calls text.
func (a *app) print(v any, text func(w io.Writer)) error {
	if !a.json {
		text(a.doors.Stdout)
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "cli.print", "encode the answer")
	}
	_, err = fmt.Fprintf(a.doors.Stdout, "%s\n", b)
	return err
}

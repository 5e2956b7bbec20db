package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/cassettes"
	"github.com/soundstage-dev/soundstage/cmd/soundstage/scenario"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/scenarios"
)

// demoName is the scenario that the demo replays.
const demoName = "content/rename"

func (a *app) cmdDemo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Replay a whole journey: model turns, tool calls, draft, gate, receipt",
		Long: `Demo replays the scenario ` + demoName + `, which is built into the program: a card is imported,
an agent renames it through a draft, the gate asks, the store is written once and verified,
and the card is exported. The model's answers come from a cassette that was recorded from
a scripted provider. It needs no key, no network and no studio, and leaves nothing behind.`,
		Example: "  soundstage demo",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.demo() },
	}
}

func (a *app) demo() error {
	const op = "demo"
	dir, err := os.MkdirTemp(a.doors.Env["TMPDIR"], "soundstage-demo-")
	if err != nil {
		return fault.New(fault.Invalid, op, "cannot make a folder for temporary files: %v", reasonOf(err)).
			WithHint("set TMPDIR to a folder that is there and may be written")
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	out := a.doors.Stdout
	if a.json {
		out = io.Discard
	}
	o := scenario.Options(func(d Doors) int { return narrate(out, a.again(), d) })
	o.Root, o.Cassettes = filepath.Join(dir, scenariosDir), filepath.Join(dir, cassettesDir)
	for root, from := range map[string]fs.FS{o.Root: scenarios.Demo, o.Cassettes: cassettes.Demo} {
		if err := os.CopyFS(root, from); err != nil {
			return fault.Wrap(err, fault.Internal, op, "lay out the scenario")
		}
	}
	fmt.Fprintf(out, "replaying %s: the model's part is a recording (scripted), the rest is real\n", demoName)
	var log strings.Builder
	res, err := script.Execute(o, demoName, &log)
	if err != nil || res.Failed > 0 {
		return fault.New(codeScenario, op, "the scenario failed:\n%s", log.String()).
			WithHint("run it in a clone: go test ./scenarios/... -run 'Scenarios/^content$/^rename$'")
	}
	return a.print(scenarioResult{Passed: res.Passed}, func(w io.Writer) { fmt.Fprintln(w, "\ndemo: ok") })
}

// narrate runs the program and shows what a person at a terminal would see, and the
// file that an export wrote.
func narrate(out io.Writer, p *Program, d Doors) int {
	var line strings.Builder
	for _, arg := range d.Args {
		if strings.ContainsAny(arg, " '\"{") {
			arg = "'" + arg + "'"
		}
		line.WriteString(" " + arg)
	}
	fmt.Fprintf(out, "\n$ soundstage%s\n", line.String())
	d.Stdout, d.Stderr = io.MultiWriter(d.Stdout, out), io.MultiWriter(d.Stderr, out)
	code := p.Main(d)
	if i := slices.Index(d.Args, "--out"); i > 0 && i+1 < len(d.Args) && code == exitOK {
		card, err := os.ReadFile(filepath.Join(d.Dir, d.Args[i+1]))
		if err != nil {
			fmt.Fprintln(d.Stderr, err)
			return exitInternal
		}
		fmt.Fprintf(out, "%s\n", card)
	}
	return code
}

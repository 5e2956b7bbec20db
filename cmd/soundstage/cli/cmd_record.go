package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/soundstage-dev/soundstage/adapters/model"
	"github.com/soundstage-dev/soundstage/cmd/soundstage/scenario"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/plain"
)

// scenariosDir is where scenarios lie, below the folder that the program was
// started in.
const scenariosDir = "scenarios"

// codeScenario says that a scenario failed.
const codeScenario fault.Code = "SCENARIO_FAILED"

// scenarioResult is what test and demo print with --json.
type scenarioResult struct {
	Passed  int `json:"passed" jsonschema:"scenarios that held"`
	Failed  int `json:"failed" jsonschema:"scenarios that did not"`
	Skipped int `json:"skipped" jsonschema:"scenarios that could not run here"`
}

// recordFlags are the flags of record.
type recordFlags struct {
	episode                          string
	fill, dryRun, keepErrors, resume bool
}

func (f *recordFlags) register(set *pflag.FlagSet) {
	set.BoolVar(&f.fill, "fill", false, "keep what the cassette holds, and record what it does not")
	set.StringVar(&f.episode, "episode", "", "record this one anew: its `number` or key, as cassette show prints it")
	set.BoolVar(&f.dryRun, "dry-run", false, "send nothing; say how many calls would go out and what they would cost")
	set.BoolVar(&f.keepErrors, "keep-errors", false, "record errors that pass too (429, 5xx, no connection), in place of asking again")
	set.BoolVar(&f.resume, "continue", false, "go on with a recording of a real provider that was broken off")
}

func (a *app) cmdRecord() *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:   "record NAME…",
		Short: "Record the cassette of a scenario",
		Long: `Record runs a scenario with the seam recording. Where scenarios/<area>/<name>.upstream.yaml
stands beside it, a scripted provider answers and the cassette says so; else the real
provider does, which needs its key and costs money. The old cassette is replaced only when
the scenario passed.

With --fill the cassette answers what it holds, and the rest is recorded into it. With
--episode it answers up to that one, which is recorded anew; behind it what still fits is
answered and what does not is recorded, and what nobody asks for any more is left out. In
both, all lines that stay are the same bytes as before.`,
		Example: `  soundstage record content/rename
  soundstage record content/rename --fill
  soundstage record content/rename --episode 3
  soundstage record content/rename --episode 3 --dry-run`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.record(args, f) },
	}
	f.register(c.Flags())
	return c
}

func (f recordFlags) check(names []string) error {
	switch {
	case f.episode == "":
		return nil
	case f.fill:
		return fault.New(fault.Invalid, "record", "--episode and --fill are two ways to record").WithHint("leave one out")
	case len(names) > 1:
		return fault.New(fault.Invalid, "record", "--episode is of one cassette, and %d are named", len(names)).WithHint("name one")
	}
	return nil
}

func (a *app) record(names []string, f recordFlags) error {
	if err := f.check(names); err != nil {
		return err
	}
	if f.episode != "" { // a typing error is told at once, and not as a failed scenario
		c, _, err := a.openCassette(names[0])
		if err != nil {
			return err
		}
		if _, err := c.Find(f.episode); err != nil {
			return err
		}
	}
	var recorded []script.Recorded
	var rows []recordingRow
	o := a.scenarios()
	o.Root, o.Cassettes, o.Record, o.Clock = a.path(scenariosDir), a.path(cassettesDir), true, a.doors.Clock
	o.Recording = script.Recording{
		Fill: f.fill, Episode: f.episode, DryRun: f.dryRun, KeepErrors: f.keepErrors, Continue: f.resume, World: a.world(),
		Done: func(r script.Recorded) {
			recorded = append(recorded, r)
			rows = append(rows, a.recording(r, f.dryRun)) // now: the file is a temporary one
		},
	}
	log := a.log()
	var hidden strings.Builder
	if f.dryRun {
		log = &hidden // that it does not get to its end is no failure
	}
	sum, err := a.execute(o, names, log)
	if err != nil {
		return err
	}
	out := recordResult{scenarioResult: sum, DryRun: f.dryRun, Recordings: append([]recordingRow{}, rows...)}
	if err := a.print(out, out.write); err != nil {
		return err
	}
	if !f.dryRun {
		return sum.err()
	}
	if len(recorded) == 0 && sum.Failed > 0 {
		fmt.Fprint(a.doors.Stderr, plain.Text(hidden.String()))
	}
	return dryRunErr(sum, recorded)
}

// dryRunErr is why a dry run says nothing: not that it ends where a call would go out.
func dryRunErr(sum scenarioResult, recorded []script.Recorded) error {
	for _, r := range recorded {
		if code := fault.CodeOf(r.Err); r.Err != nil && code != seam.CodeDryRun {
			return r.Err
		}
	}
	if len(recorded) == 0 {
		return sum.err()
	}
	return nil
}

// world is the real provider, for scenarios without a script.
func (a *app) world() *script.World {
	env := a.doors.Env
	return &script.World{
		Env: env, Clock: a.doors.Clock, CI: isSet(env[envCI]), AllowLive: env[envLive] == "1",
		Transport: func() (http.RoundTripper, error) {
			access, err := a.everyAccess()
			if err != nil {
				return nil, err
			}
			return model.Outside(network(env), a.catalog(), access, a.doors.Clock), nil
		},
	}
}

func (a *app) execute(o script.Options[*scenario.Bag], patterns []string, log io.Writer) (sum scenarioResult, err error) {
	for _, p := range patterns {
		res, err := script.Execute(o, p, log)
		sum.Passed += res.Passed
		sum.Failed += res.Failed
		sum.Skipped += res.Skipped
		if err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func (r scenarioResult) write(w io.Writer) {
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", r.Passed, r.Failed, r.Skipped)
}

func (r scenarioResult) err() error {
	if r.Failed == 0 {
		return nil
	}
	return fault.New(codeScenario, "test", "%d of %d scenarios failed", r.Failed, r.Failed+r.Passed).
		WithHint("read the log above; a miss says what changed in the request")
}

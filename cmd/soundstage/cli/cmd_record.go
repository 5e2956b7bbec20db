package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/scenario"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/script"
)

// scenariosDir is where scenarios lie, below the folder that the program was
// started in.
const scenariosDir = "scenarios"

// codeScenario says that a scenario failed.
const codeScenario fault.Code = "SCENARIO_FAILED"

// scenarioResult is what test and record print with --json.
type scenarioResult struct {
	Passed  int `json:"passed" jsonschema:"scenarios that held"`
	Failed  int `json:"failed" jsonschema:"scenarios that did not"`
	Skipped int `json:"skipped" jsonschema:"scenarios that could not run here"`
}

func (a *app) cmdRecord() *cobra.Command {
	return &cobra.Command{
		Use:   "record NAME…",
		Short: "Record the cassette of a scenario anew",
		Long: `Record runs a scenario with the seam recording. Where scenarios/<area>/<name>.upstream.yaml
stands beside it, a scripted provider answers and the cassette says so; else the real
provider does, which needs its key and costs money. The old cassette is replaced only when
the scenario passed.`,
		Example: "  soundstage record content/rename",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.scenarios(args, true, false)
		},
	}
}

func (a *app) scenarios(patterns []string, record, update bool) error {
	o := scenario.Options(a.again().Main)
	o.Root, o.Cassettes = a.path(scenariosDir), a.path(cassettesDir)
	o.Record, o.Update = record, update
	log := a.doors.Stdout
	if a.json {
		log = a.doors.Stderr // standard output is for the result
	}
	var sum scenarioResult
	for _, p := range patterns {
		res, err := script.Execute(o, p, log)
		sum.Passed += res.Passed
		sum.Failed += res.Failed
		sum.Skipped += res.Skipped
		if err != nil {
			return err
		}
	}
	if err := a.print(sum, func(w io.Writer) {
		fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", sum.Passed, sum.Failed, sum.Skipped)
	}); err != nil {
		return err
	}
	if sum.Failed > 0 {
		return fault.New(codeScenario, "test", "%d of %d scenarios failed", sum.Failed, sum.Failed+sum.Passed).
			WithHint("read the log above; a miss says what changed in the request")
	}
	return nil
}

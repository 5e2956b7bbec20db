package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/diff"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

const (
	codeDrift      fault.Code = "SCENARIO_DRIFT"      // the provider no longer says what is recorded
	codeUnanswered fault.Code = "SCENARIO_UNANSWERED" // the provider gave no answers to compare: a key, the network
)

// The result of drift.
type (
	driftResult struct {
		Cassettes []driftRow `json:"cassettes" jsonschema:"a row for each that a scenario opened"`
		Drifted   int        `json:"drifted" jsonschema:"cassettes whose calls are not as recorded"`
	}
	driftRow struct {
		Scenario string    `json:"scenario" jsonschema:"area/name"`
		Cassette string    `json:"cassette" jsonschema:"area/name"`
		Held     bool      `json:"held" jsonschema:"the scenario's own checks held; some are about replays and never hold live"`
		Same     int       `json:"same" jsonschema:"calls that mean the same"`
		Calls    []callRow `json:"calls" jsonschema:"calls that do not, in the order of today's"`
	}
	callRow struct {
		Recorded int           `json:"recorded" jsonschema:"the episode, 1 for the first; 0: it was not recorded"`
		Today    int           `json:"today" jsonschema:"the call, 1 for the first; 0: it was not made"`
		Changes  []diff.Change `json:"changes,omitempty" jsonschema:"what is another"`
	}
)

// driftFlags are the flags of drift.
type driftFlags struct {
	live     bool
	upstream string
}

func (a *app) cmdDrift() *cobra.Command {
	var f driftFlags
	c := &cobra.Command{
		Use:   "drift NAME…",
		Short: "Ask today's provider, and compare with the cassette by meaning",
		Long: `Drift runs a scenario with the real provider in the place of its cassette, and says which
calls are not as recorded: which message, which tool call, which argument. Ids, timings and
token counts are no difference. No cassette is changed. It needs the provider's key and
costs what the calls cost. Models word things anew each time: a drift is a question, and the
scenario's own checks tell whether it matters.

With --upstream a script answers as the provider, and nothing is paid.

Exit status 1 says that something drifted, and 8 that the provider gave no answers to compare.`,
		Example: "  soundstage drift content/rename --live\n  soundstage drift content/rename --upstream edited.upstream.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.drift(c.Context(), args, f) },
	}
	c.Flags().BoolVar(&f.live, "live", false, "ask the real provider, and pay for it")
	c.Flags().StringVar(&f.upstream, "upstream", "", "let a script, this `file`, answer as the provider")
	return c
}

// A take is one cassette that a scenario opened, and what was recorded in its place.
type take struct{ cassette, recorded, today string }

func (a *app) drift(ctx context.Context, patterns []string, f driftFlags) error {
	if f.live == (f.upstream != "") {
		return fault.New(fault.Invalid, "drift", "who is to answer is not said").
			WithHint("give --live, which needs the provider's key and costs money, or --upstream FILE")
	}
	names, err := a.chosen(ctx, patterns, suiteFlags{})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(a.doors.Env["TMPDIR"], "soundstage-drift-")
	if err != nil {
		return fault.Wrap(err, fault.Internal, "drift", "make a folder for today's answers")
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left is in the folder for such things
	var out driftResult
	for _, name := range names {
		rows, err := a.driftOf(name, dir, f)
		if err != nil {
			return err
		}
		out.Cassettes = append(out.Cassettes, rows...)
	}
	for _, r := range out.Cassettes {
		if len(r.Calls) > 0 {
			out.Drifted++
		}
	}
	if err := a.print(out, func(w io.Writer) { writeDrift(w, out) }); err != nil {
		return err
	}
	if out.Drifted > 0 {
		return fault.New(codeDrift, "drift", "%s of %d drifted", count(out.Drifted, "cassette"), len(out.Cassettes)).
			WithHint("if that is how it is to be, record again: soundstage record NAME")
	}
	return nil
}

// driftOf runs one scenario with somebody else in the place of its cassettes.
func (a *app) driftOf(name, dir string, f driftFlags) ([]driftRow, error) {
	var (
		takes   []take
		refused error
	)
	o := a.scenarios()
	o.Root, o.Cassettes = a.path(scenariosDir), a.path(cassettesDir)
	world := a.world()
	o.Recording.World = world // for its secrets
	o.Outside = func(opened string, s *seam.Options) error {
		t := take{opened, s.Cassette, filepath.Join(dir, filepath.FromSlash(name), fmt.Sprintf("%d.yaml", len(takes)))}
		if refused = a.instead(s, world, t, f); refused != nil {
			return refused
		}
		takes = append(takes, t)
		return nil
	}
	res, err := script.ExecuteNames(o, []string{name}, a.doors.Stderr, nil)
	if err = firstOf(refused, err); err != nil {
		return nil, err
	}
	if len(takes) == 0 {
		return nil, fault.New(fault.Invalid, "drift", "scenario %q asked no provider", name).
			WithHint("name one that has a cassette, and whose cassette can be opened: soundstage test %s", name)
	}
	var rows []driftRow
	for _, t := range takes {
		row := driftRow{Scenario: name, Cassette: t.cassette, Held: res.Failed == 0, Calls: []callRow{}}
		if err := row.compare(t); err != nil {
			return nil, err
		}
		if !row.Held && row.unanswered() {
			return nil, unanswered(name)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// instead makes a recording of what was to be a replay.
func (a *app) instead(s *seam.Options, w *script.World, t take, f driftFlags) (err error) {
	c, err := cassette.Open(t.recorded)
	if err != nil {
		return err
	}
	s.Rules = c.Header().Rules
	_ = c.Close() // only read
	if err := os.MkdirAll(filepath.Dir(t.today), 0o700); err != nil {
		return err
	}
	// No answer is something to compare, too: it is told from a recording that was given up.
	s.Mode, s.Cassette, s.KeepEmpty = seam.Record, t.today, true
	if f.upstream != "" {
		said, err := upstream.Load(a.path(f.upstream))
		if err != nil {
			return err
		}
		s.Origin, s.KeepErrors = cassette.Scripted, true // a script means its errors
		s.Transport = upstream.NewTransport(upstream.New(said))
		return nil
	}
	s.Origin, s.Clock, s.CI, s.AllowLive = cassette.Live, w.Clock, w.CI, w.AllowLive
	if err := s.Allowed(); err != nil {
		return err
	}
	s.Transport, err = w.Transport()
	return err
}

func (r *driftRow) compare(t take) error {
	older, err := cassette.Open(t.recorded)
	if err != nil {
		return err
	}
	defer older.Close() //nolint:errcheck // only read
	newer, err := cassette.Open(t.today)
	if fault.CodeOf(err) == cassette.CodeMissing { // a provider that refuses the key ends a recording
		return fault.New(codeUnanswered, "drift", "scenario %q got no answer of the provider that could be kept", r.Scenario).WithHint(logHint)
	}
	if err != nil {
		return fault.Wrap(err, codeUnanswered, "drift", "the answers to %q could not be kept", r.Scenario).
			WithHint(logHint)
	}
	defer newer.Close() //nolint:errcheck // only read
	report, err := diff.Cassettes(older, newer)
	if err != nil {
		return err
	}
	r.Same, r.Calls = report.Same, callRows(report)
	return nil
}

const logHint = "the scenario's log above says why; that is no drift"

// unanswered reports whether nothing came of it: no key, or no way to the provider.
func (r *driftRow) unanswered() bool {
	made := func(c callRow) bool { return c.Today > 0 }
	return r.Same == 0 && len(r.Calls) > 0 && !slices.ContainsFunc(r.Calls, made)
}

func unanswered(scenario string) error {
	return fault.New(codeUnanswered, "drift", "scenario %q got no answer of the provider", scenario).WithHint(logHint)
}

// callRows are the calls of a report that differ.
func callRows(report diff.Report) []callRow {
	rows := []callRow{}
	for _, p := range report.Pairs {
		rows = append(rows, callRow{Recorded: p.Old + 1, Today: p.New + 1, Changes: p.Changes})
	}
	return rows
}

func writeDrift(w io.Writer, out driftResult) {
	for _, r := range out.Cassettes {
		verdict := "no drift"
		if len(r.Calls) > 0 {
			verdict = "drift"
		}
		fmt.Fprintf(w, "%s: %s, %s as recorded\n", r.Scenario, verdict, count(r.Same, "call"))
		for _, c := range r.Calls {
			fmt.Fprintf(w, "  %s\n", c.heading())
			for _, change := range c.Changes {
				fmt.Fprintf(w, "    %s\n", change.Text())
			}
		}
		if !r.Held && len(r.Calls) > 0 {
			fmt.Fprintln(w, "  the scenario's own checks do not hold any more")
		}
	}
}

// heading names a call.
func (c callRow) heading() string {
	switch {
	case c.Recorded == 0:
		return fmt.Sprintf("call %d: it was not recorded", c.Today)
	case c.Today == 0:
		return fmt.Sprintf("episode %d: the call was not made", c.Recorded)
	}
	return fmt.Sprintf("call %d:", c.Today)
}

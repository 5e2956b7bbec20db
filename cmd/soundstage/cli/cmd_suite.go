package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/scenario"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/report"
	"github.com/soundstage-dev/soundstage/harness/script"
)

// envGitHub is set to true in GitHub's jobs, and envWorkspace is the repository's
// folder there: annotations name files from it.
const (
	envGitHub    = "GITHUB_ACTIONS"
	envWorkspace = "GITHUB_WORKSPACE"
)

// suiteFlags are the flags of test.
type suiteFlags struct {
	update, annotations   bool
	junit, shard, changed string
}

func (a *app) cmdTest() *cobra.Command {
	var f suiteFlags
	c := &cobra.Command{
		Use:   "test [PATTERN…]",
		Short: "Run the scenarios in " + scenariosDir + ", replayed",
		Long: `Test runs scenarios/<area>/<name>.txtar, each in a folder of its own, with the model's
part from cassettes/<area>/<name>.yaml. PATTERN is an area, area/name, or a glob of one.

With --changed only those run whose scenario, golden files, upstream script or cassettes
are not as they were at a git ref. It does not know what code a scenario runs: after a
change of code, run them all. With --shard they are dealt out over the jobs of a CI run;
every scenario is in one shard.`,
		Example: `  soundstage test
  soundstage test content/rename
  soundstage test 'loop/*' --junit report.xml
  soundstage test --shard 2/4 --annotations
  soundstage test --changed=origin/main`,
		RunE: func(c *cobra.Command, args []string) error { return a.suite(c.Context(), args, f) },
	}
	set := c.Flags()
	set.BoolVar(&f.update, "update", false, "rewrite expected output in place of failing")
	set.StringVar(&f.junit, "junit", "", "also write the results to this `file`, as JUnit XML")
	set.BoolVar(&f.annotations, "annotations", false, "also print an annotation for each failure, as GitHub reads them (default: where GITHUB_ACTIONS is true)")
	set.StringVar(&f.shard, "shard", "", "run only the `part` I/N of the scenarios, such as 2/4")
	set.StringVar(&f.changed, "changed", "", "run only scenarios whose files changed since this git `ref` (HEAD if none is given)")
	set.Lookup("changed").NoOptDefVal = "HEAD"
	return c
}

func (a *app) suite(ctx context.Context, patterns []string, f suiteFlags) error {
	names, err := a.chosen(ctx, patterns, f)
	if err != nil {
		return err
	}
	o := a.scenarios()
	o.Root, o.Cassettes, o.Update, o.Clock = a.path(scenariosDir), a.path(cassettesDir), f.update, a.doors.Clock
	var cases []report.Case
	sum := scenarioResult{}
	if len(names) > 0 {
		res, err := script.ExecuteNames(o, names, a.log(), func(end script.Outcome) { cases = append(cases, a.caseOf(end)) })
		if err != nil {
			return err
		}
		sum = scenarioResult{Passed: res.Passed, Failed: res.Failed, Skipped: res.Skipped}
	}
	if err := a.tell(cases, f); err != nil {
		return err
	}
	return a.sum(sum)
}

// scenarios are the options of commands that run scenarios. What those and their programs
// say goes to CI's pages and files, so it is told without secrets; folders stay, since
// somebody will look into them.
func (a *app) scenarios() script.Options[*scenario.Bag] {
	o := scenario.Options(a.again().Main)
	o.Mask = redact.New(redact.Options{Env: a.secrets()}).MaskString
	return o
}

// log is where scenarios are told of as they end.
func (a *app) log() io.Writer {
	if a.json {
		return a.doors.Stderr // standard output is for the result
	}
	return a.doors.Stdout
}

// sum prints how many held, and is an error if one did not.
func (a *app) sum(s scenarioResult) error {
	if err := a.print(s, s.write); err != nil {
		return err
	}
	return s.err()
}

// chosen are the scenarios that the patterns and flags leave, in order.
func (a *app) chosen(ctx context.Context, patterns []string, f suiteFlags) ([]string, error) {
	shard := script.Shard{I: 1, N: 1}
	if f.shard != "" {
		var err error
		if shard, err = script.ParseShard(f.shard); err != nil {
			return nil, err
		}
	}
	if len(patterns) == 0 {
		patterns = []string{""}
	}
	var names []string
	for _, p := range patterns {
		some, err := script.Names(a.path(scenariosDir), p)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if f.changed != "" {
		files, err := a.history().Changed(ctx, f.changed)
		if err != nil {
			return nil, err
		}
		if names, err = script.Touched(a.doors.Dir, scenariosDir, cassettesDir, names, files); err != nil {
			return nil, err
		}
	}
	return shard.Of(names), nil
}

func (a *app) caseOf(end script.Outcome) report.Case {
	return report.Case{
		Name: end.Name, File: a.inWorkspace(path.Join(scenariosDir, end.Name+".txtar")), Line: end.Line,
		Failed: end.Verdict == script.Failed, Skipped: end.Verdict == script.Skipped, Log: end.Log, Took: end.Took,
	}
}

// inWorkspace is a file of the current folder as CI names it: from the root of the
// repository.
func (a *app) inWorkspace(file string) string {
	if root := a.doors.Env[envWorkspace]; root != "" {
		if rel, err := filepath.Rel(root, a.path(file)); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return file
}

// tell writes the reports that were asked for.
func (a *app) tell(cases []report.Case, f suiteFlags) error {
	if f.annotations || a.doors.Env[envGitHub] == "true" {
		if err := report.Annotate(a.log(), cases); err != nil {
			return lost(err)
		}
	}
	if f.junit == "" {
		return nil
	}
	var b bytes.Buffer
	if err := report.JUnit(&b, cases); err != nil {
		return err
	}
	if err := replaceFile(a.path(f.junit), b.Bytes()); err != nil {
		return notWritten(err, "test", f.junit)
	}
	return nil
}

// replaceFile puts data at path as a whole, or leaves what is there.
func replaceFile(path string, data []byte) error {
	f, err := beside(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = firstOf(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is of no use
		return err
	}
	return syncDir(path)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

package seam

import (
	"context"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Scripted is a Runner for tests: it runs nothing, and answers what a person wrote. It
// is not the world, and so may be recorded where CI is set.
type Scripted struct{ Runs []ScriptedRun }

// A ScriptedRun is the outcome of the command with exactly these arguments. What it
// says in Files, it writes; the paths are below the command's folder.
type ScriptedRun struct {
	Args    []string
	Outcome Outcome
	Err     error
}

// Run implements Runner.
func (s *Scripted) Run(_ context.Context, dir string, c Command) (Outcome, error) {
	for _, r := range s.Runs {
		if !slices.Equal(r.Args, c.Args) {
			continue
		}
		if r.Err != nil {
			return Outcome{}, r.Err
		}
		w, err := openWork(dir)
		if err != nil {
			return Outcome{}, err
		}
		defer w.close()
		for _, f := range r.Outcome.Files {
			if err := w.put(f); err != nil {
				return Outcome{}, err
			}
		}
		return Outcome{Stdout: r.Outcome.Stdout, Stderr: r.Outcome.Stderr, Exit: r.Outcome.Exit}, nil
	}
	return Outcome{}, fault.New(CodeNoScript, "seam.exec", "no scripted command is %q", strings.Join(c.Args, " "))
}

package cli

import (
	"context"
	"path/filepath"
	"slices"

	program "github.com/soundstage-dev/soundstage/adapters/process"
	"github.com/soundstage-dev/soundstage/adapters/storydir"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/studio/story"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	handlers "github.com/soundstage-dev/soundstage/runtime/studio/story/host"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	machinery "github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// storyCommands opens the door for the commands of a story that work in a folder: the
// session's own seam, so that they are recorded and replayed with the rest of it.
func (a *app) storyCommands(redactor func() *redact.Redactor) func(context.Context, string) (handlers.Runner, error) {
	return func(_ context.Context, work string) (handlers.Runner, error) {
		s := a.doors.Seam
		if s == nil {
			s = a.seam
		}
		if s == nil {
			env := a.doors.Env
			var err error
			s, err = seam.Open(seam.Options{
				Mode: seam.Live, Clock: a.doors.Clock, Redactor: redactor(), Transport: network(env), CI: isSet(env[envCI]), AllowLive: env[envLive] == "1",
			})
			if err != nil {
				return nil, err
			}
		}
		door, err := s.Exec(seam.ExecOptions{Work: filepath.FromSlash(work), Runner: storyRunner{a, filepath.FromSlash(work)}})
		return storyDoor{door}, err
	}
}

// A storyDoor is the seam's door, as handlers of stories see it.
type storyDoor struct{ door *seam.ExecDoor }

// Run implements handlers.Runner.
func (d storyDoor) Run(ctx context.Context, c handlers.Command) (handlers.Outcome, error) {
	out, err := d.door.Run(ctx, seam.Command{Args: c.Args, Dir: c.Dir})
	return handlers.Outcome{Stdout: string(out.Stdout), Stderr: string(out.Stderr), Exit: out.Exit}, err
}

// A storyRunner starts a command with the variables that a program of somebody else gets
// of ours: keys are none of them.
type storyRunner struct {
	a    *app
	work string
}

// Run implements seam.Runner. A link out of the folder of work is not followed.
func (r storyRunner) Run(ctx context.Context, dir string, c seam.Command) (seam.Outcome, error) {
	const op = "story.host"
	work, err := filepath.EvalSymlinks(r.work)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return seam.Outcome{}, fault.New(fault.NotFound, op, "cwd: there is no folder %q", c.Dir).WithHint("make it first, or name one below the folder that the story runs in")
	}
	if rel, err := filepath.Rel(work, dir); err != nil || !filepath.IsLocal(rel) {
		return seam.Outcome{}, fault.New(handlers.CodeOutside, op, "cwd: %q is a link that leads out of the folder that the story runs in", c.Dir).WithHint("name a folder below it")
	}
	c.Env = r.a.passedOn()
	return program.Runner{}.Run(ctx, dir, c)
}

// storyHost are the handlers of story turn --exec: commands run in the folder that the
// person is in, and files are written below it. Scripts are read there and from the folders
// of the story and of what it imports.
func (a *app) storyHost(ctx context.Context, d story.TurnDeps, f mcpFlags) (h engine.Handlers, end func() error, err error) {
	end = func() error { return nil }
	if f.mode != "" || f.cassette != "" {
		if err := f.settle(); err != nil {
			return nil, end, err
		}
		house, err := a.bare(ctx)
		if err != nil {
			return nil, end, err
		}
		door, err := a.openSession(house, f, "")
		if err != nil {
			return nil, end, err
		}
		if door != nil {
			a.seam, end = door.Seam, func() error { return door.close(a) }
		}
	}
	work := filepath.ToSlash(a.path("."))
	run, err := a.storyCommands(func() *redact.Redactor { return a.redactor(a.doors.Dir) })(ctx, work)
	if err != nil {
		return nil, end, err
	}
	s, _, err := load.Load(ctx, load.Options{Files: d.Files, App: d.App, Root: d.Root})
	if err != nil {
		return nil, end, err
	}
	o := storydir.Options{Write: a.path(".")}
	if s != nil { // what is wrong with it is told where the turn is taken
		o.Read = foldersOf(s)
	}
	disk, err := storydir.Open(o)
	if err != nil {
		return nil, end, err
	}
	before := end
	end = func() error { return firstOf(before(), disk.Close()) }
	return handlers.New(handlers.Options{Files: disk, Runner: run, Write: disk.Write, Work: work}), end, nil
}

// foldersOf are the folders of a story and of what it imports.
func foldersOf(s *machinery.Story) []string {
	list := []string{filepath.FromSlash(s.Dir)}
	for _, st := range s.States {
		if dir := filepath.FromSlash(st.Scope.Dir); !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return list
}

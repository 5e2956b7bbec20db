// Package host holds the handlers of calls that run for real: the commands and the scripts
// of a story, and what it writes into files.
//
// It is a part of the story studio beside the engine, which calls it through its port; a
// flow uses the parts that leave nothing on the machine. Commands start through a port and
// files are read and written through another, so that what is outside is the caller's to
// bound, to record and to refuse. It asks nobody for permission: runtime/gate did.
package host

import (
	"context"
	"path"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/starlark"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A Runner starts commands.
type Runner interface {
	// Run runs a command to its end. An exit status is no error; that it could not run is.
	Run(ctx context.Context, c Command) (Outcome, error)
}

// A Command is a program with its arguments, and the folder it works in: slashed and below
// the folder of all commands, "." for that itself.
type Command struct {
	Args []string
	Dir  string
}

// An Outcome is what a command said.
type Outcome struct {
	Stdout, Stderr string
	Exit           int
}

// Options are the doors of the handlers. A nil one is closed.
type Options struct {
	Files  load.Files // that scripts are read from, and may look at below Work
	Runner Runner
	// Write puts a whole file on the disk; its name is absolute.
	Write func(ctx context.Context, name string, raw []byte) (created bool, err error)
	Work  string // absolute and slashed: where commands run, and relative names are seen from
}

// Handlers implement engine.Handlers.
type Handlers struct{ o Options }

// New makes handlers.
func New(o Options) *Handlers {
	if o.Files == nil || !path.IsAbs(o.Work) {
		panic("host: the files or the folder of work are missing")
	}
	return &Handlers{o}
}

// Call implements engine.Handlers.
func (h *Handlers) Call(ctx context.Context, c engine.Request) (engine.Result, error) {
	switch c.Handler {
	case "host.run":
		return h.run(ctx, c.Args)
	case "host.starlark.run":
		res, _, err := Script(ctx, h.o.Files, c, h.o.Work, starlark.Doors{Inspect: inspector(h.o)})
		return res, err
	}
	desk := Desk{Folder: disk{ctx, h.o}, Work: h.o.Work, Artifacts: path.Join(h.o.Work, "artifacts")}
	if res, ok := desk.Call(c); ok {
		return res, ctx.Err()
	}
	return engine.Result{}, fault.New(engine.CodeHandler, "story.host", "host: no handler registered for %q", c.Handler).
		WithHint("give it a stub")
}

// Whole is a handler's name without its last part, which is an operation of it.
func Whole(name string) (handler, op string) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", ""
	}
	return name[:i], name[i+1:]
}

// WithOp is a call of an operation of a handler, as that handler sees it.
func WithOp(c engine.Request, op string) engine.Request {
	if had, _ := c.Args.Get("op"); op != "" && had.Text() == "" {
		c.Args = c.Args.With("op", value.Of(op))
	}
	return c
}

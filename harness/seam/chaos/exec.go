package chaos

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// Commands is a door for commands: seam.ExecDoor is one.
type Commands interface {
	Run(ctx context.Context, c seam.Command) (seam.Outcome, error)
}

// OverExec lays the plan over a door for commands, whose URLs are like exec://git. Exit,
// Timeout and Refused start no process. Truncate cuts the standard output of one that
// ran. The other kinds are not for commands.
func (p *Plan) OverExec(below Commands, c clock.Clock) Commands {
	return &commands{plan: p, below: below, clock: c}
}

type commands struct {
	plan  *Plan
	below Commands
	clock clock.Clock
}

// Run implements Commands.
func (o *commands) Run(ctx context.Context, c seam.Command) (seam.Outcome, error) {
	name := ""
	if len(c.Args) > 0 {
		name = strings.ToLower(filepath.Base(filepath.FromSlash(c.Args[0])))
	}
	hit, err := o.plan.take(seam.LaneOf(ctx), "exec://"+url.PathEscape(name), Exit, Timeout, Refused, Truncate)
	if err != nil {
		return seam.Outcome{}, err
	}
	if f := instead(hit); f != nil {
		if err := ctx.Err(); err != nil {
			return seam.Outcome{}, err
		}
		o.plan.fire(f)
		return o.outcome(ctx, name, f.Fault)
	}
	out, err := o.below.Run(ctx, c)
	for _, f := range hit {
		if len(out.Stdout) > f.Bytes {
			out.Stdout = out.Stdout[:f.Bytes]
			o.plan.fire(f)
		} else {
			o.plan.missed(f, "the output of call %d has %d bytes", f.met, len(out.Stdout))
		}
	}
	return out, err
}

// outcome is what comes in place of a command's.
func (o *commands) outcome(ctx context.Context, name string, f Fault) (seam.Outcome, error) {
	switch f.Kind {
	case Exit:
		return seam.Outcome{Exit: f.Code, Stderr: fmt.Appendf(nil, "a fault of the scenario: exit status %d\n", f.Code)}, nil
	case Refused:
		return seam.Outcome{}, &fs.PathError{Op: "exec", Path: name, Err: syscall.ENOENT}
	}
	if err := clock.Pass(ctx, o.clock, f.For); err != nil {
		return seam.Outcome{}, err
	}
	return seam.Outcome{}, &timeoutError{f.For}
}

package host

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// The bounds of a command.
const (
	MaxTime = 10 * time.Minute // of one that names no timeout, and of every one that does
	MaxArgs = 1 << 10
)

// run answers host.run: a program with its arguments, or else a line for bash.
func (h *Handlers) run(ctx context.Context, args value.Value) (engine.Result, error) {
	if h.o.Runner == nil {
		return engine.Result{}, fault.New(engine.CodeHandler, "story.host", "host.run: this run starts no commands").WithHint("give it a stub")
	}
	line, _ := args.Get("cmd")
	if line.Str() == "" {
		return failed("host.run: cmd argument is required"), nil
	}
	c := Command{Args: []string{"bash", "-c", line.Str()}}
	if list, ok := args.Get("args"); ok && !list.IsNil() {
		if list.Kind() != value.List || list.Len() > MaxArgs {
			return failed("host.run: args is no list of up to %d texts", MaxArgs), nil
		}
		c.Args = []string{line.Str()}
		for _, it := range list.Items() {
			c.Args = append(c.Args, it.Text())
		}
	}
	dir, err := below(h.o.Work, text(args, "cwd"))
	if err != nil {
		return failed("host.run: cwd: %s", err), nil
	}
	if c.Dir = "."; dir != h.o.Work {
		c.Dir = strings.TrimPrefix(dir, strings.TrimSuffix(h.o.Work, "/")+"/")
	}
	limit, ok := timeout(args)
	if !ok {
		return failed("host.run: timeout %q is no time of up to %s: write one like 30s", text(args, "timeout"), MaxTime), nil
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := h.o.Runner.Run(within, c)
	switch {
	case ctx.Err() != nil:
		return engine.Result{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		late := failed("host.run: timed out after %s", limit)
		late.Data = value.NewMap(fields{"stdout": value.Of(""), "exit_code": value.Of(-1), "ok": value.Of(false), "timed_out": value.Of(true)})
		return late, nil
	case err != nil:
		return engine.Result{}, fault.Wrap(err, fault.CodeOf(err), "story.host", "host.run: %q", path.Base(c.Args[0]))
	}
	return told(out, args), nil
}

// timeout is how long a command may run: a number is seconds.
func timeout(args value.Value) (time.Duration, bool) {
	v, ok := args.Get("timeout")
	if !ok || v.IsNil() {
		return MaxTime, true
	}
	var d time.Duration
	if s, number := v.Float(); number && v.Kind() != value.String {
		d = time.Duration(min(max(s, 0), MaxTime.Seconds()+1) * float64(time.Second))
	} else {
		d, _ = time.ParseDuration(v.Text()) // 0 is none either
	}
	return d, d > 0 && d <= MaxTime
}

// told is what a story hears of a command: both its streams in one text, and the JSON that
// it ends with.
func told(out Outcome, args value.Value) engine.Result {
	both := out.Stderr + out.Stdout
	data := fields{"stdout": value.Of(both), "exit_code": value.Of(out.Exit), "ok": value.Of(out.Exit == 0)}
	if out.Stderr != "" {
		data["stderr"] = value.Of(out.Stderr)
	}
	if v, ok := ending(out.Stdout); ok {
		data["stdout_json"] = v
	} else if last := lastLine(out.Stdout); strings.HasPrefix(last, "{") || strings.HasPrefix(last, "[") {
		_, err := value.Parse([]byte(last))
		if err == nil {
			err = errors.New("it is not the end of a document")
		}
		data["stdout_json_parse_error"] = value.Of(err.Error())
	}
	res := engine.Result{Data: value.NewMap(data)}
	if strict, _ := args.Get("fail_on_error"); out.Exit != 0 && strict.Bool() {
		res = failed("host.run: command exited %d", out.Exit)
		res.Data = value.NewMap(data)
	}
	return res
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// ending is the JSON object or list that a text ends with; it may have several lines, the
// first of which begins with it.
func ending(s string) (value.Value, bool) {
	s = strings.TrimSpace(s)
	if !strings.HasSuffix(s, "}") && !strings.HasSuffix(s, "]") {
		return value.Value{}, false
	}
	for at, tries := len(s), 0; at >= 0 && tries < maxTries; {
		at = strings.LastIndexByte(s[:at], '\n')
		if from := s[at+1:]; from[0] == '{' || from[0] == '[' { // one within it stands further in
			tries++
			if v, err := value.Parse([]byte(from)); err == nil {
				return v, true
			}
		}
	}
	return value.Value{}, false
}

// maxTries is how many lines are tried for the beginning of a text's last document.
const maxTries = 20

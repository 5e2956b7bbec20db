package host

import (
	"context"
	"path"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/starlark"
)

// Script runs the script that a call of host.starlark.run names. failed is why it did not
// end well, which the result tells the story; err is that it could not run at all.
func Script(ctx context.Context, files load.Files, c engine.Request, work string, doors starlark.Doors) (res engine.Result, failed, err error) {
	name, _ := c.Args.Get("script")
	raw, side, err := readScript(ctx, files, c.Dir, name.Text(), work)
	if err != nil {
		return res, nil, err
	}
	sc := starlark.Script{Name: name.Text(), Source: string(raw)}
	var problems []source.Problem
	if sc.Sidecar, problems = starlark.ParseSidecar(name.Text()+".yaml", side); len(problems) > 0 {
		return engine.Result{Error: problems[0].Message}, nil, nil
	}
	world := c.World
	if over, ok := c.Args.Get("world"); ok {
		world = world.Merge(over)
	}
	inputs, _ := c.Args.Get("inputs")
	out, failed := starlark.Run(ctx, sc, inputs, world, doors)
	if failed != nil {
		return engine.Result{Error: failed.Error()}, failed, nil
	}
	return engine.Result{Data: out}, nil, nil
}

// readScript reads a script and its sidecar: seen from the folder of the file that names
// it, or else from that of the run.
func readScript(ctx context.Context, files load.Files, dir, name, work string) (script, side []byte, err error) {
	if files == nil {
		return nil, nil, fault.New(load.CodeNoFile, "story.host", "the script %q: this run reads no files", name)
	}
	at := name
	if !path.IsAbs(at) {
		at = path.Join(dir, name)
	}
	script, err = files.Read(ctx, at)
	if err != nil && at != name && work != "" {
		at = path.Join(work, name)
		script, err = files.Read(ctx, at)
	}
	if err == nil {
		side, err = files.Read(ctx, at+".yaml")
	}
	return script, side, err
}

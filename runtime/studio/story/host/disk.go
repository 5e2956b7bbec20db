package host

import (
	"context"
	"path"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/starlark"
)

// CodeOutside is the code of a name that leads out of the folder of work.
const CodeOutside fault.Code = "STORY_HOST_OUTSIDE"

// below is a name as an absolute one, seen from a folder that it may not leave.
func below(work, name string) (string, error) {
	at := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if !path.IsAbs(at) {
		at = path.Join(work, at)
	}
	if at != work && !strings.HasPrefix(at, strings.TrimSuffix(work, "/")+"/") {
		return "", fault.New(CodeOutside, "story.host", "%q lies outside of the folder that the story runs in", name)
	}
	return at, nil
}

// A disk is the folder of work, as a Desk sees it.
type disk struct {
	ctx context.Context //nolint:containedctx // lives as long as one call
	o   Options
}

// Read implements Folder.
func (d disk) Read(name string) (string, bool) {
	at, err := below(d.o.Work, name)
	if err != nil {
		return "", false
	}
	raw, err := d.o.Files.Read(d.ctx, at)
	return string(raw), err == nil
}

// Write implements Folder.
func (d disk) Write(name, text string) error {
	at, err := below(d.o.Work, name)
	if err != nil {
		return err
	}
	if d.o.Write == nil {
		return fault.New(fault.Denied, "story.host", "%q is not written: the story runs where nothing may be", name)
	}
	_, err = d.o.Write(d.ctx, at, []byte(text))
	return err
}

// Below implements Folder.
func (d disk) Below(dir string) []string {
	at, err := below(d.o.Work, dir)
	if err != nil {
		return nil
	}
	names, _ := d.o.Files.Glob(d.ctx, at, "*") // a folder that is not there has none
	return names
}

// An inspector lets a script look at the files of the folder of work.
type inspector Options

// Read implements starlark.Inspector.
func (i inspector) Read(ctx context.Context, name string) (string, error) {
	at, err := below(i.Work, name)
	if err != nil {
		return "", err
	}
	raw, err := i.Files.Read(ctx, at)
	return string(raw), err
}

// Exists implements starlark.Inspector.
func (i inspector) Exists(ctx context.Context, name string) (bool, error) {
	at, err := below(i.Work, name)
	if err != nil {
		return false, err
	}
	_, err = i.Files.Read(ctx, at)
	return err == nil, nil
}

// Glob implements starlark.Inspector: names as they are seen from the folder.
func (i inspector) Glob(ctx context.Context, pattern string) ([]string, error) {
	if _, err := below(i.Work, pattern); err != nil {
		return nil, err
	}
	names, err := i.Files.Glob(ctx, i.Work, pattern)
	for k, name := range names {
		names[k] = strings.TrimPrefix(name, strings.TrimSuffix(i.Work, "/")+"/")
	}
	return names, err
}

// Probe implements starlark.Inspector.
func (inspector) Probe(_ context.Context, name string, _ []string) (exit int, out string, err error) {
	return 0, "", fault.New(starlark.CodeDoor, "story.host", "%s: a script of this run looks at files alone", name)
}

// Package story holds the tools of the story studio: stories read, written, checked,
// drawn, tested and tried, one turn at a time.
//
// It is the top of the story studio. It sees the disk through a port, asks for no
// permission (runtime/gate did before a handler runs) and calls no model. A call that a
// story asks for is made by story.turn.exec alone: elsewhere what nothing answers is listed.
package story

import (
	"context"
	"path"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/host"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// The codes of this package.
const (
	CodeNoWorkspace fault.Code = "NO_WORKSPACE"  // no folder is bound, and none was named
	CodeNoFolder    fault.Code = "STORY_NO_DIR"  // no such folder of stories
	CodePath        fault.Code = "STORY_PATH"    // a path that leads out of its folder
	CodePattern     fault.Code = "STORY_PATTERN" // a pattern that is none
	CodeWhat        fault.Code = "STORY_NO_NAME" // a state or an intent that the story does not have
)

// A Disk is the folders that may be read, and at most one that may be written. Names are
// absolute and slashed.
type Disk interface {
	load.Files
	// Folder is nil for a folder that may be read.
	Folder(name string) error
	// List is the files below a folder, sorted, and whether there are more than limit.
	List(ctx context.Context, dir string, limit int) (names []string, more bool, err error)
	// Write puts a whole file into the workspace.
	Write(ctx context.Context, name string, raw []byte) (created bool, err error)
	Close() error
}

// A Place is where stories lie at one moment.
type Place struct {
	Disk      Disk   // nil where there is no folder at all
	Stories   string // "" is none; @library/name is found below it
	Workspace string // "" is none; the one folder that story.write writes in
}

// Deps are the doors of the tools.
type Deps struct {
	// Place opens the folders anew for each call: a person may bind another one while a
	// server runs.
	Place func(ctx context.Context) (Place, error)
	// Listed says whether clients see the tools: where no story can be, they are only noise.
	Listed func() bool
	// Commands opens the door for the commands of a story that work in a folder, absolute
	// and slashed. It is asked when a person allowed a call that may run some.
	Commands func(ctx context.Context, work string) (host.Runner, error)
}

// Tools are the tools of the story studio.
func Tools(d Deps) []tool.Tool {
	if d.Place == nil || d.Listed == nil || d.Commands == nil {
		panic("story: a door is missing")
	}
	return []tool.Tool{
		graphTool(d), listTool(d), readTool(d), searchTool(d), testTool(d), turnTool(d), execTool(d), validateTool(d), writeTool(d),
	}
}

func (d Deps) spec(s tool.Spec) tool.Spec {
	s.Exposure, s.Available, s.Domain = tool.Direct, d.Listed, "story"
	if s.Effect == "" {
		s.Effect = tool.Read
	}
	return s
}

// in opens the place of a call and finds its folder.
func (d Deps) in(ctx context.Context, op, dir string, work func(p Place, dir string) error) error {
	p, err := d.Place(ctx)
	if err != nil {
		return err
	}
	if p.Disk == nil {
		return noWorkspace(op)
	}
	defer p.Disk.Close() //nolint:errcheck // it was only read, and what was written is on the disk
	folder, err := p.folder(op, dir)
	if err != nil {
		return err
	}
	return work(p, folder)
}

func noWorkspace(op string) error {
	return fault.New(CodeNoWorkspace, op, "no workspace is bound, and no dir was given").
		WithHint("a person binds one: soundstage story open DIR, or soundstage mcp --workspace DIR; a story below the stories folder is named with dir")
}

// folder is where a dir argument leads: nothing is the workspace, a relative one lies
// below the workspace or else the stories folder, and @/… always below the latter. The disk
// says what may be read.
func (p Place) folder(op, dir string) (string, error) {
	switch {
	case dir == "" && p.Workspace != "":
		return p.Workspace, nil
	case dir == "":
		return "", noWorkspace(op)
	case dir == "@" || strings.HasPrefix(dir, "@/"):
		dir = path.Join(".", strings.TrimPrefix(dir[1:], "/"))
		p.Workspace = ""
	case path.IsAbs(dir):
		dir = path.Clean(dir)
		return dir, p.Disk.Folder(dir)
	}
	if !local(dir) {
		return "", fault.New(CodePath, op, "dir %q leads out of the folders of stories", dir).WithHint("name a folder below the stories folder or the workspace")
	}
	for _, root := range []string{p.Workspace, p.Stories} {
		if root == "" {
			continue
		}
		name := path.Join(root, dir)
		if err := p.Disk.Folder(name); err == nil {
			return name, nil
		} else if fault.CodeOf(err) != load.CodeNoFile {
			return "", err
		}
	}
	return "", fault.New(CodeNoFolder, op, "there is no folder %q of stories", dir).WithHint("see what there is: story.list with dir . or @")
}

// local reports a name that stays below its folder.
func local(name string) bool {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	return name != "" && !path.IsAbs(clean) && clean != ".." && !strings.HasPrefix(clean, "../")
}

// file is a path of a call, as an absolute name.
func file(op, dir, name string) (string, error) {
	if !local(name) {
		return "", fault.New(CodePath, op, "path %q leads out of its folder", name).WithHint("give a path below the folder, such as rooms/hall.yaml")
	}
	return path.Join(dir, name), nil
}

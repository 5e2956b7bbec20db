package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/soundstage-dev/soundstage/adapters/storydir"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/runtime/studio/story"
)

// boundFile is where a studio keeps which workspace a person opened, below stateDir.
const boundFile = "story.json"

// places are the folders of stories, as a person named them.
type places struct {
	Stories   string   `json:"stories,omitempty"`
	Workspace string   `json:"workspace,omitempty"`
	Grants    []string `json:"grants,omitempty"`
	asked     bool     // the story tools were asked for by name
}

func (p *places) register(set *pflag.FlagSet) {
	set.StringVar(&p.Stories, "stories-dir", "", "the `folder` of stories that may be read; @library/name imports are found below it")
	set.StringVar(&p.Workspace, "workspace", "", "the `folder` of the story that is worked on: the one that story.write may write")
	set.StringSliceVar(&p.Grants, "grant", nil, "another `folder` whose stories may be read")
}

func (p places) none() bool { return p.Stories == "" && p.Workspace == "" && len(p.Grants) == 0 }

// storyDeps are the doors of the story tools of a studio in dir.
func (a *app) storyDeps(dir string, redactor func() *redact.Redactor) story.Deps {
	return story.Deps{
		Commands: a.storyCommands(redactor),
		Place:    func(context.Context) (story.Place, error) { return a.storyPlace(dir) },
		Listed: func() bool {
			p, err := a.bound(dir)
			return a.places.asked || err != nil || !p.none()
		},
	}
}

// storyPlace opens the folders of stories.
func (a *app) storyPlace(dir string) (story.Place, error) {
	p, err := a.bound(dir)
	if err != nil || p.none() {
		return story.Place{}, err
	}
	read := p.Grants
	if p.Stories != "" {
		read = append(read[:len(read):len(read)], p.Stories)
	}
	disk, err := storydir.Open(storydir.Options{Read: read, Write: p.Workspace})
	if err != nil {
		return story.Place{}, err
	}
	return story.Place{Disk: disk, Stories: filepath.ToSlash(p.Stories), Workspace: filepath.ToSlash(p.Workspace)}, nil
}

// bound are the folders of now: those of the command line, and the workspace that a person
// opened where it names none.
func (a *app) bound(dir string) (places, error) {
	p := places{}
	for _, name := range a.places.Grants {
		p.Grants = append(p.Grants, a.path(name))
	}
	if a.places.Stories != "" {
		p.Stories = a.path(a.places.Stories)
	}
	if a.places.Workspace != "" {
		p.Workspace = a.path(a.places.Workspace)
		return p, nil
	}
	kept, err := readBound(dir)
	if p.Workspace = kept.Workspace; p.Stories == "" {
		p.Stories = kept.Stories
	}
	return p, err
}

func readBound(dir string) (places, error) {
	var p places
	name := filepath.Join(dir, stateDir, boundFile)
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxConfig) {
		err = errors.New("it is no file of ours")
	}
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(name)
	}
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		return p, fault.New(codeBadConfig, "story.open", "%s/%s cannot be read: %v", stateDir, boundFile, reasonOf(err)).WithHint("bind the workspace again: soundstage story open DIR")
	}
	return p, nil
}

// writeBound keeps which folders are open, or that none is.
func writeBound(dir string, p places) error {
	name := filepath.Join(dir, stateDir, boundFile)
	if p.none() {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return notWritten(err, "story.close", filepath.Join(stateDir, boundFile))
		}
		return nil
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "story.open", "encode")
	}
	f, err := beside(name)
	if err == nil {
		_, err = f.Write(append(raw, '\n'))
		if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
			err = os.Rename(f.Name(), name)
		}
		if err != nil {
			_ = os.Remove(f.Name()) // the error before it counts
		}
	}
	if err != nil {
		return notWritten(err, "story.open", filepath.Join(stateDir, boundFile))
	}
	return nil
}

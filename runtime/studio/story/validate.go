package story

import (
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/flow"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// ValidateIn names a story.
type ValidateIn struct {
	Dir string `json:"dir,omitempty" jsonschema:"the story's folder: below the workspace or the stories folder; the workspace if left out"`
}

// A Finding is something wrong with a story, and where.
type Finding struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Code    string `json:"code,omitempty"` // of a bound, or a way out of the story's folder
	Message string `json:"message"`
}

func found(f load.Finding) Finding {
	return Finding{File: f.File, Line: f.Line, Column: f.Column, Code: string(f.Code), Message: f.Message}
}

// A Validation is everything that is wrong with a story.
type Validation struct {
	OK       bool      `json:"ok"`
	Story    string    `json:"story,omitempty"` // its id, where it can be told
	States   int       `json:"states"`
	Flows    int       `json:"flows"`
	Errors   []Finding `json:"errors"`
	Warnings []Finding `json:"warnings"`
}

func validateTool(d Deps) tool.Tool {
	return tool.New(d.spec(tool.Spec{
		ID: "story.validate", Title: "Validate a story",
		Summary:     "Check a whole story, its imports and its flows: every finding with file, line and column.",
		Description: "ok false is an answer and no failure of the call: errors say why the story does not run. A story with warnings runs, and something in it is wrong.",
	}), func(ctx context.Context, _ tool.Call, in ValidateIn) (rep tool.Reply[Validation], err error) {
		err = d.in(ctx, "story.validate", in.Dir, func(p Place, dir string) error {
			rep.Out, err = Validate(ctx, p.Disk, dir, p.Stories)
			return err
		})
		return rep, err
	})
}

// Validate checks a story and the fixtures of its flows. root is where libraries are found.
func Validate(ctx context.Context, files load.Files, app, root string) (Validation, error) {
	v := Validation{Errors: []Finding{}, Warnings: []Finding{}}
	app = manifest(app)
	s, list, err := load.Load(ctx, load.Options{Files: files, App: app, Root: root})
	if err != nil && fault.CodeOf(err) != load.CodeInvalid {
		return v, err
	}
	v.OK = s != nil
	if s != nil {
		v.Story, v.States = s.ID, len(s.States)
	}
	for _, f := range list {
		v.add(f, f.Severity)
	}
	if s != nil {
		for _, p := range route.Problems(s) {
			v.add(load.Finding{Pos: p.Pos, Message: p.Message}, load.Warning)
		}
	}
	fixtures, others, err := flowsOf(ctx, files, path.Dir(app))
	if err != nil {
		return v, err
	}
	for _, f := range others {
		f.File = strings.TrimPrefix(f.File, path.Dir(app)+"/")
		v.add(f, load.Warning)
	}
	v.Flows = len(fixtures)
	for _, fx := range fixtures {
		list := fx.Findings
		if s != nil {
			list = append(list, fx.Misfits(s)...)
		}
		for _, f := range list {
			f.File = strings.TrimPrefix(f.File, path.Dir(app)+"/")
			v.add(f, load.Warning) // the story itself is as good as it was
		}
	}
	return v, nil
}

func (v *Validation) add(f load.Finding, s load.Severity) {
	it := found(f)
	if s == load.Error {
		v.Errors = append(v.Errors, it)
	} else {
		v.Warnings = append(v.Warnings, it)
	}
}

// manifest is the file that a story begins with.
func manifest(app string) string {
	if ext := path.Ext(app); ext != ".yaml" && ext != ".yml" {
		app = path.Join(app, "app.yaml")
	}
	return app
}

// flowsOf are the fixtures in a story's folder flows, and what stands among them that is
// none.
func flowsOf(ctx context.Context, files load.Files, dir string) (list []*flow.Fixture, others []load.Finding, err error) {
	names, err := files.Glob(ctx, dir, "flows/*.yaml")
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		raw, err := files.Read(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		flows, rest := flow.Parse(name, raw)
		list, others = append(list, flows...), append(others, rest...)
	}
	return list, others, nil
}

// loaded is a story that runs, or the first of what keeps it from running.
func loaded(ctx context.Context, op string, files load.Files, app, root string) (*program.Story, error) {
	s, list, err := load.Load(ctx, load.Options{Files: files, App: manifest(app), Root: root})
	if err == nil && s == nil {
		first, code := "", load.CodeInvalid
		if len(list) > 0 {
			first, code = ": "+list[0].String(), cmp.Or(list[0].Code, code)
		}
		err = fault.New(code, op, "the story has errors, and does not run%s", first).WithHint("see all of them with story.validate")
	}
	return s, err
}

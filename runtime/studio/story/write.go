package story

import (
	"context"
	"path"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// WriteIn is a file of a story, whole.
type WriteIn struct {
	Path    string `json:"path" jsonschema:"the file, seen from the folder: app.yaml, rooms/hall.yaml; its folders are made"`
	Content string `json:"content" jsonschema:"all of the file; what was there before is replaced"`
	Dir     string `json:"dir,omitempty" jsonschema:"a folder of the workspace; all of it if left out"`
}

// WriteOut is what was written, and what the story is now.
type WriteOut struct {
	OK         bool       `json:"ok"`
	Written    string     `json:"written"`
	Created    bool       `json:"created"`
	Bytes      int        `json:"bytes"`
	Validation Validation `json:"validation"`
}

func writeTool(d Deps) tool.Tool {
	return tool.New(d.spec(tool.Spec{
		ID: "story.write", Title: "Write a file of a story", Effect: tool.Apply, Concurrency: "story",
		Summary: "Write one file of a story in the workspace, whole, and check the story in the same call.",
		Description: "Only the workspace that a person bound is written, and there without a question. The file stays written where validation has ok false: " +
			"read its errors, and write again.",
	}), func(ctx context.Context, _ tool.Call, in WriteIn) (rep tool.Reply[WriteOut], err error) {
		const op = "story.write"
		err = d.in(ctx, op, in.Dir, func(p Place, dir string) error {
			if p.Workspace == "" {
				return noWorkspace(op)
			}
			name, err := file(op, dir, in.Path)
			if err != nil {
				return err
			}
			if !utf8.ValidString(in.Content) {
				return fault.New(fault.Invalid, op, "content is no text")
			}
			created, err := p.Disk.Write(ctx, name, []byte(in.Content))
			if err != nil {
				return err
			}
			rep.Out = WriteOut{OK: true, Written: path.Clean(in.Path), Created: created, Bytes: len(in.Content)}
			rep.Out.Validation, err = p.around(ctx, name)
			return err
		})
		return rep, err
	})
}

// around validates the story that a file of the workspace is part of: the nearest folder
// above it with a manifest. A file of no story yet has nothing to say.
func (p Place) around(ctx context.Context, name string) (Validation, error) {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		_, err := p.Disk.Read(ctx, path.Join(dir, "app.yaml"))
		if err == nil {
			return Validate(ctx, p.Disk, dir, p.Stories)
		}
		if dir == p.Workspace || dir == path.Dir(dir) {
			break
		}
	}
	return Validation{Errors: []Finding{{File: "app.yaml", Message: "there is no app.yaml here or above yet, so this is no story"}}, Warnings: []Finding{}}, ctx.Err()
}

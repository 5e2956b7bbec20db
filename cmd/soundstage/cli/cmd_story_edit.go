package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
)

// The results of the commands that work on one story.
type (
	storyMade struct {
		Dir   string   `json:"dir" jsonschema:"the story's folder, as it was named"`
		ID    string   `json:"id" jsonschema:"the story's id"`
		Files []string `json:"files" jsonschema:"that were made, seen from the folder"`
	}
	storyBound struct {
		Workspace string `json:"workspace" jsonschema:"the folder that story.write may write; empty is none"`
		Stories   string `json:"stories,omitempty" jsonschema:"the folder of stories that may be read"`
	}
)

func (a *app) cmdStoryNew() *cobra.Command {
	return &cobra.Command{
		Use: "new DIR", Short: "Begin a story: a small one that passes its flow",
		Long:    "New writes app.yaml and one flow into DIR, which it makes. It replaces no file.",
		Example: "  soundstage story new stories/door\n  soundstage story test stories/door",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.storyNew(args[0]) },
	}
}

func (a *app) storyNew(name string) error {
	const op = "story.new"
	if name == "" {
		return fault.New(fault.Invalid, op, "the folder's name is empty").WithHint("name a folder, such as stories/door")
	}
	dir := a.path(name)
	id := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(filepath.Base(dir)), "-"), "-")
	if id == "" {
		return fault.New(fault.Invalid, op, "no id of a story can be made of %q", filepath.Base(dir)).WithHint("give the folder a name with letters in it")
	}
	files := story.Skeleton(id)
	out := storyMade{Dir: name, ID: id, Files: slices.Sorted(maps.Keys(files))}
	for _, f := range out.Files {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f))); err == nil {
			return fault.New(fault.Conflict, op, "%q has a file %s already", name, f).WithHint("name another folder")
		}
	}
	for _, f := range out.Files {
		at := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return notWritten(err, op, filepath.Join(name, f))
		}
		if err := writeNew(at, []byte(files[f])); errors.Is(err, fs.ErrExist) {
			return fault.New(fault.Conflict, op, "%q has a file %s already", name, f).WithHint("name another folder")
		} else if err != nil {
			return notWritten(err, op, filepath.Join(name, f))
		}
	}
	return a.print(out, func(w io.Writer) { fmt.Fprintf(w, "story %s in %s\n", id, name) })
}

func (a *app) cmdStoryValidate() *cobra.Command {
	var root string
	c := &cobra.Command{
		Use: "validate APP", Short: "Check a story, its imports and its flows",
		Long: `Validate reads the whole story and says everything that is wrong with it, with file, line and
column. Errors keep it from running; warnings do not. APP is an app.yaml or its folder.`,
		Example: "  soundstage story validate stories/door",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			v, err := story.Validate(c.Context(), a.filesOf(args[0], root), a.storyApp(args[0]), a.storyRoot(root))
			if err != nil {
				return err
			}
			if err := a.print(v, func(w io.Writer) { writeValidation(w, args[0], v) }); err != nil || v.OK {
				return err
			}
			return fault.New(load.CodeInvalid, "story.validate", "the story %q has %s", args[0], count(len(v.Errors), "error")).WithHint("what the engine makes of a line: soundstage story explain FILE:LINE")
		},
	}
	rootFlag(c, &root)
	return c
}

func rootFlag(c *cobra.Command, root *string) {
	c.Flags().StringVar(root, "root", "", "the `folder` in which @library/name imports are found")
}

func (a *app) storyApp(name string) string { return filepath.ToSlash(a.path(name)) }

func (a *app) storyRoot(name string) string {
	if name == "" {
		return ""
	}
	return filepath.ToSlash(a.path(name))
}

func writeValidation(w io.Writer, name string, v story.Validation) {
	for _, list := range []struct {
		word string
		of   []story.Finding
	}{{"", v.Errors}, {"warning: ", v.Warnings}} {
		for _, f := range list.of {
			fmt.Fprintf(w, "%s:%d:%d: %s%s\n", f.File, f.Line, f.Column, list.word, f.Message)
		}
	}
	if v.OK {
		fmt.Fprintf(w, "%s: ok, %s, %s, %s\n", name, count(v.States, "state"), count(v.Flows, "flow"), count(len(v.Warnings), "warning"))
	}
}

func (a *app) cmdStoryExplain() *cobra.Command {
	var root, app string
	c := &cobra.Command{
		Use: "explain FILE:LINE", Short: "Say what the engine makes of a line",
		Long: `Explain says which state, arc, effect or value a line is, what it stands in, where it leads, what
it reads and what it writes, in the names of the whole story. The story is the nearest folder
with an app.yaml at or above FILE; a column behind the line, as findings have it, is left out. --app names another one, for a file that it imports.`,
		Example: "  soundstage story explain stories/door/app.yaml:17",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.storyExplain(c.Context(), args[0], app, root) },
	}
	c.Flags().StringVar(&app, "app", "", "the `story`, where it is not the one that FILE lies in")
	rootFlag(c, &root)
	return c
}

func (a *app) storyExplain(ctx context.Context, at, app, root string) error {
	const op = "story.explain"
	file, line := placeIn(at)
	if line < 1 {
		return fault.New(fault.Invalid, op, "%q names no line", at).WithHint("write FILE:LINE, such as stories/door/app.yaml:17")
	}
	name := a.path(file)
	if app == "" {
		for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
			if fileThere(filepath.Join(dir, "app.yaml")) {
				app = dir
				break
			}
			if dir == filepath.Dir(dir) {
				return fault.New(load.CodeNoFile, op, "no folder at or above %q has an app.yaml", file).WithHint("name the story with --app")
			}
		}
	}
	e, err := story.Explain(ctx, a.filesOf(app, root), a.storyApp(app), a.storyRoot(root), filepath.ToSlash(name), line)
	if err != nil {
		return err
	}
	return a.print(e, func(w io.Writer) { writeExplained(w, e) })
}

// placeIn is the file and the line of FILE:LINE, or of FILE:LINE:COLUMN, as findings have
// it; line 0 is none.
func placeIn(at string) (file string, line int) {
	m := regexp.MustCompile(`^(.+?):(\d+)(?::\d+:?)?$`).FindStringSubmatch(at)
	if m == nil {
		return at, 0
	}
	line, err := strconv.Atoi(m[2])
	if err != nil {
		return at, 0
	}
	return m[1], line
}

func writeExplained(w io.Writer, e story.Explained) {
	fmt.Fprintf(w, "%s:%d: %s\n", e.File, e.Line, e.Path)
	for i, p := range e.Inside {
		fmt.Fprintf(w, "%sin %s %s: %s\n", strings.Repeat("  ", i), p.Kind, p.Name, p.Does)
	}
	of := e.Parts
	if len(of) == 0 && len(e.Inside) > 0 { // it begins nothing: it is a part of this
		of = e.Inside[len(e.Inside)-1:]
	}
	for _, p := range of {
		fmt.Fprintf(w, "%s %s: %s\n", p.Kind, p.Name, p.Does)
		for _, row := range []struct{ word, text string }{
			{"import", p.Scope}, {"when", p.When}, {"target", p.Target}, {"reads", strings.Join(p.Reads, ", ")}, {"writes", strings.Join(p.Writes, ", ")},
		} {
			if row.text != "" {
				fmt.Fprintf(w, "  %-7s %s\n", row.word, row.text)
			}
		}
	}
	for _, f := range e.Findings {
		fmt.Fprintf(w, "finding: %s\n", f.Message)
	}
}

func (a *app) cmdStoryOpen() *cobra.Command {
	var stories string
	c := &cobra.Command{
		Use: "open DIR", Short: "Bind a folder as the studio's workspace for stories",
		Long: `Open lets story.write write in DIR, without a question, for the servers and runs of this studio
that name no workspace themselves. It is your consent; soundstage story close takes it back.`,
		Example: "  soundstage story open stories/door --stories-dir stories",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p := places{Workspace: a.path(args[0])}
			if stories != "" {
				p.Stories = a.path(stories)
			}
			for _, dir := range []string{p.Workspace, p.Stories} {
				if info, err := os.Stat(dir); dir != "" && (err != nil || !info.IsDir()) {
					return fault.New(story.CodeNoFolder, "story.open", "there is no folder %q", dir).WithHint("make it first, or begin a story: soundstage story new DIR")
				}
			}
			return a.bind(p, storyBound{Workspace: args[0], Stories: stories})
		},
	}
	c.Flags().StringVar(&stories, "stories-dir", "", "the `folder` of stories that may be read")
	return c
}

func (a *app) cmdStoryClose() *cobra.Command {
	return &cobra.Command{
		Use: "close", Short: "Take the studio's workspace for stories back", Args: cobra.NoArgs,
		Example: "  soundstage story close",
		RunE:    func(*cobra.Command, []string) error { return a.bind(places{}, storyBound{}) },
	}
}

func (a *app) bind(p places, out storyBound) error {
	dir, err := a.studioDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, stateDir), 0o755); err != nil {
		return notWritten(err, "story.open", stateDir)
	}
	if err := writeBound(dir, p); err != nil {
		return err
	}
	return a.print(out, func(w io.Writer) {
		if out.Workspace == "" {
			fmt.Fprintln(w, "no workspace is bound")
			return
		}
		fmt.Fprintf(w, "the workspace is %s\n", out.Workspace)
	})
}

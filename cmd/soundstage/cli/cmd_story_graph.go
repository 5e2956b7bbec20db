package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/graph"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
)

// storyGraph is what story graph prints with --json.
type storyGraph struct {
	Graph  graph.Graph     `json:"graph" jsonschema:"nodes and edges"`
	Rooms  []graph.Summary `json:"rooms" jsonschema:"the nearest first"`
	Detail *graph.Detail   `json:"detail,omitempty" jsonschema:"of the room that --room names"`
	Agents []graph.Agent   `json:"agents,omitempty" jsonschema:"the calls of models that this room makes"`
	Format string          `json:"format,omitempty" jsonschema:"of the file"`
	File   string          `json:"file,omitempty" jsonschema:"what was written"`
}

// drawing is what the flags of story graph say.
type drawing struct{ root, room, format, out string }

// drawings are the formats, and how files of theirs end.
var drawings = map[string]string{".svg": "svg", ".mmd": "mermaid", ".json": "json"}

func (a *app) cmdStoryGraph() *cobra.Command {
	var d drawing
	c := &cobra.Command{
		Use:   "graph DIR",
		Short: "Draw the rooms of a story and the ways between them",
		Long: `Graph draws the rooms of a story, the first on the left, and which intents lead from one to
another. With --room it draws the states within one room, and where they lead. DIR is a
story's folder or its app.yaml. A picture is SVG and needs nothing else; Mermaid is for
Markdown; JSON is the graph itself, for other programs. The same story gives the same bytes.`,
		Example: "  soundstage story graph stories/door\n  soundstage story graph stories/door -o door.svg\n  soundstage story graph stories/door --room hall --format json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.storyGraph(c.Context(), args[0], d) },
	}
	c.Flags().StringVar(&d.root, "root", "", "the `folder` in which @library/name imports are found")
	c.Flags().StringVar(&d.room, "room", "", "draw what is within this `room`")
	c.Flags().StringVar(&d.format, "format", "", "svg, mermaid or json (default: by the name of the file, or mermaid)")
	c.Flags().StringVarP(&d.out, "out", "o", "", "write to this `file`, and replace it if it is there")
	return c
}

func (a *app) storyGraph(ctx context.Context, name string, d drawing) error {
	format, err := d.kind()
	if err != nil {
		return err
	}
	out, err := a.graphOf(ctx, name, d)
	if err != nil {
		return err
	}
	text, err := drawn(out.Graph, format)
	if err != nil {
		return err
	}
	if d.out == "" {
		return a.print(out, func(w io.Writer) { fmt.Fprint(w, text) })
	}
	if ext := strings.ToLower(filepath.Ext(d.out)); ext == ".yaml" || ext == ".yml" {
		return fault.New(fault.Invalid, "story.graph", "%q would be written over as a file of a story", d.out).WithHint("end it in .svg, .mmd, .md or .json")
	}
	out.Format, out.File = format, d.out
	if err := replaceFile(a.path(d.out), []byte(text)); err != nil {
		return notWritten(err, "story.graph", d.out)
	}
	return a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "drew %d states and %d transitions to %s\n", len(out.Graph.Nodes), len(out.Graph.Edges), d.out)
	})
}

func (d drawing) kind() (string, error) {
	format := d.format
	if format == "" {
		format = drawings[strings.ToLower(filepath.Ext(d.out))]
	}
	if format == "" && d.out != "" && filepath.Ext(d.out) != ".md" {
		return "", fault.New(fault.Invalid, "story.graph", "the name of the file %q does not say what it is", d.out).WithHint("end it in .svg, .mmd, .md or .json, or give --format")
	}
	if format == "" {
		format = "mermaid"
	}
	if !slices.Contains([]string{"svg", "mermaid", "json"}, format) {
		return "", fault.New(fault.Invalid, "story.graph", "--format is %q", d.format).WithHint("give svg, mermaid or json")
	}
	return format, nil
}

// graphOf reads a story and what there is to say about it, or about one room.
func (a *app) graphOf(ctx context.Context, name string, d drawing) (storyGraph, error) {
	o := load.Options{Files: a.filesOf(name, d.root), App: filepath.ToSlash(a.path(name))}
	if d.root != "" {
		o.Root = filepath.ToSlash(a.path(d.root))
	}
	s, found, err := load.Load(ctx, o)
	if err != nil {
		return storyGraph{}, err
	}
	if s == nil {
		return storyGraph{}, fault.New(load.CodeInvalid, "story.graph", "%s: %s", name, firstError(found)).WithHint("see all that is wrong with soundstage story validate %s", name)
	}
	out := storyGraph{Graph: graph.Of(s), Rooms: graph.List(s)}
	if d.room == "" {
		return out, nil
	}
	detail, ok := graph.DetailOf(s, d.room)
	if !ok {
		var ids []string
		for _, r := range out.Rooms {
			ids = append(ids, r.ID)
		}
		return out, fault.New(fault.NotFound, "story.graph", "the story has no room %q", d.room).WithHint("its rooms are %s", strings.Join(ids, ", "))
	}
	out.Graph, _ = graph.Within(s, d.room)
	out.Agents, _ = graph.Agents(s, d.room)
	out.Detail = &detail
	return out, nil
}

func firstError(found []load.Finding) string {
	for _, f := range found {
		if f.Severity == load.Error {
			return f.String()
		}
	}
	return "it cannot be read"
}

func drawn(g graph.Graph, format string) (string, error) {
	switch format {
	case "svg":
		return g.SVG()
	case "mermaid":
		return g.Mermaid(), nil
	}
	raw, err := json.MarshalIndent(g, "", "  ")
	return string(raw) + "\n", err
}

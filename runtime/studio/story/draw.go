package story

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/graph"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// GraphIn says which part of a story is drawn.
type GraphIn struct {
	Dir    string `json:"dir,omitempty" jsonschema:"the story's folder: below the workspace or the stories folder; the workspace if left out"`
	Room   string `json:"room,omitempty" jsonschema:"one room: what it does, takes, reads and writes; all rooms if left out"`
	Agents bool   `json:"agents,omitempty" jsonschema:"with room: the models that it calls, and what a cassette needs to answer them"`
	Graph  bool   `json:"graph,omitempty" jsonschema:"nodes and edges (graph.v1) as well: of the rooms, or of the states in room"`
}

// GraphOut is a story as rooms and ways.
type GraphOut struct {
	OK     bool            `json:"ok"`
	Mode   string          `json:"mode"` // rooms, detail, agents
	Rooms  []graph.Summary `json:"rooms,omitempty"`
	Detail *graph.Detail   `json:"detail,omitempty"`
	Agents []graph.Agent   `json:"agents,omitempty"`
	Graph  *graph.Graph    `json:"graph,omitempty"`
}

func graphTool(d Deps) tool.Tool {
	return tool.New(d.spec(tool.Spec{
		ID: "story.graph", Title: "See how a story hangs together", Inline: result.MaxInlineRead,
		Summary:     "Show the rooms of a story, the nearest to its beginning first; or one room in detail; or the models that a room calls.",
		Description: "graph gives nodes and edges as well, whose ids stay the same as long as the story does.",
	}), func(ctx context.Context, _ tool.Call, in GraphIn) (rep tool.Reply[GraphOut], err error) {
		err = d.in(ctx, "story.graph", in.Dir, func(p Place, dir string) error {
			rep.Out, err = drawn(ctx, p, dir, in)
			return err
		})
		return rep, err
	})
}

func drawn(ctx context.Context, p Place, dir string, in GraphIn) (GraphOut, error) {
	const op = "story.graph"
	s, err := loaded(ctx, op, p.Disk, dir, p.Stories)
	if err != nil {
		return GraphOut{}, err
	}
	out, ok := GraphOut{OK: true, Mode: "rooms"}, true
	g := graph.Of(s)
	switch {
	case in.Room == "":
		out.Rooms = graph.List(s)
	case in.Agents:
		out.Mode = "agents"
		out.Agents, ok = graph.Agents(s, in.Room)
	default:
		var detail graph.Detail
		detail, ok = graph.DetailOf(s, in.Room)
		out.Mode, out.Detail = "detail", &detail
	}
	if in.Room != "" && ok {
		g, ok = graph.Within(s, in.Room)
	}
	if !ok {
		var names []string
		for _, r := range graph.List(s) {
			names = append(names, r.ID)
		}
		return GraphOut{}, unknown(op, "room", in.Room, names)
	}
	if in.Graph {
		out.Graph = &g
	}
	return out, nil
}

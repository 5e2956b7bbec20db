// Package graph is a story as rooms and ways: for tools and drawings.
//
// It is a part of the story studio above program. A graph names things of the story and
// knows nothing of how it is drawn; SVG and Mermaid are made of it alone. It runs nothing,
// and the same story gives the same bytes.
package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// CodeSize is that of a graph with more in it than a picture can hold.
const CodeSize fault.Code = "STORY_GRAPH_SIZE"

// Schema names the shape of a Graph.
const Schema = "graph.v1"

// Unreachable is the distance of a room that no way leads to.
const Unreachable = 1_000_000_000

// The kinds of graphs.
const (
	Rooms = "room-state-machine" // all rooms of a story
	Room  = "room"               // the states within one, and the rooms that they lead to
)

// A Graph is nodes and edges, sorted.
type Graph struct {
	Schema   string  `json:"schema"`
	ID       string  `json:"graph_id"`
	Kind     string  `json:"kind"`
	Directed bool    `json:"directed"`
	Cyclic   bool    `json:"cyclic"`
	Layout   Layout  `json:"layout_hints"`
	Nodes    []Node  `json:"nodes"`
	Edges    []Edge  `json:"edges"`
	Groups   []Group `json:"groups"`
	follows  []Edge  // what no intent takes: for drawings, and no part of the shape
}

// Layout is how a graph is best drawn.
type Layout struct {
	Default string `json:"default"`
	RankDir string `json:"rankdir"`
}

// A Node is a state.
type Node struct {
	ID    string    `json:"id"` // "state:bar"
	Kind  string    `json:"kind"`
	Label string    `json:"label"`
	Ref   Ref       `json:"ref"`
	Group string    `json:"group,omitempty"`
	Attrs NodeAttrs `json:"attrs"`
}

// A Ref is what of a story a node stands for.
type Ref struct {
	Kind string `json:"kind"`
	Ref  string `json:"ref"` // a path
}

// NodeAttrs are facts about a state.
type NodeAttrs struct {
	HasAgent    bool `json:"has_agent"`
	Distance    int  `json:"distance"`
	Unreachable bool `json:"unreachable,omitempty"`
	Initial     bool `json:"initial,omitempty"`
	Terminal    bool `json:"terminal,omitempty"`
	Import      bool `json:"import,omitempty"`
	Outside     bool `json:"outside,omitempty"` // of the room that is shown
}

// An Edge is a transition.
type Edge struct {
	ID     string    `json:"id"` // "transition:from:intent:to:path:index"
	Kind   string    `json:"kind"`
	Source string    `json:"source"`
	Target string    `json:"target"`
	Label  string    `json:"label"` // the intent
	Attrs  EdgeAttrs `json:"attrs"`
}

// EdgeAttrs are facts about a transition.
type EdgeAttrs struct {
	Intent   string `json:"intent"`
	Source   string `json:"source_ref"` // the state that has it
	Target   string `json:"target_ref"`
	Index    int    `json:"transition_index"`
	When     string `json:"when,omitempty"`
	Fallback bool   `json:"fallback,omitempty"` // the way to the landing that every room has
}

// A Group is a room.
type Group struct {
	ID    string `json:"id"` // "room:bar"
	Kind  string `json:"kind"`
	Label string `json:"label"`
}

// Of is the graph of a story's rooms.
func Of(s *program.Story) Graph {
	g := empty(Rooms, s.ID)
	far := distances(s)
	for _, room := range rooms(s) {
		g.Nodes = append(g.Nodes, node(s, room, far))
		g.Groups = append(g.Groups, Group{ID: "room:" + room.Path, Kind: "room", Label: label(room)})
		g.Edges = append(g.Edges, ways(s, room, top)...)
		g.follows = append(g.follows, follows(s, room, top)...)
	}
	g.close()
	return g
}

// Within is the graph of the states in one room. The rooms that they lead to stand
// outside. ok is false where the story has no such room.
func Within(s *program.Story, room string) (g Graph, ok bool) {
	st := s.States[top(room)]
	if st == nil || !isRoom(st) {
		return Graph{}, false
	}
	g = empty(Room, s.ID+":"+st.Path)
	far := distances(s)
	inside := func(path string) string {
		if top(path) == st.Path {
			return leafOf(s, path)
		}
		return top(path)
	}
	first := leafOf(s, st.Path)
	outside := map[string]bool{}
	walk(st, func(in *program.State) {
		if len(in.Children) == 0 {
			n := node(s, in, far)
			n.Group, n.Attrs.Initial = "room:"+st.Path, in.Path == first
			g.Nodes = append(g.Nodes, n)
		}
	})
	g.Edges, g.follows = ways(s, st, inside), follows(s, st, inside)
	for _, e := range g.Edges {
		to := strings.TrimPrefix(e.Target, "state:")
		if top(to) != st.Path && !outside[to] {
			outside[to] = true
			n := node(s, s.States[to], far)
			n.Attrs.Outside, n.Attrs.Initial = true, false
			g.Nodes = append(g.Nodes, n)
		}
	}
	g.Groups = append(g.Groups, Group{ID: "room:" + st.Path, Kind: "room", Label: label(st)})
	g.close()
	return g, true
}

func empty(kind, id string) Graph {
	return Graph{
		Schema: Schema, ID: id, Kind: kind, Directed: true, Layout: Layout{Default: "layered", RankDir: "LR"},
		Nodes: []Node{}, Edges: []Edge{}, Groups: []Group{},
	}
}

// close sorts a graph, and says whether it goes round.
func (g *Graph) close() {
	slices.SortFunc(g.Nodes, func(a, b Node) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(g.Edges, func(a, b Edge) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Target, b.Target), strings.Compare(a.Label, b.Label), strings.Compare(a.ID, b.ID))
	})
	slices.SortFunc(g.Groups, func(a, b Group) int { return strings.Compare(a.ID, b.ID) })
	next, open, done := map[string][]string{}, map[string]bool{}, map[string]bool{}
	for _, e := range g.Edges {
		next[e.Source] = append(next[e.Source], e.Target)
	}
	var round func(id string) bool
	round = func(id string) bool {
		if open[id] || done[id] {
			return open[id]
		}
		open[id] = true
		defer func() { open[id], done[id] = false, true }()
		return slices.ContainsFunc(next[id], round)
	}
	g.Cyclic = slices.ContainsFunc(g.Nodes, func(n Node) bool { return round(n.ID) })
}

func node(s *program.Story, st *program.State, far map[string]int) Node {
	n := Node{
		ID: "state:" + st.Path, Kind: "state", Label: label(st), Ref: Ref{Kind: "state", Ref: st.Path}, Group: "room:" + top(st.Path),
		Attrs: NodeAttrs{HasAgent: hasAgent(st), Distance: Unreachable, Initial: st.Path == top(s.Root), Terminal: st.Terminal, Import: st.Wrapper},
	}
	if d, ok := far[top(st.Path)]; ok {
		n.Attrs.Distance = d
	}
	n.Attrs.Unreachable = n.Attrs.Distance == Unreachable
	return n
}

// label is what a state calls itself.
func label(st *program.State) string {
	if d := strings.TrimSpace(st.Description); d != "" {
		return d
	}
	return st.Path
}

// ways are the transitions of a state and all below it, between what at makes of paths.
func ways(s *program.Story, st *program.State, at func(string) string) []Edge {
	var all []Edge
	walk(st, func(from *program.State) {
		for _, on := range from.On {
			for i, a := range on.Arcs {
				to := a.Target.Path
				if to == "" || s.States[to] == nil || !isRoom(s.States[top(to)]) {
					continue
				}
				source, target := at(from.Path), at(to)
				e := Edge{
					ID: fmt.Sprintf("transition:%s:%s:%s:%s:%d", source, on.Intent, target, from.Path, i), Kind: "transition",
					Source: "state:" + source, Target: "state:" + target, Label: on.Intent,
					Attrs: EdgeAttrs{Intent: on.Intent, Source: from.Path, Target: to, Index: i, Fallback: isFallback(s, from, on)},
				}
				if a.When != nil {
					e.Attrs.When = a.When.Source()
				}
				all = append(all, e)
			}
		}
	})
	return all
}

// follows are where a state and all below it lead without an intent: when a call fails, a
// job ends, or the time is over.
func follows(s *program.Story, st *program.State, at func(string) string) []Edge {
	var all []Edge
	add := func(from *program.State, t *program.Target, label string) {
		if t == nil || t.Path == "" || s.States[t.Path] == nil || !isRoom(s.States[top(t.Path)]) {
			return
		}
		all = append(all, Edge{Source: "state:" + at(from.Path), Target: "state:" + at(t.Path), Label: label})
	}
	walk(st, func(from *program.State) {
		effects(from, func(e *program.Effect, _ int) {
			add(from, e.OnError, "on error")
			add(from, e.Target, "when it ends")
		})
		if from.Timeout != nil {
			add(from, &from.Timeout.Target, "when time is over")
		}
	})
	return all
}

// isFallback reports the way to the landing that load gave a state: it stands where that of
// the landing stands.
func isFallback(s *program.Story, from *program.State, on program.On) bool {
	landing := s.States[s.Routing.FallbackState]
	return landing != nil && from != landing && on.Intent == s.Routing.FallbackIntent &&
		slices.ContainsFunc(landing.On, func(o program.On) bool { return o.Intent == on.Intent && o.Pos == on.Pos })
}

// walk visits a state and all below it, in the author's order.
func walk(st *program.State, visit func(*program.State)) {
	visit(st)
	for _, c := range st.Children {
		walk(c, visit)
	}
}

// top is the room of a path.
func top(path string) string {
	room, _, _ := strings.Cut(path, ".")
	return room
}

// leafOf is where a story stands that goes to path, as far as the manifest says.
func leafOf(s *program.Story, path string) string {
	for range 64 {
		st := s.States[path]
		if st == nil || len(st.Children) == 0 {
			return path
		}
		to := path + "." + st.Children[0].Name
		if st.Initial != nil && st.Initial.Template == nil && s.States[path+"."+st.Initial.Name] != nil {
			to = path + "." + st.Initial.Name
		}
		path = to
	}
	return path
}

// isRoom reports a state at the top that is no exit.
func isRoom(st *program.State) bool {
	return st != nil && st.Parent == nil && !strings.HasPrefix(st.Path, "__exit__")
}

// rooms are all rooms, sorted.
func rooms(s *program.Story) []*program.State {
	var all []*program.State
	for _, st := range s.Tops {
		if isRoom(st) {
			all = append(all, st)
		}
	}
	slices.SortFunc(all, func(a, b *program.State) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// distances are how many transitions lead from the first room to each that can be reached.
func distances(s *program.Story) map[string]int {
	first := s.States[top(s.Root)]
	if !isRoom(first) {
		return nil
	}
	far := map[string]int{first.Path: 0}
	for queue := []*program.State{first}; len(queue) > 0; queue = queue[1:] {
		for _, e := range ways(s, queue[0], top) {
			room := top(e.Attrs.Target)
			if _, seen := far[room]; !seen {
				far[room] = far[queue[0].Path] + 1
				queue = append(queue, s.States[room])
			}
		}
	}
	return far
}

func hasAgent(st *program.State) bool {
	found := false
	walk(st, func(in *program.State) {
		effects(in, func(e *program.Effect, _ int) { found = found || isAgent(e) })
	})
	return found
}

func isAgent(e *program.Effect) bool { return strings.HasPrefix(e.Invoke, "host.agent.") }

// effects visits the effects of a state with those within them, each with the index of the
// one that stands in the list.
func effects(st *program.State, visit func(e *program.Effect, index int)) {
	var each func(list []*program.Effect, index int)
	each = func(list []*program.Effect, index int) {
		for i, e := range list {
			at := index
			if at < 0 {
				at = i
			}
			visit(e, at)
			each(e.Effects, at)
			each(e.OnComplete, at)
		}
	}
	each(st.OnEnter, -1)
	for _, on := range st.On {
		for _, a := range on.Arcs {
			each(a.Effects, -1)
		}
	}
}

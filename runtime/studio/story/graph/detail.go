package graph

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/view"
)

// A Summary is a room in the list of all.
type Summary struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	Distance int    `json:"distance"` // transitions from the first room
	HasAgent bool   `json:"has_agent"`
}

// List is the rooms of a story, the nearest first.
func List(s *program.Story) []Summary {
	far := distances(s)
	list := []Summary{}
	for _, st := range rooms(s) {
		n := node(s, st, far)
		list = append(list, Summary{ID: st.Path, Label: n.Label, Distance: n.Attrs.Distance, HasAgent: n.Attrs.HasAgent})
	}
	slices.SortStableFunc(list, func(a, b Summary) int { return cmp.Compare(a.Distance, b.Distance) })
	return list
}

// A Detail is all there is to say about a room.
type Detail struct {
	ID          string       `json:"id"`
	Label       string       `json:"label"`
	Distance    int          `json:"distance"`
	OnEnter     []Effect     `json:"on_enter"`
	Keys        []Key        `json:"world_keys"`
	Intents     []Intent     `json:"intents"`
	Transitions []Transition `json:"transitions"`
	View        []Shown      `json:"view"`
	Source      Source       `json:"source_ref"`
}

// An Effect is a step of on_enter.
type Effect struct {
	Kind   string   `json:"kind"` // invoke, set, say, emit_intent, increment, other
	Invoke string   `json:"invoke,omitempty"`
	ID     string   `json:"id,omitempty"`
	When   string   `json:"when,omitempty"`
	Bind   []string `json:"bind,omitempty"`
	Sets   []string `json:"sets,omitempty"`
}

// A Key is a key of the world that a room deals with.
type Key struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Direction string `json:"direction"` // read, write, readwrite
}

// An Intent is what a room takes.
type Intent struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
}

// A Transition is a way out of a room or within it.
type Transition struct {
	Intent string `json:"intent"`
	Target string `json:"target"`
	When   string `json:"when,omitempty"`
}

// A Shown is an element of a view, as it was written.
type Shown struct {
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
	When string `json:"when,omitempty"`
}

// A Source is where a room stands.
type Source struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

// DetailOf is the detail of a room. ok is false where the story has no such room.
func DetailOf(s *program.Story, room string) (d Detail, ok bool) {
	st := s.States[top(room)]
	if !isRoom(st) {
		return Detail{}, false
	}
	n := node(s, st, distances(s))
	d = Detail{
		ID: st.Path, Label: n.Label, Distance: n.Attrs.Distance, OnEnter: []Effect{}, Keys: keys(s, st), Intents: []Intent{},
		Transitions: []Transition{}, View: shown(st.View), Source: Source{Path: st.Pos.File, Line: st.Pos.Line},
	}
	for _, e := range st.OnEnter {
		d.OnEnter = append(d.OnEnter, effect(e))
	}
	for _, on := range st.On {
		in := Intent{Name: on.Intent}
		if def := definition(s, st, on.Intent); def != nil {
			in.Title, in.Description = def.Title, def.Description
		}
		d.Intents = append(d.Intents, in)
	}
	walk(st, func(in *program.State) {
		for _, on := range in.On {
			for _, a := range on.Arcs {
				t := Transition{Intent: on.Intent, Target: a.Target.Path}
				if t.Target == "" {
					t.Target = a.Target.Raw
				}
				if a.When != nil {
					t.When = a.When.Source()
				}
				d.Transitions = append(d.Transitions, t)
			}
		}
	})
	slices.SortFunc(d.Intents, func(a, b Intent) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(d.Transitions, func(a, b Transition) int {
		return cmp.Or(strings.Compare(a.Intent, b.Intent), strings.Compare(a.Target, b.Target))
	})
	return d, true
}

// definition is what an intent is in a state.
func definition(s *program.Story, st *program.State, name string) *program.Intent {
	for up := st; up != nil; up = up.Parent {
		if in := up.Intents[name]; in != nil {
			return in
		}
	}
	return s.Intents[name]
}

func effect(e *program.Effect) Effect {
	out := Effect{Kind: string(e.Kind), Invoke: e.Invoke, ID: e.ID}
	switch {
	case e.Invoke != "":
		out.Kind = string(program.Invoke)
	case e.Kind == program.Nothing && e.EmitIntent != nil:
		out.Kind = "emit_intent"
	case e.Kind == program.Nothing:
		out.Kind = "other"
	}
	if e.When != nil {
		out.When = e.When.Source()
	}
	for _, b := range e.Bind {
		out.Bind = append(out.Bind, b.Key)
	}
	for _, a := range e.Set {
		out.Sets = append(out.Sets, a.Key)
	}
	return out
}

// keys are the declared keys that a room reads and writes.
func keys(s *program.Story, st *program.State) []Key {
	reads, writes := map[string]bool{}, map[string]bool{}
	walk(st, func(in *program.State) {
		scope := in.Scope
		read := func(names []string) {
			for _, name := range names {
				if bare, ok := strings.CutPrefix(name, expr.World+"."); ok {
					if scope != nil {
						bare = scope.Key(bare)
					}
					reads[bare] = true
				}
			}
		}
		if in.View != nil {
			read(in.View.Reads())
		}
		for _, on := range in.On {
			for _, a := range on.Arcs {
				readsOf(read, a.When)
				if a.View != nil {
					read(a.View.Reads())
				}
			}
		}
		effects(in, func(e *program.Effect, _ int) {
			readsOf(read, e.When)
			for _, t := range []*expr.Template{e.Say, e.EmitIntent, e.IDTemplate} {
				if t != nil {
					read(t.Reads())
				}
			}
			for _, a := range e.Set {
				writes[a.Key] = true
				readTree(read, a.Value)
			}
			for _, c := range e.Increment {
				reads[c.Key], writes[c.Key] = true, true
			}
			for _, b := range e.Bind {
				writes[b.Key] = true
			}
			readTree(read, e.With)
			readTree(read, e.Slots)
		})
	})
	list := []Key{}
	for _, v := range s.World {
		word := map[[2]bool]string{{true, false}: "read", {false, true}: "write", {true, true}: "readwrite"}[[2]bool{reads[v.Name], writes[v.Name]}]
		if word != "" {
			list = append(list, Key{Name: v.Name, Type: v.Type, Direction: word})
		}
	}
	return list
}

func readsOf(read func([]string), e *expr.Expr) {
	if e != nil {
		read(e.Reads())
	}
}

func readTree(read func([]string), t *program.Tree) {
	if t == nil {
		return
	}
	if t.Template != nil {
		read(t.Template.Reads())
	}
	for _, it := range t.List {
		readTree(read, it)
	}
	for _, it := range t.Map {
		readTree(read, it)
	}
}

// shown is a view as it was written.
func shown(v *view.View) []Shown {
	list := []Shown{}
	if v == nil {
		return list
	}
	if text := v.Page.Source(); text != "" {
		return append(list, Shown{Kind: "template", Text: text})
	}
	add := func(elements []view.Element) {
		for _, e := range elements {
			sh := Shown{Kind: e.Body.Kind(), Text: strings.Join(view.Sources(e.Body), "\n")}
			if e.When.Expr != nil {
				sh.When = e.When.Expr.Source()
			}
			list = append(list, sh)
		}
	}
	add(v.Elements)
	for _, b := range v.Blocks {
		add(b.Elements)
	}
	return list
}

// An Agent is a call of a model that a room makes, and what a cassette needs to answer it.
type Agent struct {
	Kind        string   `json:"kind"` // "host.agent.decide"
	State       string   `json:"state"`
	Prompt      string   `json:"prompt_path,omitempty"`
	Schema      string   `json:"output_schema,omitempty"`
	Cassette    Cassette `json:"cassette_key"`
	EffectIndex int      `json:"effect_index"` // in its list
}

// A Cassette is what an episode has to match.
type Cassette struct {
	Handler string `json:"handler"`
	Phase   string `json:"phase"`
	Schema  string `json:"schema_name,omitempty"`
	Call    string `json:"call,omitempty"`
}

// Agents are the calls of models that a room makes. ok is false where the story has no
// such room.
func Agents(s *program.Story, room string) (list []Agent, ok bool) {
	st := s.States[top(room)]
	if !isRoom(st) {
		return nil, false
	}
	list = []Agent{}
	walk(st, func(in *program.State) {
		effects(in, func(e *program.Effect, i int) {
			if !isAgent(e) {
				return
			}
			a := Agent{Kind: e.Invoke, State: in.Path, Prompt: argument(e, "prompt_path"), Schema: argument(e, "schema"), EffectIndex: i}
			if a.Prompt == "" {
				a.Prompt = argument(e, "prompt")
			}
			a.Cassette = Cassette{Handler: e.Invoke, Phase: st.Path, Call: e.ID}
			if a.Schema != "" {
				a.Cassette.Schema = path.Base(a.Schema)
			}
			list = append(list, a)
		})
	})
	return list, true
}

// argument is a text among the arguments of a call, as it was written.
func argument(e *program.Effect, name string) string {
	if e.With == nil {
		return ""
	}
	t := e.With.Map[name]
	switch {
	case t == nil:
		return ""
	case t.Template != nil:
		return strings.TrimSpace(t.Template.Source())
	}
	return strings.TrimSpace(t.Literal.Text())
}

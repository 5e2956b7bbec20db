// Package program is a story that has been read, checked and put together: what the
// machine runs, the graph draws and the tests drive.
//
// It is part of the story studio, made by load and changed by nobody. Imports are scopes
// here and not renamed text: a state keeps the words of its own file, and its Scope says
// what they mean in the whole story. It reads no file and runs nothing.
package program

import (
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/view"
)

// A Pos is a place in a file of a story.
type Pos = source.Pos

// A Story is one story, whole.
type Story struct {
	ID, Version, Title, Author string
	Context                    string // grounding of agents
	Dir                        string // absolute
	Digest                     string // of all files that it was read from

	Scope      *Scope             // of the root file; imports hang below it
	World      []Var              // folded names, sorted
	Root       string             // path of the initial state
	States     map[string]*State  // by path: "bar.dark"
	Tops       []*State           // rooms, in the author's order; imports behind them
	Intents    map[string]*Intent // the library, by folded name
	Agents     map[string]*Agent  // by folded name
	Hosts      []string           // allowed handlers; empty allows all
	Interfaces map[string]*Interface
	Decider    *Decider
	OffPath    *OffPath
	Routing    Routing
	Meta       []*Meta
	Plugins    map[string]*Plugin   // "agent.local": what runs agents
	Providers  map[string]*Provider // sets of a model and how hard it thinks
	Proposals  map[string]*Proposal
	Prompts    Prompts
	Exits      map[string]*Exit // that the story declares for whoever imports it
	Exported   []string         // intents that an importer may lift
}

// A Scope is what the words of one file mean in the whole story.
type Scope struct {
	Parent  *Scope
	Alias   string            // "" for the root
	App     string            // absolute name of the file
	Prefix  string            // "bf__", "frontier__bandits__"; "" for the root
	Path    string            // of the wrapper state; "" for the root
	Dir     string            // absolute folder of the file: prompts, views, scripts stand below it
	Keys    map[string]string // world key here → folded key; others mean themselves
	Intents map[string]string // intent here → folded intent
	Agents  map[string]string
	Depth   int
}

// Beside is the path that raw, a target that begins with .., means from the state that
// owns it: each .. is one level up, and above the top is the top.
func (s *State) Beside(raw string) string {
	parts := strings.Split(s.Path, ".")
	for seg := range strings.SplitSeq(raw, "/") {
		switch seg {
		case "..":
			parts = parts[:max(len(parts)-1, 0)]
		case ".", "":
		default:
			parts = append(parts, seg)
		}
	}
	return strings.Join(parts, ".")
}

// Key is a world key's folded name.
func (s *Scope) Key(name string) string {
	if to, ok := s.Keys[name]; ok {
		return to
	}
	return name
}

// Intent is an intent's folded name.
func (s *Scope) Intent(name string) string {
	if to, ok := s.Intents[name]; ok {
		return to
	}
	return name
}

// Agent is an agent's folded name.
func (s *Scope) Agent(name string) string {
	if to, ok := s.Agents[name]; ok {
		return to
	}
	return name
}

// A Var is a key of the world.
type Var struct {
	Name    string // folded
	Type    string // string, int, float, bool, enum, list, map, any; "" where it was inferred from nothing
	Default value.Value
	Values  []string
	Scope   *Scope
	Pos     Pos
}

// A StateKind is how a state has children.
type StateKind string

// The kinds of states.
const (
	Atomic   StateKind = "atomic"
	Compound StateKind = "compound"
	Parallel StateKind = "parallel"
)

// A State is a place of the machine.
type State struct {
	Path        string // "bf.idle"
	Name        string
	Parent      *State
	Children    []*State // in the author's order
	Kind        StateKind
	Initial     *Initial // of a compound state
	Mode        string   // "conversational" or ""
	Description string
	Terminal    bool
	Decider     string // "", human, llm
	WriteMode   string // "", open, read_only

	On      []On // in the author's order; "*" is the wildcard
	OnEnter []*Effect
	Intents map[string]*Intent // of its own, by folded name
	View    *view.View         // nil: none

	DefaultIntent string // folded, like all names below
	RelevantWorld []string
	RelevantSlots []string
	Footer        *expr.Template
	Timeout       *Timeout
	OffRamp       *OffRamp
	Menu          []string
	Contextual    *Contextual

	Scope   *Scope
	Wrapper bool              // stands for an import
	Aliases map[string]string // intent here → folded, where an import renamed it: what a person, a model and emit_intent may say
	Pos     Pos
}

// Initial is the child that a compound state begins in: a name, or a template of one.
type Initial struct {
	Name     string
	Template *expr.Template // nil for a plain name
	Pos      Pos
}

// On is what a state does on an intent: the first arc that holds.
type On struct {
	Intent string // folded; "*"
	Bare   string // as it stands in the file
	Arcs   []*Arc
	Pos    Pos
}

// An Arc is one transition.
type Arc struct {
	Target  Target
	When    *expr.Expr // nil: always
	Default bool
	Effects []*Effect
	Hint    string // guard_hint
	View    *view.View
	Emit    []string
	History bool   // push_history
	Scope   *Scope // of its words; another than its state's where it is the way to a fallback
	Pos     Pos
}

// A Target is where an arc, a redirect or a timeout leads.
type Target struct {
	Raw      string         // as written; "" and "." stay
	Path     string         // resolved; "" where it stays or is a template
	Template *expr.Template // of a target that is rendered when a person takes it: a page
	Small    *expr.Template // the same, as an effect renders it where an intent was emitted; nil where it is no such template
	Exit     string         // of "@exit:name", which is resolved by the importer
	Self     bool           // names its own state: on_enter runs again
	Pos      Pos
}

// An EffectKind is the one thing that an effect does.
type EffectKind string

// The kinds of effects; an effect without any only emits.
const (
	Set       EffectKind = "set"
	Increment EffectKind = "increment"
	Say       EffectKind = "say"
	Invoke    EffectKind = "invoke"
	Nothing   EffectKind = ""
)

// An Effect is one step of an arc or of on_enter.
type Effect struct {
	Kind       EffectKind
	When       *expr.Expr
	Set        []Assign // sorted by key
	Increment  []Count  // sorted by key
	Say        *expr.Template
	Invoke     string         // the handler, bound: "host.git.commit"
	RawInvoke  string         // as written: "iface.vcs.commit"
	ID         string         // the call's, for stubs
	IDTemplate *expr.Template // of an id that is rendered when the call is made
	With       *Tree          // arguments
	Bind       []Bind         // sorted by key
	OnError    *Target
	Emit       []string // event names, for parallel regions
	Background bool
	Once       bool
	OnComplete []*Effect
	Target     *Target // only in on_complete
	EmitIntent *expr.Template
	EmitStatic string // the name where EmitIntent is no template
	Slots      *Tree
	Effects    []*Effect // nested, under one when
	Agent      string    // plugin alias
	Selection  *Tree
	Scope      *Scope
	Pos        Pos
}

// An Assign sets a key of the world.
type Assign struct {
	Key   string // folded
	Bare  string // as written
	Value *Tree
	Pos   Pos
}

// A Count adds to a key.
type Count struct {
	Key string
	By  int64
	Pos Pos
}

// A Bind puts a part of a call's result into the world.
type Bind struct {
	Key      string // folded
	Path     string // dotted with [N]; "" where Template is set
	Template *expr.Template
	Pos      Pos
}

// A Tree is a value with templates in it: rendered leaf by leaf.
type Tree struct {
	Template *expr.Template // a text with {{ }}
	Literal  value.Value    // anything without
	List     []*Tree
	Map      map[string]*Tree
	Kind     TreeKind
	Pos      Pos
}

// A TreeKind says which part of a Tree counts.
type TreeKind byte

// The kinds of trees.
const (
	TreeLiteral TreeKind = iota
	TreeTemplate
	TreeList
	TreeMap
)

// An Intent is something a person can want.
type Intent struct {
	Name        string // folded
	Bare        string
	Title       string
	Description string
	Examples    []string
	Synonyms    []string // phrases, or templates with {slot}
	Priority    int
	Hidden      bool
	Slots       map[string]*Slot
	SlotOrder   []string // in the author's order
	Scope       *Scope
	Pos         Pos
}

// A Slot is a value that an intent takes.
type Slot struct {
	Name        string
	Type        string
	Required    bool
	Default     value.Value
	HasDefault  bool
	Values      []string
	Description string
	Examples    []string
	FormatHint  string
	Prompt      string
	Validator   string
	Format      string
	Synonyms    map[string][]string
	Pos         Pos
}

// A Timeout leaves a state by itself.
type Timeout struct {
	After  time.Duration
	Target Target
	Pos    Pos
}

// An OffRamp answers what fits no intent.
type OffRamp struct {
	Agent, Persona, Banner string
	Pos                    Pos
}

// A Contextual is contextual routing of a state.
type Contextual struct {
	Enabled                          bool
	HelpChat, RoomChat, MetaChat     string
	PlanPath, PlanAccept, PlanRefine string
	Pos                              Pos
}

// An Agent is a model with a task.
type Agent struct {
	Name, Bare, Prompt, PromptPath, Model, Cwd, Effort, Provider string
	Tools                                                        []string // "host.Read"
	Bash                                                         *Bash    // nil: nothing is said
	Inherit                                                      bool     // inherit_claude_default
	External                                                     bool     // acts on the world outside, as said or as its tools say
	Scope                                                        *Scope
	Pos                                                          Pos
}

// A Bash is what an agent may run: nothing that writes, some commands, or anything within
// one folder.
type Bash struct {
	ReadOnly bool
	Commands []string
	Folder   string
}

// A Plugin is what runs agents.
type Plugin struct {
	Name, Kind, Command, Endpoint, Tool, Model, ServerBin string
	Args                                                  []string
	Env, Headers                                          map[string]string // as written: ${NAME} is not filled in
	Grammar                                               bool
	Port                                                  int
	Pos                                                   Pos
}

// A Provider is a model, and how hard it thinks.
type Provider struct {
	Name, Model, Effort string
	Env                 map[string]string // as written
	Pos                 Pos
}

// Prompts are where prompts are looked for.
type Prompts struct {
	Shared  []string
	Overlay string
}

// A Proposal is a kind of thing that is drafted, looked at and then done. Package proposal
// says how one lives.
type Proposal struct {
	Name           string
	Schema         map[string]string         // field to string, int, number, bool, list or map
	Views          map[string]*expr.Template // by status
	Draft, Refine  string                    // prompts
	Execute        *Effect                   // nil: none
	Repeatable     bool
	OnSuccess      string     // stay, back, or a state
	AutoAccept     *expr.Expr // over proposal, world and slots; nil: never
	RequireConfirm bool
	Scope          *Scope
	Pos            Pos
}

// An Interface is a set of operations that a handler is bound to.
type Interface struct {
	Name        string // folded
	Description string
	Operations  []string
	Default     string
	Binding     string // what holds, after importers had their say
	Scope       *Scope
	Pos         Pos
}

// A Decider decides at gates.
type Decider struct {
	Agent, Schema, Prompt string
	Threshold             float64
	Pos                   Pos
}

// OffPath is a free conversation beside the story.
type OffPath struct {
	Trigger, Banner, Return, Persona, Agent string
	Pos                                     Pos
}

// A Meta is a side mode: group.verb.
type Meta struct {
	Name, Trigger, Group, Label, Banner, Agent, Cwd string
	Message, Intent                                 string // of its return
	Tools                                           []string
	Default, Persist                                bool
	Pos                                             Pos
}

// An Exit is a way out that an importer maps.
type Exit struct {
	Name, Description string
	Requires          []string
	Pos               Pos
}

// Routing is how free text finds an intent.
type Routing struct {
	Enabled        bool    // true where nothing is said
	High, Mid      float64 // .80, .65
	CacheEnabled   bool
	CacheMaxAge    time.Duration
	CacheCap       int
	CacheTrim      float64
	Strikes        int
	Stopwords      []string
	ExtractOnMiss  bool
	ExtractAgent   string
	FallbackState  string // canonical landing
	FallbackIntent string
	Pos            Pos
}

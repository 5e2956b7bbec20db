package load_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// A town takes in an inn, and the inn a cellar, twice removed.
var town = files{
	"/s/app.yaml": `
app: { id: town }
world: { gold: 5, mood: { type: string, default: "" } }
intents: { go_in: { title: In } }
root: square
hosts: [ host.bell, host.agent.ask ]
imports:
  inn:
    source: ../inn
    world_in: { purse: "{{ world.gold }}" }
    exits:
      out: { to: square, set: { gold: "{{ world.inn__purse }}" } }
    host_bindings: { down__keys: host.ring }
    overrides: { intents: { drink: { title: Ale, priority: 3 } } }
states:
  square: { on: { go_in: { target: inn } } }
`,
	"/inn/app.yaml": `
app: { id: inn }
world: { purse: { type: int, default: 0 }, last_error: "", asleep: false }
intents: { drink: { title: Drink }, leave: {}, descend: {} }
root: bar
exits: { out: { requires: [] } }
agents: { host: { system_prompt: "You keep an inn." } }
imports:
  down:
    source: "@lib/cellar"
    entry: stairs
    intents: { export: [ leave ] }
    exits: { up: { to: "@exit:out", set: { asleep: true } } }
states:
  bar:
    relevant_world: [ purse ]
    on:
      drink: { when: "world.purse > 0", target: bar, effects: [ { increment: { purse: -1 } }, { invoke: host.agent.ask, with: { agent: host, prompt: p.md } } ] }
      leave: { target: "@exit:out" }
      descend: { target: down }
`,
	"/lib/cellar/app.yaml": `
app: { id: cellar }
world: { dark: true, words: { type: list, default: [] } }
intents: { light: {} }
root: stairs
exits: { up: {} }
host_interfaces: { keys: { default: host.keys, operations: { turn: {} } } }
states:
  stairs:
    on_enter: [ { set: { dark: true } } ]
    on:
      light: { target: ., effects: [ { set: { dark: false } }, { invoke: iface.keys.turn, on_error: stairs } ] }
      leave: { target: "@exit:up" }
`,
}

func TestImports(t *testing.T) {
	s, found, err := load.Load(t.Context(), load.Options{Files: town, App: "/s", Root: "/lib"})
	if err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	if got, want := strings.Join(slices.Sorted(maps.Keys(s.States)), " "), "inn inn.bar inn.down inn.down.stairs square"; got != want {
		t.Errorf("states %q, want %q", got, want)
	}
	var keys []string
	for _, v := range s.World {
		keys = append(keys, v.Name)
	}
	if got, want := strings.Join(keys, " "), "gold inn__asleep inn__down__dark inn__down__words inn__purse mood"; got != want {
		t.Errorf("keys %q, want %q", got, want)
	}
	if got, want := strings.Join(slices.Sorted(maps.Keys(s.Intents)), " "),
		"go_in inn__descend inn__down__leave inn__down__light inn__drink inn__leave"; got != want {
		t.Errorf("intents %q, want %q", got, want)
	}
	if s.Intents["inn__drink"].Title != "Ale" {
		t.Errorf("the override is %+v", s.Intents["inn__drink"])
	}
	if got, want := strings.Join(s.Hosts, " "), "host.bell host.agent.ask host.ring.turn"; got != want {
		t.Errorf("hosts %q, want %q", got, want)
	}
}

func TestImportScopes(t *testing.T) {
	s, _, err := load.Load(t.Context(), load.Options{Files: town, App: "/s", Root: "/lib", Bindings: map[string]string{"inn__down__keys": "host.test"}})
	if err != nil {
		t.Fatal(err)
	}
	stairs, bar := s.States["inn.down.stairs"], s.States["inn.bar"]
	if got := stairs.Scope.Key("dark"); got != "inn__down__dark" {
		t.Errorf("dark is %q", got)
	}
	if got := stairs.Scope.Key("gold"); got != "gold" {
		t.Errorf("gold is %q", got)
	}
	if got := stairs.Scope.Key("purse"); got != "inn__purse" {
		t.Errorf("purse is %q", got)
	}
	want := map[string]string{"light": "inn__down__light", "down__light": "inn__down__light", "leave": "inn__down__leave", "down__leave": "inn__down__leave"}
	if !maps.Equal(stairs.Aliases, want) {
		t.Errorf("aliases %v, want %v", stairs.Aliases, want)
	}
	call := stairs.On[0].Arcs[0].Effects[1]
	if call.Invoke != "host.test.turn" || call.OnError.Path != "inn.down.stairs" {
		t.Errorf("the call is %+v", call)
	}
	leave := stairs.On[1].Arcs[0]
	if leave.Target.Path != "square" || leave.Target.Exit != "up" || leave.Target.Raw != "square" {
		t.Errorf("up leads to %+v", leave.Target)
	}
	var sets []string
	for _, e := range leave.Effects {
		sets = append(sets, e.Scope.Path+":"+e.Set[0].Key)
	}
	if got, want := strings.Join(sets, " "), "inn:inn__asleep :gold"; got != want {
		t.Errorf("up sets %q, want %q", got, want)
	}
	ask := bar.On[0].Arcs[0].Effects[1].With.Map
	if ask["agent"].Literal.Str() != "inn__host" || ask["prompt"].Literal.Str() != "/inn/p.md" {
		t.Errorf("with is %v, %v", ask["agent"].Literal, ask["prompt"].Literal)
	}
	if bar.RelevantWorld[0] != "inn__purse" {
		t.Errorf("relevant world %v", bar.RelevantWorld)
	}
}

func TestImportWrapper(t *testing.T) {
	s, _, err := load.Load(t.Context(), load.Options{Files: town, App: "/s", Root: "/lib"})
	if err != nil {
		t.Fatal(err)
	}
	w := s.States["inn"]
	if w.Kind != program.Compound || !w.Wrapper || w.Initial.Name != "bar" || w.Scope != s.Scope {
		t.Errorf("the wrapper is %+v", w)
	}
	var sets []string
	for _, e := range w.OnEnter {
		sets = append(sets, e.Set[0].Key)
	}
	if got, want := strings.Join(sets, " "), "inn__asleep inn__down__dark inn__down__words inn__purse"; got != want {
		t.Errorf("on_enter sets %q, want %q", got, want)
	}
	if w.OnEnter[3].Set[0].Value.Kind != program.TreeTemplate {
		t.Errorf("purse is not what the town gives: %+v", w.OnEnter[3].Set[0].Value)
	}
}

const spelling = `
app: { id: spelling }
root: p1_executing
intents: { again: {}, done: {} }
phase_templates:
  t:
    parameters: { word: { type: string, required: true } }
    states:
      "{id}_executing":
        on_enter: [ { say: "{{ tpl.word }}" } ]
        on: { done: { target: "{{ phase.next.ok }}" } }
      "{id}_error": { terminal: true }
phases:
  template: t
  graph:
    p1: { word: one, next: { ok: p2, again: p1 }, cycle_budgets: { again: 2 } }
    p2: { word: two, next: { ok: ended_well } }
states: { ended_well: { terminal: true } }
`

func TestPhases(t *testing.T) {
	s, found := loaded(t, files{"/s/app.yaml": spelling})
	if len(found) > 0 {
		t.Fatal(found)
	}
	p1 := s.States["p1_executing"]
	if p1.OnEnter[0].Say.Source() != "one" || p1.On[0].Arcs[0].Target.Path != "p2_executing" {
		t.Errorf("%+v", p1)
	}
	again := p1.On[1].Arcs
	if again[0].When.Source() != "world.cycle__p1__again < 2" || again[0].Effects[0].Increment[0].Key != "cycle__p1__again" ||
		again[1].Target.Path != "p1_error" || !again[1].Default {
		t.Errorf("%+v", again)
	}
	if s.States["p2_executing"].On[0].Arcs[0].Target.Path != "ended_well" {
		t.Errorf("%+v", s.States["p2_executing"].On[0].Arcs[0])
	}
}

func TestFallback(t *testing.T) {
	s, found := loaded(t, files{"/s/app.yaml": `
app: { id: desk }
root: landing
intents: { work: { slots: { text: { type: string, required: true } } }, back: {} }
exits: { home: {} }
states:
  landing: { on: { work: { target: ., when: "true" } } }
  room: { on: { back: { target: "@exit:home" } } }
  end: { terminal: true }
`})
	if len(found) > 0 {
		t.Fatal(found)
	}
	if room := s.States["room"]; room.On[0].Arcs[0].Target.Path != "__exit__home" || !s.States["__exit__home"].Terminal ||
		room.On[1].Intent != "work" || room.On[1].Arcs[0].Target.Path != "landing" {
		t.Errorf("%+v", room)
	}
	if len(s.States["end"].On) > 0 || len(s.States["__exit__home"].On) > 0 {
		t.Error("an ending has a way on")
	}
}

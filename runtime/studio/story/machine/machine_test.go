package machine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

func build(t testing.TB, app string) *machine.Machine {
	t.Helper()
	s := loadtest.Story(t, app)
	return machine.New(s)
}

const door = `
app: { id: door, version: 0.1.0 }
world: { open: { type: bool, default: false }, knocks: 0, mood: { type: string, default: calm } }
intents:
  knock: { title: Knock }
  enter: { title: Enter, slots: { how: { type: enum, values: [quick, slow], required: true } } }
  hum: { title: Hum }
  nap: { title: Nap }
  loop: { title: Loop }
root: outside
states:
  outside:
    on:
      knock:
        - when: "world.knocks > 1"
          target: inside
          effects:
            - set: { open: "{{ world.knocks > 1 }}", mood: "{{ world.open }}" }
            - say: "Knock {{ world.knocks }}."
        - default: true
          target: .
          effects: [{ increment: { knocks: 1 } }]
      enter:
        - { target: inside, when: "world.open && slots.how == 'slow'", guard_hint: It is shut. }
      loop: { target: spin }
  inside:
    initial: hall
    on_enter: [{ set: { mood: warm } }]
    states:
      hall:
        on_enter:
          - { emit_intent: nap, when: "world.knocks > 5" }
        on: { nap: { target: ../bed }, hum: { target: . } }
      bed: { terminal: true }
  spin:
    on_enter: [{ emit_intent: loop }]
    on: { loop: { target: ../spun } }
  spun:
    on_enter: [{ emit_intent: loop }]
    on: { loop: { target: ../spin } }
`

func kinds(s machine.Step) string {
	var list []string
	for _, e := range s.Events {
		list = append(list, strings.TrimPrefix(e.Kind, "machine."))
	}
	return strings.Join(list, " ")
}

func TestTurns(t *testing.T) {
	m := build(t, door)
	at := machine.Situation{State: "outside", World: m.World()}
	turn := func(intent, slots string) machine.Step {
		t.Helper()
		v, err := value.Parse([]byte(slots))
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Turn(at, machine.Input{Intent: intent, Slots: v})
		if err != nil {
			t.Fatal(err)
		}
		at = s.Situation
		return s
	}
	if s := turn("knock", "{}"); s.State != "outside" || kinds(s) != "transition world.update" {
		t.Errorf("%s: %s", s.State, kinds(s))
	}
	if s := turn("enter", `{"how":"slow"}`); s.Rejection == nil || s.Rejection.Code != machine.GuardFailed || s.Rejection.Hint != "It is shut." {
		t.Errorf("%+v", s.Rejection)
	}
	if s := turn("enter", `{"how":"loud"}`); s.Rejection == nil || s.Rejection.Code != machine.InvalidSlot {
		t.Errorf("%+v", s.Rejection)
	}
	if s := turn("enter", `{}`); s.Rejection == nil || s.Rejection.Message != "intent requires slots: [how]" {
		t.Errorf("%+v", s.Rejection)
	}
	if s := turn("fly", `{}`); s.Rejection == nil || s.Rejection.Code != machine.NotAllowed || !slices.Equal(s.Rejection.Allowed, []string{"enter", "knock", "loop"}) {
		t.Errorf("%+v", s.Rejection)
	}
	turn("knock", "{}")
	s := turn("knock", "{}")
	if s.State != "inside.hall" || s.Say != "Knock 2." || kinds(s) != "transition world.update world.update say world.update state_exited state_entered state_entered" {
		t.Errorf("%s, %q: %s", s.State, s.Say, kinds(s))
	}
	mood, _ := s.World.Get("mood")
	open, _ := s.World.Get("open")
	if mood.Str() != "warm" || !open.Bool() {
		t.Errorf("world %s", s.World.JSON())
	}
}

// A block of set sees the world before it, and a text takes the type of its key.
func TestSetIsAtomic(t *testing.T) {
	m := build(t, door)
	w := m.World().With("knocks", value.Of(9))
	s, err := m.Turn(machine.Situation{State: "outside", World: w}, machine.Input{Intent: "knock"})
	if err != nil || s.State != "inside.bed" {
		t.Fatalf("%s, %v", s.State, err)
	}
	if got := s.Events[1].Payload.JSON() + s.Events[2].Payload.JSON(); got != `{"set":{"mood":false}}{"set":{"open":true}}` {
		t.Errorf("%s", got)
	}
}

func TestEmitsEnd(t *testing.T) {
	m := build(t, door)
	_, err := m.Turn(machine.Situation{State: "outside", World: m.World()}, machine.Input{Intent: "loop"})
	if fault.CodeOf(err) != machine.CodeEmits {
		t.Errorf("%v", err)
	}
}

func TestMenu(t *testing.T) {
	m := build(t, door)
	menu := m.Menu(machine.Situation{State: "outside", World: m.World().With("open", value.Of(true))})
	var rows []string
	for _, r := range menu.Primary {
		rows = append(rows, r.Display)
	}
	if got := strings.Join(rows, ", "); got != "enter slow, knock, loop" || len(menu.Blocked) != 1 || menu.Blocked[0].Reason != "It is shut." {
		t.Errorf("%s; %+v", got, menu.Blocked)
	}
}

const clock = `
app: { id: clock, version: 0.1.0 }
world: { n: 0 }
intents: { tick: { title: Tick }, stop: { title: Stop }, struck: { title: Struck } }
root: run
states:
  run:
    type: parallel
    on: { stop: { target: done } }
    states:
      bell:
        initial: still
        states:
          still: { on: { struck: { target: run.bell.rings, effects: [{ increment: { n: 10 } }] } } }
          rings: { }
      hand:
        initial: up
        states:
          up: { on: { tick: { target: run.hand.down, emit: [struck], effects: [{ increment: { n: 1 } }] } } }
          down: { }
  done: { terminal: true }
`

func TestParallel(t *testing.T) {
	m := build(t, clock)
	w := m.World()
	leaf, err := m.Leaf(machine.Situation{State: "run", World: w}, "run")
	if err != nil || leaf != "run#run.bell.still|run.hand.up" {
		t.Fatalf("%s, %v", leaf, err)
	}
	s, err := m.Turn(machine.Situation{State: leaf, World: w}, machine.Input{Intent: "tick"})
	n, _ := s.World.Get("n")
	if err != nil || s.State != "run#run.bell.rings|run.hand.down" || n.JSON() != "11" {
		t.Errorf("%s %s, %v", s.State, n.JSON(), err)
	}
	s, err = m.Turn(s.Situation, machine.Input{Intent: "stop"})
	if err != nil || s.State != "done" {
		t.Errorf("%s, %v", s.State, err)
	}
}

func BenchmarkTurn(b *testing.B) {
	m := build(b, door)
	at := machine.Situation{State: "outside", World: m.World()}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Turn(at, machine.Input{Intent: "knock"}); err != nil {
			b.Fatal(err)
		}
	}
}

package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

const mill = `
app: { id: mill, version: 0.1.0 }
world: { flour: { type: int, default: 0 }, share: { default: 3 }, said: "", on: { type: bool, default: false } }
intents: { grind: { title: Grind }, stay: { title: Stay }, lost: { title: Lost }, loop: { title: Loop }, ask: { title: Ask }, back: { title: Back }, full: { title: Full, hidden: true }, race: { title: Race } }
root: yard
states:
  yard:
    view: "Yard. {{ world.last_error }}"
    on:
      grind: { target: stones }
      stay: { target: shed }
      lost: { target: maze }
      loop: { target: ring_a }
      ask: { target: office }
      race: { target: belt_a }
  stones:
    view: "Stones: {{ world.flour }} of {{ world.share }}."
    on_enter:
      - { invoke: host.grind, bind: { flour: sacks, share: share }, on_error: yard }
    on: { back: { target: yard, effects: [{ set: { on: "{{ world.flour > 0 }}" } }] } }
  shed:
    view: Shed.
    on_enter:
      - { invoke: host.light, on_error: ., bind: { said: word } }
      - { emit_intent: full, when: "world.last_error != ''" }
    on: { full: { target: yard } }
  maze:
    view: Maze.
    on_enter: [{ invoke: host.light, on_error: nowhere_at_all }]
    on: { back: { target: yard } }
  ring_a: { on_enter: [{ invoke: host.light, on_error: ring_b }], on: { back: { target: yard } } }
  ring_b: { on_enter: [{ invoke: host.light, on_error: ring_a }], on: { back: { target: yard } } }
  belt_a: { on_enter: [{ emit_intent: race }], on: { race: { target: belt_b } } }
  belt_b: { on_enter: [{ emit_intent: race }], on: { race: { target: belt_a } } }
  office:
    on_enter:
      - invoke: host.clerk
        background: true
        on_complete: [{ set: { said: "{{ world.last_job_result.word }}" } }]
    on: { back: { target: yard } }
`

func turn(t *testing.T, s *engine.Session, intent string) engine.Outcome {
	t.Helper()
	o, err := s.Turn(t.Context(), intent, value.Value{}, "")
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A redirect shows what failed below the page, once.
func TestFailureIsShown(t *testing.T) {
	s := session(t, strings.Replace(mill, `"Yard. {{ world.last_error }}"`, "Yard.", 1), stubs{"host.grind": {Error: "the stones are stuck"}})
	if o := turn(t, s, "grind"); o.State != "yard" || o.View != "Yard.\n\n⚠ Action failed: the stones are stuck" {
		t.Errorf("%s: %q", o.State, o.View)
	}
	shown := session(t, mill, stubs{"host.grind": {Error: "the stones are stuck"}})
	if o := turn(t, shown, "grind"); o.View != "Yard. the stones are stuck" {
		t.Errorf("%q", o.View)
	}
}

// on_error: . stays, and what follows from the state follows.
func TestOnErrorStays(t *testing.T) {
	s := session(t, mill, stubs{})
	if o := turn(t, s, "stay"); o.State != "yard" || strings.Contains(kinds(o.Events), "on_error") {
		t.Errorf("%s: %s", o.State, kinds(o.Events))
	}
}

// What cannot be followed is a problem of the turn, and no end of the session.
func TestProblems(t *testing.T) {
	for intent, want := range map[string]string{"lost": "nowhere_at_all", "loop": "more than 4 times"} {
		s := session(t, mill, stubs{})
		if o := turn(t, s, intent); !strings.Contains(o.Problem, want) {
			t.Errorf("%s: problem %q, want %s", intent, o.Problem, want)
		}
		if o, err := s.Turn(t.Context(), "back", value.Value{}, ""); err != nil || o.State != "yard" {
			t.Errorf("%s: afterwards %s, %v", intent, o.State, err)
		}
	}
}

func TestEmitsEndWithACode(t *testing.T) {
	s := session(t, mill, stubs{})
	if _, err := s.Turn(t.Context(), "race", value.Value{}, ""); fault.CodeOf(err) != machine.CodeEmits {
		t.Errorf("%v", err)
	}
	if s.State() != "yard" {
		t.Errorf("it stands in %s", s.State())
	}
}

// A session is what its trace says: numbers come back as JSON has them, whole only where
// the story says so.
func TestWorldIsThatOfTheTrace(t *testing.T) {
	s := session(t, mill, stubs{"host.grind": {Data: parse(t, `{"sacks":2,"share":5}`)}})
	if v, _ := s.World().Get("share"); v.Kind() != value.Int {
		t.Errorf("a default is a %s", v.Kind())
	}
	turn(t, s, "grind")
	for key, want := range map[string]value.Kind{"flour": value.Int, "share": value.Float, "on": value.Bool} {
		if v, _ := s.World().Get(key); v.Kind() != want {
			t.Errorf("%s is a %s, want %s", key, v.Kind(), want)
		}
	}
	turn(t, s, "back")
	if get(s, "on") != "true" || get(s, "session_id") != `"s-1"` || get(s, "ide") != `{"connected":false}` {
		t.Errorf("world %s", s.World().JSON())
	}
	again := session(t, mill, stubs{})
	for _, e := range s.Trace() {
		if set, ok := e.Payload.Get("set"); ok && e.Kind == "world.update" {
			again.Override(set)
		}
	}
	for key, v := range again.World().Members() {
		if w, _ := s.World().Get(key); !w.Equal(v) || w.Kind() != v.Kind() {
			t.Errorf("%s is %s, and %s when it is read back", key, w.JSON(), v.JSON())
		}
	}
}

// A job that asks something ends when it was answered and the clock moves.
func TestClarification(t *testing.T) {
	s := session(t, mill, stubs{"host.clerk": {Data: parse(t, `{"word":"sealed"}`), Asks: &engine.Clarification{Prompt: "Which seal?"}}})
	turn(t, s, "ask")
	if err := s.Advance(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	job := s.Jobs()[0]
	if job.Status != engine.Awaiting || s.Inbox()[1].Severity != "action_required" || s.Inbox()[1].Title != "Which seal?" {
		t.Fatalf("%s, inbox %+v", job.Status, s.Inbox())
	}
	if s.Answer("job-9") || !s.Answer(job.ID) || s.Answer(job.ID) {
		t.Error("another job was answered, or this one twice, or not at all")
	}
	if job.Status != engine.Running || get(s, "said") != `""` {
		t.Errorf("it is %s before the clock moves", job.Status)
	}
	if err := s.Advance(t.Context(), time.Millisecond); err != nil || job.Status != engine.Done || get(s, "said") != `"sealed"` {
		t.Errorf("%s, said %s, %v", job.Status, get(s, "said"), err)
	}
}

// A trace keeps pages without what only a terminal reads.
func TestTraceIsPlain(t *testing.T) {
	s := session(t, strings.Replace(mill, "view: Maze.", `view: "\e[1mMaze\e[0m \e]8;;file:///a\e\\map\e]8;;\e\\ end"`, 1), stubs{"host.light": {}})
	o := turn(t, s, "lost")
	end, _ := o.Events[len(o.Events)-1].Payload.Get("view")
	if end.Str() != "Maze map end" || !strings.Contains(o.View, "\x1b") {
		t.Errorf("%q, and the page %q", end.Str(), o.View)
	}
}

// A turn of a small story takes as long after many as after none.
func BenchmarkSession(b *testing.B) {
	for _, before := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("after-%d", before), func(b *testing.B) {
			s := session(b, mill, stubs{"host.grind": {Data: value.NewMap(map[string]value.Value{"sacks": value.Of(2), "share": value.Of(5)})}})
			both := func() {
				for _, intent := range []string{"grind", "back"} {
					if _, err := s.Turn(b.Context(), intent, value.Value{}, ""); err != nil {
						b.Fatal(err)
					}
				}
			}
			for range before / 2 {
				both()
			}
			b.ReportAllocs()
			for b.Loop() {
				both()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(2*b.N), "µs/turn")
		})
	}
}

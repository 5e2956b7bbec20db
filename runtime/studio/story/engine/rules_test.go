package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

const rules = `
app: { id: rules, version: 0.1.0 }
world: { word: "", visits: { type: int, default: 0 }, report: { type: any } }
intents: { go: { title: Go }, back: { title: Back }, turn: { title: Turn, hidden: true }, pick: { title: Pick }, work: { title: Work } }
root: yard
states:
  yard:
    on:
      go: { target: room }
      work: { target: shop }
      pick:
        - { default: true, when: "false", target: room }
        - { target: shop }
  room:
    on_enter:
      - { invoke: host.word, once: true, bind: { word: said } }
      - { increment: { visits: 1 } }
      - { emit_intent: back, when: "world.report.done" }
      - { emit_intent: turn }
    on: { turn: { target: . }, back: { target: yard } }
  shop:
    on_enter: [{ invoke: host.job, background: true, on_complete: [{ set: { word: late } }] }]
    on: { back: { target: yard } }
`

func TestRules(t *testing.T) {
	s := session(t, rules, stubs{"host.word": {Data: parse(t, `{"said":"hush"}`)}})
	first := turn(t, s, "go")
	if first.State != "room" || get(s, "visits") != "1" || get(s, "word") != `"hush"` {
		t.Errorf("a state that leads to itself was entered %s times; %s, word %s", get(s, "visits"), first.State, get(s, "word"))
	}
	turn(t, s, "back")
	if again := turn(t, s, "go"); strings.Contains(kinds(again.Events), "dispatched") || !strings.Contains(kinds(first.Events), "dispatched") {
		t.Errorf("what runs once ran again, or never: %s", kinds(again.Events))
	}
	turn(t, s, "back")
	if o := turn(t, s, "pick"); o.State != "room" {
		t.Errorf("a default does not win where it stands: %s", o.State)
	}
}

// A job whose state was left ends, and changes nothing.
func TestStaleJob(t *testing.T) {
	s := session(t, rules, stubs{"host.job": {Delay: time.Minute}})
	turn(t, s, "work")
	turn(t, s, "back")
	if err := s.Advance(t.Context(), time.Hour); err != nil || get(s, "word") != `""` || get(s, "last_job_id") == "null" {
		t.Errorf("word %s, %v", get(s, "word"), err)
	}
}

func TestHiddenIsInNoMenu(t *testing.T) {
	story := loadtest.Story(t, rules)
	m := machine.New(story)
	for _, row := range m.Menu(machine.Situation{State: "room", World: value.NewMap(nil)}).Primary {
		if row.Intent == "turn" {
			t.Error("a hidden intent is in the menu")
		}
	}
}

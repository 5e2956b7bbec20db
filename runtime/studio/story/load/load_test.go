package load_test

import (
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// files are the files of a test, by absolute name.
type files = loadtest.Files

func loaded(t *testing.T, f files) (*program.Story, []load.Finding) {
	t.Helper()
	s, found, err := load.Load(t.Context(), load.Options{Files: f, App: "/s/app.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return s, found
}

const door = `
app: { id: door, version: 0.1.0 }
world:
  open: { type: bool, default: false }
  knocks: 0
intents:
  knock: { title: Knock }
  enter: { title: Enter }
root: outside
states:
  outside:
    on:
      knock:
        - when: "world.knocks > 1"
          target: inside.hall
          effects: [{ set: { open: "{{ world.knocks > 0 }}" } }, { increment: { knocks: 1 } }]
        - default: true
          target: .
      enter: { target: inside, when: world.open }
  inside:
    initial: hall
    states:
      hall: { on: { knock: { target: ../../outside } } }
`

func TestLoad(t *testing.T) {
	s, found := loaded(t, files{"/s/app.yaml": door})
	if len(found) > 0 {
		t.Fatalf("findings %v", found)
	}
	if s.ID != "door" || s.Root != "outside" || len(s.World) != 2 || s.States["inside.hall"].Parent.Path != "inside" {
		t.Errorf("%+v", s)
	}
	arc := s.States["outside"].On[0].Arcs[0]
	if arc.Target.Path != "inside.hall" || arc.When == nil || arc.Effects[0].Kind != program.Set {
		t.Errorf("%+v", arc)
	}
	if to := s.States["inside.hall"].On[0].Arcs[0].Target.Path; to != "outside" {
		t.Errorf("../../outside is %q", to)
	}
}

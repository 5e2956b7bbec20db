package graph_test

import (
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/graph"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

var update = flag.Bool("update", false, "write the drawings of this run as the ones to expect")

// files are the files of a test, by absolute name.
type files = loadtest.Files

const inn = `
app: { id: inn, title: The inn }
world:
  lit: { type: bool, default: false }
  coins: 3
  rumour: ""
agents:
  keeper: { system_prompt: You keep an inn. }
intents:
  enter: { title: Go in, description: Through the door. }
  light: { title: Light a candle }
  ask: { slots: { what: { type: string, required: true } } }
  sleep: {}
  wake: {}
  up: {}
  work: { slots: { what: { type: string, required: true } } }
root: street
states:
  street:
    description: "A street <at night> & rain"
    on: { enter: landing }
    view: "It rains."
  landing:
    description: The bar of the inn, where everybody is and everything begins
    initial: dark
    on:
      up:
        - { target: rooms, when: world.coins > 0, effects: [{ increment: { coins: -1 } }] }
        - { target: street, default: true }
      work: { target: ., effects: [{ say: "{{ slots.what }}" }] }
    states:
      dark:
        on: { light: { target: ../lit, effects: [{ set: { lit: true } }] } }
        view: [{ prose: "Dark. {{ world.rumour }}" }]
      lit:
        on_enter:
          - invoke: host.agent.ask
            id: gossip
            with: { agent: keeper, prompt: prompts/gossip.md, schema: schemas/gossip.json }
            bind: { rumour: text }
        on: { ask: { target: . }, up: [{ target: ../../attic, when: world.lit }] }
  rooms:
    on: { sleep: { target: rooms }, wake: { target: street }, up: { target: attic } }
  attic:
    terminal: true
  cellar:
    on: { up: { target: landing } }
`

func story(t *testing.T) *program.Story {
	t.Helper()
	f := files{"/inn/app.yaml": strings.ReplaceAll(inn, "enter: landing", "enter: { target: landing }"), "/inn/prompts/gossip.md": "Tell.", "/inn/schemas/gossip.json": `{"type":"object"}`}
	s, found, err := load.Load(t.Context(), load.Options{Files: f, App: "/inn"})
	if err != nil || s == nil {
		t.Fatalf("%v %v", err, found)
	}
	return s
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not what it was; look at it, and run with -update if that is right:\n%s", name, got)
	}
}

func svg(t testing.TB, g graph.Graph) string {
	t.Helper()
	text, err := g.SVG()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func indented(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw) + "\n"
}

func TestDrawings(t *testing.T) {
	t.Parallel()
	s := story(t)
	g := graph.Of(s)
	room, ok := graph.Within(s, "landing")
	if !ok {
		t.Fatal("there is no landing")
	}
	golden(t, "inn.json", indented(t, g))
	golden(t, "inn.mmd", g.Mermaid())
	golden(t, "inn.svg", svg(t, g))
	golden(t, "landing.json", indented(t, room))
	golden(t, "landing.svg", svg(t, room))
	for _, text := range []string{svg(t, g), svg(t, room), svg(t, graph.Graph{})} {
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTheSameStoryGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	first := graph.Of(story(t))
	for range 20 {
		if again := graph.Of(story(t)); svg(t, again) != svg(t, first) || again.Mermaid() != first.Mermaid() || indented(t, again) != indented(t, first) {
			t.Fatal("it does not")
		}
	}
}

func TestRooms(t *testing.T) {
	t.Parallel()
	var got []string
	for _, r := range graph.List(story(t)) {
		got = append(got, strings.TrimSpace(strings.Join([]string{r.ID, map[bool]string{true: "◆"}[r.HasAgent]}, " ")))
	}
	if want := "street, landing ◆, attic, rooms, cellar"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestDetail(t *testing.T) {
	t.Parallel()
	s := story(t)
	d, ok := graph.DetailOf(s, "landing")
	if !ok {
		t.Fatal("there is no landing")
	}
	golden(t, "detail.json", indented(t, d))
	agents, ok := graph.Agents(s, "landing")
	if !ok || len(agents) != 1 {
		t.Fatalf("%+v", agents)
	}
	want := graph.Agent{
		Kind: "host.agent.ask", State: "landing.lit", Prompt: "prompts/gossip.md", Schema: "schemas/gossip.json",
		Cassette: graph.Cassette{Handler: "host.agent.ask", Phase: "landing", Schema: "gossip.json", Call: "gossip"},
	}
	if got := agents[0]; !strings.HasSuffix(got.Prompt, want.Prompt) || !strings.HasSuffix(got.Schema, want.Schema) || got.Cassette != want.Cassette || got.State != want.State {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{"", "nowhere", "__exit__done"} {
		if _, ok := graph.DetailOf(s, name); ok {
			t.Errorf("there is a room %q", name)
		}
		if _, ok := graph.Agents(s, name); ok {
			t.Errorf("there is a room %q", name)
		}
		if _, ok := graph.Within(s, name); ok {
			t.Errorf("there is a room %q", name)
		}
	}
}

func TestAPictureHasABound(t *testing.T) {
	t.Parallel()
	var g graph.Graph
	for i := range 200 {
		g.Nodes = append(g.Nodes, graph.Node{ID: strconv.Itoa(i), Attrs: graph.NodeAttrs{Initial: i == 0}})
		g.Edges = append(g.Edges, graph.Edge{Source: strconv.Itoa(i), Target: strconv.Itoa(i + 1)}, graph.Edge{Source: strconv.Itoa(i), Target: "0"})
	}
	g.Edges = g.Edges[:len(g.Edges)-2]
	if _, err := g.SVG(); fault.CodeOf(err) != graph.CodeSize {
		t.Errorf("%v", err)
	}
}

func BenchmarkSVG(b *testing.B) {
	var g graph.Graph
	for i := range 60 {
		id := "state:r" + string(rune('A'+i%26)) + string(rune('a'+i/26))
		g.Nodes = append(g.Nodes, graph.Node{ID: id, Ref: graph.Ref{Ref: id}, Attrs: graph.NodeAttrs{Initial: i == 0}})
		for _, j := range []int{i / 2, i / 3, (i * 7) % 60} {
			if j < len(g.Nodes) {
				g.Edges = append(g.Edges, graph.Edge{Source: g.Nodes[j].ID, Target: id, Label: "go"})
			}
		}
	}
	for b.Loop() {
		_ = svg(b, g)
	}
}

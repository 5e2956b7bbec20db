package graph_test

import (
	"encoding/xml"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/graph"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// examples is the folder of the example stories.
const examples = "../../../../docs/examples/stories"

// A picture is what is read of an SVG.
type picture struct {
	Width  float64 `xml:"width,attr"`
	Height float64 `xml:"height,attr"`
	Lines  []struct {
		Title string `xml:"title"`
	} `xml:"path"`
	Nodes []struct {
		Title string `xml:"title"`
		Boxes []box  `xml:"rect"`
		Texts []said `xml:"text"`
	} `xml:"g"`
	Labels []said `xml:"text"` // the last is the legend
}

type box struct {
	X float64 `xml:"x,attr"`
	Y float64 `xml:"y,attr"`
	W float64 `xml:"width,attr"`
	H float64 `xml:"height,attr"`
}

type said struct {
	X    float64 `xml:"x,attr"`
	Y    float64 `xml:"y,attr"`
	Size float64 `xml:"font-size,attr"`
	Text string  `xml:",chardata"`
}

// box is about where a text of the middle stands, a little too narrow.
func (s said) box() box {
	w := float64(len([]rune(s.Text))) * s.Size * 0.5
	return box{s.X - w/2, s.Y - s.Size*0.8, w, s.Size * 0.8}
}

func (b box) over(o box) float64 {
	wide := math.Min(b.X+b.W, o.X+o.W) - math.Max(b.X, o.X)
	high := math.Min(b.Y+b.H, o.Y+o.H) - math.Max(b.Y, o.Y)
	return max(wide, 0) * max(high, 0)
}

func (b box) within(o box) bool {
	return b.X >= o.X-1 && b.Y >= o.Y-1 && b.X+b.W <= o.X+o.W+1 && b.Y+b.H <= o.Y+o.H+1
}

func drawn(t *testing.T, g graph.Graph) picture {
	t.Helper()
	svg, err := g.SVG()
	if err != nil {
		t.Fatal(err)
	}
	var p picture
	if err := xml.Unmarshal([]byte(svg), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// readable holds a picture to what a person needs: nothing covers a node, no text leaves
// its node, and nothing leaves the picture.
func readable(t *testing.T, p picture, g graph.Graph) {
	t.Helper()
	whole := box{0, 0, p.Width, p.Height}
	if len(p.Nodes) != len(g.Nodes) {
		t.Errorf("%d of %d nodes are drawn", len(p.Nodes), len(g.Nodes))
	}
	for i, n := range p.Nodes {
		if !n.Boxes[0].within(whole) {
			t.Errorf("%q leaves the picture: %+v", n.Title, n.Boxes[0])
		}
		for _, o := range p.Nodes[i+1:] {
			if n.Boxes[0].over(o.Boxes[0]) > 0 {
				t.Errorf("%q and %q overlap", n.Title, o.Title)
			}
		}
		for _, s := range n.Texts {
			if !s.box().within(n.Boxes[0]) {
				t.Errorf("%q leaves its node", s.Text)
			}
		}
	}
	for i, s := range p.Labels[:len(p.Labels)-1] {
		if !s.box().within(whole) {
			t.Errorf("the label %q leaves the picture", s.Text)
		}
		for _, n := range p.Nodes {
			if s.box().over(n.Boxes[0]) > 0 {
				t.Errorf("the label %q covers %q", s.Text, n.Title)
			}
		}
		for _, o := range p.Labels[i+1:] {
			if s.box().over(o.box()) > s.Size {
				t.Errorf("the labels %q and %q overlap", s.Text, o.Text)
			}
		}
	}
	for _, e := range g.Edges {
		from, to := strings.TrimPrefix(e.Source, "state:"), strings.TrimPrefix(e.Target, "state:")
		found := e.Attrs.Fallback
		for _, l := range p.Lines {
			found = found || strings.HasPrefix(l.Title, from+" → "+to+"\n")
		}
		if !found {
			t.Errorf("%s is not drawn", e.ID)
		}
	}
}

func TestPicturesOfExamples(t *testing.T) {
	dirs, err := filepath.Glob(examples + "/*/app.yaml")
	if err != nil || len(dirs) < 6 {
		t.Fatal(dirs, err)
	}
	for _, app := range dirs {
		name := filepath.Base(filepath.Dir(app))
		t.Run(name, func(t *testing.T) {
			abs, err := filepath.Abs(app)
			if err != nil {
				t.Fatal(err)
			}
			s, found, err := load.Load(t.Context(), load.Options{Files: loadtest.Disk{}, App: abs})
			if s == nil || err != nil {
				t.Fatal(found, err)
			}
			g := graph.Of(s)
			readable(t, drawn(t, g), g)
			for _, n := range g.Nodes {
				if in, ok := graph.Within(s, n.Ref.Ref); ok {
					readable(t, drawn(t, in), in)
				}
			}
		})
	}
}

// A crowd of rooms that lead to one another and to themselves is still one that is read.
func TestPictureOfACrowd(t *testing.T) {
	var b strings.Builder
	b.WriteString("app: { id: crowd }\nroot: r0\nintents: { go: {}, back: {}, wait: {}, leave_the_whole_thing: {} }\nstates:\n")
	for i := range 24 {
		fmt.Fprintf(&b, "  r%d: { description: Room number %d of this house, on: { go: { target: r%d }, back: { target: r%d }, wait: { target: r%d }, leave_the_whole_thing: { target: r0 } } }\n", i, i, (i*2+1)%24, i/2, i)
	}
	s := loaded(t, files{"/s/app.yaml": b.String()})
	g := graph.Of(s)
	readable(t, drawn(t, g), g)
}

// What no intent takes is drawn where nothing else leads, and is no part of the graph.
func TestWhatFollowsIsDrawn(t *testing.T) {
	s := loaded(t, files{"/s/app.yaml": `
app: { id: mill }
root: yard
intents: { grind: {} }
states:
  yard: { on: { grind: { target: stones } } }
  stones:
    timeout: { after: 1h, target: late }
    on_enter:
      - { invoke: host.grind, on_error: broken }
      - { invoke: host.wait, background: true, on_complete: [{ target: flour }] }
  broken: { terminal: true }
  flour: { terminal: true }
  late: { terminal: true }
  attic: { terminal: true }
`})
	g := graph.Of(s)
	if len(g.Edges) != 1 {
		t.Errorf("edges %v", g.Edges)
	}
	p := drawn(t, g)
	readable(t, p, g)
	var all []string
	for _, l := range p.Lines {
		all = append(all, l.Title)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"stones → broken\non error", "stones → flour\nwhen it ends", "stones → late\nwhen time is over"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not drawn:\n%s", want, text)
		}
		if to := strings.SplitN(want, "\n", 2)[1]; !strings.Contains(g.Mermaid(), to) {
			t.Errorf("%q is not in the Mermaid diagram", to)
		}
	}
	if legend := p.Labels[len(p.Labels)-1].Text; !strings.Contains(legend, "dashed: nothing leads here") || !strings.Contains(legend, "dotted: when") {
		t.Errorf("the legend says %q", legend)
	}
}

func loaded(t *testing.T, f files) *program.Story {
	t.Helper()
	s, found, err := load.Load(t.Context(), load.Options{Files: f, App: "/s"})
	if s == nil || err != nil {
		t.Fatal(found, err)
	}
	return s
}

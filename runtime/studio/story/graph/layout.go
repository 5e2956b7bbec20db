package graph

import (
	"cmp"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The measures of a drawing, in pixels.
const (
	margin     = 24
	nodeHeight = 46
	rowGap     = 22
	thruHeight = 16 // what a line that passes a column takes of it
	loopSize   = 18
	crowding   = 7   // how much wider a gap is with each line in it
	widestGap  = 420 // that it makes
)

// A vertex is a node of the drawing, or where a line passes a column.
type vertex struct {
	node  int // -1 of a line that passes
	layer int
	order int // in its layer
	width float64
	over  float64 // what it needs above, for a line to itself
	x, y  float64 // left, and middle
	next  []int   // vertices in the layer behind
	prev  []int   // and before
}

func (v vertex) height() float64 {
	if v.node < 0 {
		return thruHeight
	}
	return nodeHeight
}

// A route is how a line is drawn: through vertices, from left to right; back says that it
// leads the other way.
type route struct {
	line line
	via  []int
	back bool
}

// A layout places a graph in columns: a node stands in that of its distance.
type layout struct {
	vertices []vertex
	layers   [][]int
	routes   []route
	gaps     []float64 // behind each layer
}

// maxVertices is how much there may be in a picture: nodes, and where lines pass columns.
const maxVertices = 10_000

// place lays a graph out. first are the nodes of the first column.
func place(widths []float64, lines []line, first []int) (*layout, error) {
	l := &layout{}
	depth := layersOf(len(widths), lines, first)
	for i, w := range widths {
		l.vertices = append(l.vertices, vertex{node: i, layer: depth[i], width: w})
	}
	last := 0
	for _, d := range depth {
		last = max(last, d)
	}
	l.layers = make([][]int, last+1)
	for i, d := range depth {
		l.layers[d] = append(l.layers[d], i)
	}
	for _, ln := range lines {
		if ln.from == ln.to {
			l.vertices[ln.from].over = loopSize
		}
		if l.route(ln); len(l.vertices) > maxVertices {
			return nil, fault.New(CodeSize, "story.graph", "the picture would have more than %d places", maxVertices).
				WithHint("draw one room, or take the graph as JSON or Mermaid")
		}
	}
	l.untangle()
	l.columns()
	l.rows()
	return l, nil
}

// layersOf gives each node how many lines lead to it from first. What nothing leads to
// stands behind all, with what it leads to.
func layersOf(n int, lines []line, first []int) []int {
	depth := slices.Repeat([]int{-1}, n)
	var queue []int
	put := func(i, d int) {
		if depth[i] < 0 {
			depth[i] = d
			queue = append(queue, i)
		}
	}
	run := func() (last int) {
		for ; len(queue) > 0; queue = queue[1:] {
			for _, l := range lines {
				if l.from == queue[0] {
					put(l.to, depth[l.from]+1)
				}
			}
		}
		return slices.Max(append([]int{0}, depth...))
	}
	for _, i := range first {
		put(i, 0)
	}
	last := run()
	led := make([]bool, n)
	for _, l := range lines {
		led[l.to] = led[l.to] || l.from != l.to
	}
	for _, roots := range []bool{true, false} { // first those that nothing at all leads to
		behind := last + 1
		for i := range n {
			if depth[i] < 0 && (!roots || !led[i]) {
				put(i, behind)
			}
		}
		last = run()
	}
	return depth
}

// route makes the vertices that a line passes.
func (l *layout) route(ln line) {
	a, b := ln.from, ln.to
	r := route{line: ln, back: l.vertices[a].layer > l.vertices[b].layer}
	if r.back {
		a, b = b, a
	}
	r.via = []int{a}
	if l.vertices[a].layer != l.vertices[b].layer {
		for d := l.vertices[a].layer + 1; d < l.vertices[b].layer; d++ {
			l.vertices = append(l.vertices, vertex{node: -1, layer: d})
			l.layers[d] = append(l.layers[d], len(l.vertices)-1)
			r.via = append(r.via, len(l.vertices)-1)
		}
		via := append(slices.Clone(r.via), b)
		for i, v := range via[:len(via)-1] {
			l.vertices[v].next = append(l.vertices[v].next, via[i+1])
			l.vertices[via[i+1]].prev = append(l.vertices[via[i+1]].prev, v)
		}
	}
	r.via = append(r.via, b)
	l.routes = append(l.routes, r)
}

// sweeps is how often the order of columns is looked at again.
const sweeps = 12

// untangle orders each column by where the lines of its vertices lead.
func (l *layout) untangle() {
	l.number()
	for i := range sweeps {
		for k := range l.layers {
			d := k
			if i%2 == 1 {
				d = len(l.layers) - 1 - k
			}
			weight := map[int]float64{}
			for _, v := range l.layers[d] {
				near := l.vertices[v].prev
				if i%2 == 1 {
					near = l.vertices[v].next
				}
				weight[v] = l.mean(near, float64(l.vertices[v].order), func(o vertex) float64 { return float64(o.order) })
			}
			slices.SortStableFunc(l.layers[d], func(a, b int) int { return cmp.Compare(weight[a], weight[b]) })
			l.number()
		}
	}
}

func (l *layout) number() {
	for _, layer := range l.layers {
		for i, v := range layer {
			l.vertices[v].order = i
		}
	}
}

func (l *layout) mean(of []int, otherwise float64, what func(vertex) float64) float64 {
	if len(of) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, v := range of {
		sum += what(l.vertices[v])
	}
	return sum / float64(len(of))
}

// columns gives every layer its place from left to right, with room for the words on the
// lines behind it.
func (l *layout) columns() {
	l.gaps = slices.Repeat([]float64{56}, len(l.layers))
	crowd := make([]float64, len(l.layers))
	for _, r := range l.routes {
		d := l.vertices[r.via[0]].layer
		crowd[d]++
		l.gaps[d] = max(l.gaps[d], width(r.line.label(), labelSize)+44, min(40+crowd[d]*crowding, widestGap))
	}
	x := float64(margin)
	for d, layer := range l.layers {
		widest := 0.0
		for _, v := range layer {
			widest = max(widest, l.vertices[v].width)
		}
		for _, v := range layer {
			l.vertices[v].x = x
			if l.vertices[v].node < 0 {
				l.vertices[v].width = widest
			}
		}
		x += widest + l.gaps[d]
	}
}

// rows gives every vertex its place from top to bottom: near those it is tied to.
func (l *layout) rows() {
	for _, layer := range l.layers {
		y := 0.0
		for _, v := range layer {
			y += l.vertices[v].over
			l.vertices[v].y = y + l.vertices[v].height()/2
			y += l.vertices[v].height() + rowGap
		}
	}
	for range sweeps {
		for _, layer := range l.layers {
			l.settle(layer)
		}
	}
	top := 0.0
	for i, v := range l.vertices {
		if i == 0 || v.y-v.height()/2 < top {
			top = v.y - v.height()/2
		}
	}
	for i := range l.vertices {
		l.vertices[i].y += margin + loopSize - top
	}
}

// settle moves the vertices of a column to where they want to be, as far as they do not
// come too near to each other.
func (l *layout) settle(layer []int) {
	want := make([]float64, len(layer))
	got := make([]float64, len(layer))
	off := 0.0
	for i, v := range layer {
		near := slices.Concat(l.vertices[v].prev, l.vertices[v].next)
		want[i] = l.mean(near, l.vertices[v].y, func(o vertex) float64 { return o.y })
		got[i] = want[i]
		if i > 0 {
			apart := (l.vertices[layer[i-1]].height()+l.vertices[v].height())/2 + rowGap + l.vertices[v].over
			got[i] = max(got[i], got[i-1]+apart)
		}
		off += got[i] - want[i]
	}
	for i, v := range layer {
		l.vertices[v].y = got[i] - off/float64(len(layer))
	}
}

package graph

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

const (
	nameSize  = 13.0
	labelSize = 11.0
)

// width is about how wide a text is.
func width(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("iljtfr.,:;'|!()[] ", r):
			w += 0.36
		case strings.ContainsRune("mwMW", r):
			w += 0.88
		case r >= 0x1100:
			w += 1
		default:
			w += 0.58
		}
	}
	return w * size
}

// A canvas is an SVG that is being written.
type canvas struct {
	strings.Builder
	right, bottom float64
	tags          []tag
	boxes         []tag // of nodes, which no label covers
}

func (c *canvas) put(format string, args ...any) { fmt.Fprintf(c, format+"\n", args...) }

// SVG is a graph as a picture: columns by distance, from left to right. It needs nothing
// else to be seen.
func (g Graph) SVG() (string, error) {
	lines, landing := g.lines()
	var first []int
	led := g.led(lines)
	widths := make([]float64, len(g.Nodes))
	for i, n := range g.Nodes {
		if n.Attrs.Initial {
			first = append(first, i)
		}
		widths[i] = max(width(g.name(i), nameSize)*1.06, width(g.caption(i), labelSize)) + 24
	}
	l, err := place(widths, lines, first)
	if err != nil {
		return "", err
	}
	body := &canvas{}
	for _, v := range l.vertices {
		if v.node >= 0 {
			body.boxes = append(body.boxes, tag{point: point{v.x + v.width/2, v.y}, width: v.width, height: nodeHeight + 2})
		}
	}
	for i, r := range l.routes {
		g.drawRoute(body, l, i, r)
	}
	for _, v := range l.vertices {
		if v.node >= 0 {
			g.drawNode(body, v, led[v.node])
		}
	}
	body.drawTags()
	g.drawLegend(body, landing, lines, led)
	return g.frame(body), nil
}

func (g Graph) frame(body *canvas) string {
	w, h := body.right+margin, body.bottom+margin
	c := &canvas{}
	c.put(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" font-family="Helvetica, Arial, sans-serif">`, w, h, w, h)
	c.put(`<title>%s</title>`, escaped(g.ID))
	c.put(`<defs><marker id="to" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0.5L8 4L0 7.5z" fill="#64748b"/></marker></defs>`)
	c.put(`<rect width="100%%" height="100%%" fill="#ffffff"/>`)
	c.WriteString(body.String())
	c.put(`</svg>`)
	return c.String()
}

func (g Graph) name(i int) string {
	n := g.Nodes[i]
	if n.Attrs.HasAgent {
		return n.Ref.Ref + " ◆"
	}
	return n.Ref.Ref
}

// caption is what a node says of itself beside its name.
func (g Graph) caption(i int) string {
	if n := g.Nodes[i]; n.Label != n.Ref.Ref {
		return clip(oneLine(n.Label), 34)
	}
	return ""
}

func (g Graph) drawNode(c *canvas, v vertex, led bool) {
	n := g.Nodes[v.node]
	fill, stroke, more := "#f8fafc", "#94a3b8", ""
	switch {
	case n.Attrs.Initial:
		fill, stroke, more = "#ecfdf5", "#059669", ` stroke-width="2"`
	case n.Attrs.Outside:
		fill, stroke = "#ffffff", "#cbd5e1"
	case !led:
		fill, more = "#ffffff", ` stroke-dasharray="5 4"`
	case n.Attrs.Import:
		fill, stroke = "#eff6ff", "#60a5fa"
	}
	x, y := v.x, v.y-nodeHeight/2
	c.put(`<g><title>%s</title>`, escaped(n.Ref.Ref+"\n"+n.Label))
	c.put(`<rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="8" fill="%s" stroke="%s"%s/>`, x, y, v.width, nodeHeight, fill, stroke, more)
	if n.Attrs.Terminal {
		c.put(`<rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="6" fill="none" stroke="%s"/>`, x+3, y+3, v.width-6, nodeHeight-6, stroke)
	}
	middle, caption := v.x+v.width/2, g.caption(v.node)
	base := v.y + 4.5
	if caption != "" {
		base = v.y - 3
		c.put(`<text x="%.1f" y="%.1f" text-anchor="middle" font-size="%.0f" fill="#64748b">%s</text>`, middle, v.y+14, labelSize, escaped(caption))
	}
	c.put(`<text x="%.1f" y="%.1f" text-anchor="middle" font-size="%.0f" font-weight="600" fill="#0f172a">%s</text></g>`, middle, base, nameSize, escaped(g.name(v.node)))
	c.reach(x+v.width, y+nodeHeight)
}

func (c *canvas) reach(x, y float64) {
	c.right, c.bottom = max(c.right, x), max(c.bottom, y)
}

// A point is a place of a drawing.
type point struct{ x, y float64 }

func (g Graph) drawRoute(c *canvas, l *layout, i int, r route) {
	a, b := l.vertices[r.via[0]], l.vertices[r.via[len(r.via)-1]]
	var path string
	var places []point // where its label can stand, the best first
	switch {
	case r.line.from == r.line.to:
		path, places = loop(a)
	case a.layer == b.layer:
		path, places = l.beside(i, r)
	default:
		path, places = l.through(i, r)
	}
	ends := `marker-end="url(#to)"`
	if r.back {
		slices.Reverse(places)
		ends = `stroke-dasharray="6 3" marker-start="url(#to)"`
	}
	if r.line.follows {
		ends = strings.ReplaceAll(ends, `stroke-dasharray="6 3" `, "") + ` stroke-dasharray="2 3"`
	}
	tip := g.Nodes[r.line.from].Ref.Ref + " → " + g.Nodes[r.line.to].Ref.Ref + "\n" + strings.Join(append(slices.Clone(r.line.intents), r.line.guards...), "\n")
	c.put(`<path d="%s" fill="none" stroke="#94a3b8" %s><title>%s</title></path>`, path, ends, escaped(tip))
	c.write(r.line.label(), places)
	for _, v := range r.via {
		c.reach(l.vertices[v].x+l.vertices[v].width, l.vertices[v].y+thruHeight)
	}
}

// A tag is a label that has its place.
type tag struct {
	point
	width, height float64
	text          string
}

// over is how much of another thing a label covers, in square pixels.
func (t tag) over(o tag) float64 {
	wide := (t.width+o.width)/2 - abs(t.x-o.x)
	high := (t.height+o.height)/2 - abs(t.y-o.y)
	return max(wide, 0) * max(high, 0)
}

// nudges are how far from its line a label may stand, the nearest first.
var nudges = []float64{0, -labelSize, labelSize, -2 * labelSize, 2 * labelSize, -3 * labelSize, 3 * labelSize}

// write gives a label the first place where it covers nothing, or else the one where it
// covers the least; a node counts more than another label.
func (c *canvas) write(text string, places []point) {
	t := tag{width: width(text, labelSize) + 4, height: labelSize, text: text}
	best, least := places[0], -1.0
	for _, off := range nudges {
		for _, at := range places {
			t.point = point{max(at.x, margin/2+t.width/2), max(at.y+off, labelSize)}
			covered := 0.0
			for _, o := range c.tags {
				covered += t.over(o)
			}
			for _, o := range c.boxes {
				covered += 4 * t.over(o)
			}
			if least < 0 || covered < least {
				best, least = t.point, covered
			}
			if covered == 0 {
				c.tags = append(c.tags, t)
				return
			}
		}
	}
	t.point = best
	c.tags = append(c.tags, t)
}

// drawTags writes the labels above everything.
func (c *canvas) drawTags() {
	for _, t := range c.tags {
		c.put(`<text x="%.1f" y="%.1f" text-anchor="middle" font-size="%.0f" fill="#334155" stroke="#ffffff" stroke-width="3" paint-order="stroke">%s</text>`,
			t.x, t.y+labelSize/3, labelSize, escaped(t.text))
		c.reach(t.x+t.width/2, t.y)
	}
}

// loop leads from a node to itself.
func loop(v vertex) (string, []point) {
	x, y := v.x+v.width-26, v.y-nodeHeight/2
	return fmt.Sprintf("M%.1f %.1fc-4 -%d 24 -%d 20 0", x, y, loopSize, loopSize), []point{{x + 10, y - loopSize}, {x - 10, y - loopSize}}
}

// beside leads from one node of a column to another: around on the right.
func (l *layout) beside(i int, r route) (string, []point) {
	a, b := l.vertices[r.via[0]], l.vertices[r.via[1]]
	x1, x2 := a.x+a.width, b.x+b.width
	y1, y2 := l.port(i, r.via[0], true), l.port(i, r.via[1], true)
	out := max(x1, x2) + min(20+abs(y1-y2)/8, 60)
	c := curve{point{x1, y1}, point{out, y1}, point{out, y2}, point{x2, y2}}
	return fmt.Sprintf("M%.1f %.1f", x1, y1) + c.path(), c.places()
}

// through leads from column to column.
func (l *layout) through(i int, r route) (string, []point) {
	var b strings.Builder
	var places []point
	start := l.vertices[r.via[0]]
	from := point{start.x + start.width, l.port(i, r.via[0], true)}
	fmt.Fprintf(&b, "M%.1f %.1f", from.x, from.y)
	for _, v := range r.via[1:] {
		next := l.vertices[v]
		to := point{next.x, next.y}
		if next.node >= 0 {
			to.y = l.port(i, v, false)
		}
		middle := (from.x + to.x) / 2
		c := curve{from, point{middle, from.y}, point{middle, to.y}, to}
		b.WriteString(c.path())
		places = append(places, c.places()...)
		if from = to; next.node < 0 {
			from.x += next.width
			fmt.Fprintf(&b, "L%.1f %.1f", from.x, from.y)
		}
	}
	return b.String(), places
}

// A curve is a cubic one.
type curve [4]point

func (c curve) path() string {
	return fmt.Sprintf("C%.1f %.1f %.1f %.1f %.1f %.1f", c[1].x, c[1].y, c[2].x, c[2].y, c[3].x, c[3].y)
}

// places are points of it, from the middle outward.
func (c curve) places() []point {
	var list []point
	for _, t := range []float64{0.5, 0.38, 0.62, 0.26, 0.74} {
		u := 1 - t
		k := [4]float64{u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t}
		var p point
		for i, at := range c {
			p.x += k[i] * at.x
			p.y += k[i] * at.y
		}
		list = append(list, p)
	}
	return list
}

// port is where a line meets a side of a node: lines are spread over it in the order of
// where they come from.
func (l *layout) port(line, v int, right bool) float64 {
	type end struct {
		line int
		y    float64
	}
	var ends []end
	for i, r := range l.routes {
		if r.line.from == r.line.to {
			continue
		}
		last := len(r.via) - 1
		same := l.vertices[r.via[0]].layer == l.vertices[r.via[last]].layer
		if r.via[0] == v && right {
			ends = append(ends, end{i, l.vertices[r.via[1]].y})
		}
		if r.via[last] == v && right == same {
			ends = append(ends, end{i, l.vertices[r.via[last-1]].y})
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.y, b.y) })
	at := slices.IndexFunc(ends, func(e end) bool { return e.line == line })
	room := nodeHeight * 0.7
	return l.vertices[v].y - room/2 + room*(float64(at)+0.5)/float64(len(ends))
}

// drawLegend says what the signs mean that were drawn.
func (g Graph) drawLegend(c *canvas, landing string, lines []line, led []bool) {
	some := func(f func(NodeAttrs) bool) bool {
		return slices.ContainsFunc(g.Nodes, func(n Node) bool { return f(n.Attrs) })
	}
	words := []string{"green: where it begins"}
	if some(func(a NodeAttrs) bool { return a.HasAgent }) {
		words = append(words, "◆ calls a model")
	}
	if some(func(a NodeAttrs) bool { return a.Terminal }) {
		words = append(words, "double line: the end")
	}
	if some(func(a NodeAttrs) bool { return a.Import }) {
		words = append(words, "blue: imported")
	}
	if slices.ContainsFunc(lines, func(l line) bool { return l.follows }) {
		words = append(words, "dotted: when a call fails, a job ends or time is over")
	}
	if slices.Contains(led, false) {
		words = append(words, "dashed: nothing leads here")
	}
	if landing != "" {
		words = append(words, "not drawn, from every other room: "+landing)
	}
	text := strings.Join(words, "  ·  ")
	y := c.bottom + 34
	c.put(`<text x="%d" y="%.1f" font-size="%.0f" fill="#64748b">%s</text>`, margin, y, labelSize, escaped(text))
	c.reach(margin+width(text, labelSize), y)
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

func abs(x float64) float64 { return max(x, -x) }

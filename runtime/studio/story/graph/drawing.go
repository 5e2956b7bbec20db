package graph

import (
	"slices"
	"strings"
)

// A line is what is drawn between two nodes: all transitions from the one to the other.
type line struct {
	from, to int      // nodes
	intents  []string // in order, each once
	guards   []string // "go: world.lit" of those with a condition
	follows  bool     // no intent: what follows from a call, a job or the time
}

// lines are the lines of a graph. The way to the landing is left out: every room has it.
func (g Graph) lines() (lines []line, landing string) {
	at := map[string]int{}
	for i, n := range g.Nodes {
		at[n.ID] = i
	}
	index := map[[2]int]int{}
	for _, e := range g.Edges {
		if e.Attrs.Fallback {
			landing = e.Label + " → " + strings.TrimPrefix(e.Target, "state:")
			continue
		}
		pair := [2]int{at[e.Source], at[e.Target]}
		i, ok := index[pair]
		if !ok {
			i = len(lines)
			index[pair] = i
			lines = append(lines, line{from: pair[0], to: pair[1]})
		}
		l := &lines[i]
		if !slices.Contains(l.intents, e.Label) {
			l.intents = append(l.intents, e.Label)
		}
		if e.Attrs.When != "" {
			l.guards = append(l.guards, e.Label+": "+e.Attrs.When)
		}
	}
	return g.andFollows(lines, at), landing
}

// andFollows adds what follows from no intent, to where no other line leads: there are
// many, and most lead back to where a story begins.
func (g Graph) andFollows(lines []line, at map[string]int) []line {
	led := g.led(lines)
	index := map[[2]int]int{}
	for _, e := range g.follows {
		from, ok := at[e.Source]
		to, there := at[e.Target]
		if !ok || !there || from == to || led[to] {
			continue
		}
		pair := [2]int{from, to}
		i, ok := index[pair]
		if !ok {
			i = len(lines)
			index[pair] = i
			lines = append(lines, line{from: from, to: to, follows: true})
		}
		if l := &lines[i]; !slices.Contains(l.intents, e.Label) {
			l.intents = append(l.intents, e.Label)
		}
	}
	return lines
}

// led says of each node whether a line leads to it, or the story begins there.
func (g Graph) led(lines []line) []bool {
	led := make([]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		led[i] = n.Attrs.Initial
	}
	for _, l := range lines {
		led[l.to] = led[l.to] || l.from != l.to
	}
	return led
}

// maxIntents is how many intents a line names; the rest is counted.
const maxIntents = 3

func (l line) label() string {
	if len(l.intents) <= maxIntents {
		return strings.Join(l.intents, ", ")
	}
	return strings.Join(l.intents[:maxIntents], ", ") + " +" + itoa(len(l.intents)-maxIntents)
}

// clip is s in at most n runes.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return strings.TrimSpace(string(r[:n-1])) + "…"
	}
	return s
}

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
	return lines, landing
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

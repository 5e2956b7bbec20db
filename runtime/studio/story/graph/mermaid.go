package graph

import (
	"fmt"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Mermaid is a graph as a Mermaid state diagram.
func (g Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n  direction " + g.Layout.RankDir + "\n")
	lines, landing := g.lines()
	led := g.led(lines)
	if landing != "" {
		fmt.Fprintf(&b, "  %%%% every other room also has: %s\n", landing)
	}
	for i, n := range g.Nodes {
		text := n.Ref.Ref
		if n.Label != n.Ref.Ref {
			text += " · " + clip(oneLine(n.Label), 40)
		}
		fmt.Fprintf(&b, "  state \"%s\" as s%d\n", mermaidText(text), i)
	}
	for i, n := range g.Nodes {
		if n.Attrs.Initial {
			fmt.Fprintf(&b, "  [*] --> s%d\n", i)
		}
	}
	for _, l := range lines {
		fmt.Fprintf(&b, "  s%d --> s%d : %s\n", l.from, l.to, mermaidText(l.label()))
	}
	for i, n := range g.Nodes {
		if n.Attrs.Terminal {
			fmt.Fprintf(&b, "  s%d --> [*]\n", i)
		}
	}
	var agents, lost []string
	for i, n := range g.Nodes {
		if n.Attrs.HasAgent {
			agents = append(agents, "s"+itoa(i))
		}
		if !led[i] {
			lost = append(lost, "s"+itoa(i))
		}
	}
	if len(agents) > 0 {
		b.WriteString("  classDef agent fill:#ede9fe,stroke:#7c3aed\n  class " + strings.Join(agents, ",") + " agent\n")
	}
	if len(lost) > 0 {
		b.WriteString("  classDef unreachable stroke-dasharray:4 3\n  class " + strings.Join(lost, ",") + " unreachable\n")
	}
	return b.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// mermaidText spells what Mermaid would read as its own.
var mermaidText = strings.NewReplacer(`"`, "#quot;", "#", "#35;", ";", "#59;", ":", "#58;", "<", "#lt;", ">", "#gt;", "{", "#123;", "}", "#125;", "\n", " ").Replace

package transcript

import (
	"fmt"
	"slices"
	"strings"
)

// A Line is one row of a transcript as people read it.
type Line struct {
	Who  string // "system", a role, "call", "result", "thinking", "tools", "reply call" …
	Text string // may have several lines
}

// Lines lays t out for reading. What before, the call before it in the same lane, has
// told already is not told again; nil tells everything.
func (t *Transcript) Lines(before *Transcript) []Line {
	var out []Line
	if t.Format == None {
		return out
	}
	if before == nil || !equalParts(before.System, t.System) {
		out = append(out, partLines("system", t.System)...)
	}
	out = append(out, t.toolLines(before)...)
	if before == nil || !slices.Equal(before.Settings, t.Settings) {
		for _, s := range t.Settings {
			out = append(out, Line{"setting", s.Name + " " + s.Value})
		}
	}
	told := 0
	if before != nil {
		told = t.told(before)
	}
	if told > 0 {
		out = append(out, Line{"…", fmt.Sprintf("%d messages as before", told)})
	}
	for _, m := range t.Messages[told:] {
		out = append(out, partLines(m.Role, m.Parts)...)
	}
	for _, m := range t.Reply {
		out = append(out, partLines("→ "+m.Role, m.Parts)...)
	}
	for _, end := range []Line{{"failure", t.Failure}, {"finish", t.Finish}, {"problem", t.Problem}} {
		if end.Text != "" {
			out = append(out, end)
		}
	}
	return out
}

// told is how many messages from the beginning are those of before, or its reply. Marks
// that move from call to call (where a cache ends) make no message new.
func (t *Transcript) told(before *Transcript) int {
	n := 0
	for n < len(t.Messages) && n < len(before.Messages) && t.Messages[n].Role == before.Messages[n].Role &&
		samePartsSaid(t.Messages[n].Parts, before.Messages[n].Parts) {
		n++
	}
	if n == len(before.Messages) && n < len(t.Messages) && len(before.Reply) == 1 && samePartsSaid(t.Messages[n].Parts, before.Reply[0].Parts) {
		n++
	}
	return n
}

func samePartsSaid(a, b []Part) bool {
	return slices.EqualFunc(a, b, func(a, b Part) bool {
		return a.Kind == b.Kind && a.Text == b.Text && a.Name == b.Name && a.Input == b.Input && a.Error == b.Error && (a.Kind != Other || a.Extra == b.Extra)
	})
}

// equalParts leaves aside where the parts stand.
func equalParts(a, b []Part) bool {
	return slices.EqualFunc(a, b, func(a, b Part) bool {
		a.Where, b.Where = "", ""
		return a == b
	})
}

func equalTool(a, b Tool) bool {
	a.Where, b.Where = "", ""
	return a == b
}

func partLines(who string, parts []Part) []Line {
	var out []Line
	for _, p := range parts {
		l := Line{who, p.Text}
		switch p.Kind {
		case Thinking, Refusal, Media:
			l.Who += " " + string(p.Kind)
		case Call:
			l = Line{who + " call", strings.TrimSpace(p.Name + " " + p.Input)}
		case Result:
			l.Who = "result"
			if p.Error {
				l.Who = "result, failed"
			}
			if p.Name != "" {
				l.Text = p.Name + " " + l.Text
			}
		}
		if p.Extra != "" {
			l.Text = strings.TrimSpace(l.Text + "\n" + p.Extra)
		}
		out = append(out, l)
	}
	return out
}

// toolLines are the tools that are not as before, and those that are gone.
func (t *Transcript) toolLines(before *Transcript) []Line {
	var out []Line
	for _, tool := range t.Tools {
		if before != nil && slices.ContainsFunc(before.Tools, func(b Tool) bool { return equalTool(tool, b) }) {
			continue
		}
		text := tool.Name
		for _, more := range []string{tool.Description, tool.Schema, tool.Extra} {
			if more != "" {
				text += "\n" + more
			}
		}
		out = append(out, Line{"tool", text})
	}
	if before == nil {
		return out
	}
	for _, b := range before.Tools {
		if !slices.ContainsFunc(t.Tools, func(tool Tool) bool { return tool.Name == b.Name }) {
			out = append(out, Line{"tool gone", b.Name})
		}
	}
	return out
}

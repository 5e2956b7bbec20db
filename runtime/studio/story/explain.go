package story

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// An Explained line is what the engine makes of it.
type Explained struct {
	File     string    `json:"file"`
	Line     int       `json:"line"`
	Path     string    `json:"path"`     // in the YAML: states.hall.on.go[0].target
	Inside   []Part    `json:"inside"`   // what the line stands in, the outermost first
	Parts    []Part    `json:"parts"`    // what begins on it
	Findings []Finding `json:"findings"` // what is wrong with it
}

// A Part is a thing of a story, as the engine has it. Names are those of the whole story:
// an imported file calls them otherwise.
type Part struct {
	Kind   string   `json:"kind"` // state, on, arc, effect, assignment, count, bind, intent, slot, world, agent, timeout, interface, exit, key, nothing
	Name   string   `json:"name"`
	Scope  string   `json:"scope,omitempty"`  // the import that it comes through
	Target string   `json:"target,omitempty"` // where it leads, resolved
	When   string   `json:"when,omitempty"`
	Does   string   `json:"does,omitempty"`
	Reads  []string `json:"reads,omitempty"`
	Writes []string `json:"writes,omitempty"`
	at     source.Pos
}

// Explain says what the engine makes of a line. name is the file seen from the story's
// folder, or absolute; root is where libraries are found.
func Explain(ctx context.Context, files load.Files, app, root, name string, line int) (Explained, error) {
	const op = "story.explain"
	app = manifest(app)
	dir := path.Dir(app)
	full := name
	if !path.IsAbs(full) {
		full = path.Join(dir, name)
	}
	shown := load.Shown(dir, full)
	out := Explained{File: shown, Line: line, Inside: []Part{}, Parts: []Part{}, Findings: []Finding{}}
	raw, err := files.Read(ctx, full)
	if err != nil {
		return out, err
	}
	if lines := strings.Count(string(raw), "\n") + 1; line < 1 || line > lines {
		return out, fault.New(fault.Invalid, op, "%q has %d lines, and line %d was asked for", shown, lines, line).WithHint("name a line from 1 to %d", lines)
	}
	var yaml source.Reader
	var above []source.Pos
	out.Path, above = trail(yaml.Parse(shown, raw), line)
	s, list, err := load.Load(ctx, load.Options{Files: files, App: app, Root: root})
	if err != nil {
		return out, err
	}
	for _, f := range list {
		if f.File == shown && f.Line == line {
			out.Findings = append(out.Findings, found(f))
		}
	}
	if s == nil {
		return out, nil
	}
	for _, p := range partsOf(s) {
		switch {
		case p.at.File != shown:
		case p.at.Line == line:
			out.Parts = append(out.Parts, p)
		case slices.Contains(above, p.at):
			out.Inside = append(out.Inside, p)
		}
	}
	text := strings.Split(string(raw), "\n")[line-1]
	plain := strings.TrimSpace(text) == "" || strings.HasPrefix(strings.TrimSpace(text), "#")
	if p := plainly(text, out.Path); len(out.Parts) == 0 && p.Does != "" && (len(out.Inside) == 0 || plain && p.Kind == "nothing") {
		out.Parts = append(out.Parts, p)
	}
	slices.SortStableFunc(out.Inside, func(a, b Part) int { return slices.Index(above, a.at) - slices.Index(above, b.at) })
	return out, nil
}

// trail is the way to a line through a file: its keys, and the places that they stand at.
func trail(n *source.Node, line int) (way string, above []source.Pos) {
	for n != nil {
		above = append(above, n.Pos)
		var next *source.Node
		var step string
		var at source.Pos
		switch n.Kind {
		case source.Map:
			for _, k := range n.Keys {
				if k.Pos.Line > line || next != nil && at.Line == line {
					break // of several on one line the first
				}
				next, step, at = k.Val, "."+k.Name, k.Pos
			}
			if next != nil {
				above = append(above, at)
			}
		case source.List:
			for i, it := range n.List {
				if it.Pos.Line > line {
					break
				}
				next, step = it, "["+strconv.Itoa(i)+"]"
			}
		}
		if next == nil {
			break
		}
		way += step
		if n = next; at.Line == line { // the rest of it stands on the same line
			break
		}
	}
	return strings.TrimPrefix(way, "."), above
}

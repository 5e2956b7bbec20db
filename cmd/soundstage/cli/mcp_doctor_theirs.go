package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/server"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// A mcpTheirs is what somebody else's server would bring to a turn. Its schemas reach a
// model as they are, so a finding is told and is no failure of ours.
type mcpTheirs struct {
	Name     string       `json:"name" jsonschema:"as mcp.json calls it"`
	Tools    int          `json:"tools" jsonschema:"that a model would have"`
	Dropped  int          `json:"dropped" jsonschema:"tools that it would not have"`
	Findings []mcpFinding `json:"findings" jsonschema:"what some clients and providers do not like"`
	Error    string       `json:"error,omitempty" jsonschema:"why it has no tools, with a code"`
}

// theirs starts the servers that a turn in this studio would have, and ends them.
func (a *app) theirs(ctx context.Context) (out []mcpTheirs, err error) {
	o := a.direct()
	if err := o.Allowed(); err != nil {
		return nil, err
	}
	list, err := a.readServers()
	if err != nil {
		return nil, err
	}
	studio, err := a.scope("here")
	if err != nil {
		return nil, err
	}
	var wanted []server.Entry
	for _, r := range list.Rejects() {
		out = append(out, mcpTheirs{Name: r.Name, Findings: []mcpFinding{}, Error: fmt.Sprintf("%s: %v", fault.CodeOf(r.Err), r.Err)})
	}
	for _, e := range list.Entries() {
		if e.Enabled && e.In(studio) && a.barred(e.Name) == nil {
			wanted = append(wanted, e)
		}
	}
	door, err := seam.Open(o)
	if err != nil {
		return nil, err
	}
	manager := a.servers(door)
	defer manager.Close(ctx)
	joined, err := manager.Sync(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for _, s := range joined.States {
		out = append(out, theirsOf(s, joined.Tools))
	}
	return out, nil
}

func theirsOf(s mcp.State, tools []tool.Tool) mcpTheirs {
	t := mcpTheirs{Name: s.Name, Tools: s.Tools, Dropped: len(s.Dropped), Findings: []mcpFinding{}}
	if s.Err != nil {
		t.Error = fmt.Sprintf("%s: %v", fault.CodeOf(s.Err), s.Err)
	}
	for _, x := range tools {
		if x.Area != s.Name {
			continue
		}
		for _, f := range tool.Lint(x.Input()) {
			t.Findings = append(t.Findings, mcpFinding{x.Name(), "input", f})
		}
	}
	return t
}

func writeTheirs(w io.Writer, all []mcpTheirs) {
	for _, t := range all {
		switch {
		case t.Error != "":
			fmt.Fprintf(w, "theirs %s: %s\n", t.Name, t.Error)
		case len(t.Findings) == 0:
			fmt.Fprintf(w, "theirs %s: %s, and nothing to say of their schemas\n", t.Name, count(t.Tools, "tool"))
		}
		for _, f := range t.Findings {
			fmt.Fprintf(w, "theirs %s: %s: %s: %s\n", t.Name, f.Tool, f.Part, f.Finding)
		}
		if t.Dropped > 0 {
			fmt.Fprintf(w, "theirs %s: %s left out; which: soundstage server test %s\n", t.Name, count(t.Dropped, "tool"), t.Name)
		}
	}
}

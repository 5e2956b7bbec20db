package cli

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// The belts: which tools a client sees in its list.
const (
	beltDirect = "direct" // those that are always of use; the others are found
	beltFull   = "full"
)

// The bounds of --tools.
const (
	maxPatterns = 100
	maxPattern  = 200 // bytes of one
)

// A posture is how a server stands towards its client: what it has, and what it asks
// about.
type posture struct {
	readOnly bool
	tools    []string // patterns of ids; with ! before it one that is left out
	belt     string
	studios  []string
	gate     string // "" is the studio's own
}

func (p *posture) register(set *pflag.FlagSet) {
	set.BoolVar(&p.readOnly, "read-only", false, "only tools that read")
	set.StringSliceVar(&p.tools, "tools", nil, "only tools whose id fits a `pattern`: studio.*,!studio.delete")
	set.StringVar(&p.belt, "belt", beltDirect, "which tools are listed: direct, or full: those too that capability.find finds")
	set.StringSliceVar(&p.studios, "studio", nil, "only these `studios` of tools: "+strings.Join(studioNames(), ", ")+" (the folder is the argument)")
	set.StringVar(&p.gate, "gate", "", "how careful the `gate` is: guarded, autopilot or full (default: the studio's own)")
}

// A shelf is the tools of one studio, in the sense of a place to work at.
type shelf struct {
	name string
	has  func(s tool.Spec) bool
}

// shelves are all of them, in the order in which they are listed.
func shelves() []shelf {
	return []shelf{
		{"content", func(s tool.Spec) bool { return s.Domain != "story" }},
		{"story", func(s tool.Spec) bool { return s.Domain == "story" || s.ID == "result.query" }},
	}
}

func studioNames() (names []string) {
	for _, s := range shelves() {
		names = append(names, s.name)
	}
	return names
}

// check finds what no posture may be, before anything is opened.
func (p posture) check() error {
	const op = "mcp.posture"
	if p.belt != beltDirect && p.belt != beltFull {
		return fault.New(fault.Invalid, op, "belt is %q", p.belt).WithHint("use direct or full")
	}
	if p.gate != "" && !slices.Contains(gateModes, trust.Mode(p.gate)) {
		return fault.New(fault.Invalid, op, "gate is %q", p.gate).WithHint("use guarded, autopilot or full")
	}
	for _, name := range p.studios {
		if !slices.Contains(studioNames(), name) {
			return fault.New(fault.Invalid, op, "there is no studio of tools %q", name).
				WithHint("the known ones: %s; a folder is an argument: soundstage mcp DIR", strings.Join(studioNames(), ", "))
		}
	}
	if len(p.tools) > maxPatterns {
		return fault.New(fault.Invalid, op, "%d patterns of tools, and %d is the most", len(p.tools), maxPatterns)
	}
	for _, s := range p.tools {
		if _, err := path.Match(bare(s), ""); err != nil || bare(s) == "" || len(s) > maxPattern {
			return fault.New(fault.Invalid, op, "%q is no pattern of tools", s).WithHint("write ids, * for any text, and ! before what is left out: studio.*,!studio.delete")
		}
	}
	return nil
}

// bare is a pattern without the mark of one that leaves out.
func bare(pattern string) string { return strings.TrimPrefix(pattern, "!") }

// registry is what the server has, and nothing else: the gate gets the same one, so that
// a tool that is left out is unknown, whoever asks for it by whatever way.
func (p posture) registry(h *house) (*tool.Registry, error) {
	tools := slices.DeleteFunc(slices.Clone(h.tools), func(t tool.Tool) bool {
		return len(p.studios) > 0 && !slices.ContainsFunc(shelves(), func(s shelf) bool { return slices.Contains(p.studios, s.name) && s.has(t.Spec) })
	})
	if p.readOnly {
		tools = slices.DeleteFunc(tools[:len(tools):len(tools)], func(t tool.Tool) bool { return !h.table.ReadOnly(t.ID) })
	}
	all := newRegistry(tools)
	if len(p.tools) == 0 {
		return all, nil
	}
	if err := p.misses(all); err != nil {
		return nil, err
	}
	kept := slices.DeleteFunc(tools[:len(tools):len(tools)], func(t tool.Tool) bool { return !p.has(t.ID) })
	// What is left over is not found either: the finder knows only these.
	some := newRegistry(kept)
	deferred := slices.ContainsFunc(kept, func(t tool.Tool) bool { return t.Exposure == tool.Deferred })
	some = some.Only(func(s tool.Spec) bool {
		carries := strings.HasPrefix(s.ID, "capability.")
		return !carries || p.has(s.ID) || deferred && p.belt == beltDirect && !p.leavesOut(s.ID)
	})
	if some.Len() == 0 {
		return nil, fault.New(fault.Invalid, "mcp.posture", "no tool is left of %s", strings.Join(p.tools, ",")).WithHint("list tools: soundstage tool ls")
	}
	return some, nil
}

// misses is the error of a pattern that fits nothing: a slip would leave a client
// without a tool, or with one that it should not have.
func (p posture) misses(all *tool.Registry) error {
	for _, s := range p.tools {
		if !slices.ContainsFunc(all.Names(), func(id string) bool { return matches(bare(s), id) }) {
			e := fault.New(fault.Invalid, "mcp.posture", "no tool of this server fits %q", s)
			if near := tool.Near(bare(s), all.Names()); len(near) > 0 {
				return e.WithHint("did you mean %s?", strings.Join(near, " or "))
			}
			return e.WithHint("list tools: soundstage tool ls")
		}
	}
	return nil
}

// has says whether the patterns keep a tool: one that takes it in, where there is one
// that takes in, and none that leaves it out.
func (p posture) has(id string) bool {
	in, any := false, false
	for _, s := range p.tools {
		if !strings.HasPrefix(s, "!") {
			any = true
			in = in || matches(s, id)
		}
	}
	return (in || !any) && !p.leavesOut(id)
}

func (p posture) leavesOut(id string) bool {
	return slices.ContainsFunc(p.tools, func(s string) bool { return strings.HasPrefix(s, "!") && matches(bare(s), id) })
}

func matches(pattern, id string) bool {
	ok, err := path.Match(pattern, id)
	return ok && err == nil
}

// gateMode is the gate's mode: what the command line says, else what the studio says.
func (p posture) gateMode(c config) trust.Mode {
	if p.gate != "" {
		return trust.Mode(p.gate)
	}
	return trust.Mode(c.Gate)
}

// bar is one line that says how the server stands, for a client's model and people.
func (p posture) bar(gate trust.Mode, doors seam.Mode) string {
	parts := []string{fmt.Sprintf("%s gate (%s)", gate, asks(gate)), "outside doors " + string(doors), p.belt + " belt"}
	if p.readOnly {
		parts = append(parts, "read-only")
	}
	if len(p.studios) > 0 {
		parts = append(parts, "studios "+strings.Join(p.studios, ","))
	}
	if len(p.tools) > 0 {
		parts = append(parts, "tools "+strings.Join(p.tools, ","))
	}
	return strings.Join(parts, ", ")
}

// asks says what a person is asked in a mode.
func asks(m trust.Mode) string {
	switch m {
	case trust.Full:
		return "asks nobody"
	case trust.Autopilot:
		return "asks before a deletion"
	default:
		return "asks before every write"
	}
}

// instructions are what the client's model is told: how to work with these tools, and
// how the server stands, as far as a client takes it in.
func (p posture) instructions(r *tool.Registry, gate trust.Mode, doors seam.Mode) string {
	text := studio.Served(studio.Posture{Registry: r, Mode: gate, FullBelt: p.belt == beltFull})
	bar := "\n\nThis server: " + p.bar(gate, doors)
	if room := studio.MaxServed - len(text) - len("….") - len("\n"); len(bar) > room {
		bar = strings.ToValidUTF8(bar[:max(room, 0)], "") + "…"
	}
	return text + bar + "."
}

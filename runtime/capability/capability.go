// Package capability is how a model finds tools that are not on its belt, and runs
// them where the client cannot list tools anew.
//
// It stands above the tool registry, whose deferred tools are its catalog. The
// ranking is deterministic and keeps no index. It runs nothing and classifies
// nothing: capability.call is unwrapped by runtime/gate before any handler runs.
package capability

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// MaxRevealed is how many tools one search reveals.
const MaxRevealed = 5

// The codes of this package.
const (
	CodeUnknown   fault.Code = "CAPABILITY_UNKNOWN" // no deferred tool of that id
	CodeUnwrapped fault.Code = "CAPABILITY_CALL"    // a call that the gate did not unwrap
)

// An Action is what capability.find does.
type Action string

// Enum lists the actions.
func (Action) Enum() []string { return []string{"search", "browse", "describe"} }

// FindIn asks for tools. Every field may be left out.
type FindIn struct {
	Action Action `json:"action,omitempty" jsonschema:"search ranks tools by a query, browse shows domains, areas and actions without schemas, describe gives one tool; guessed from the other fields if left out"`
	Query  string `json:"query,omitempty" jsonschema:"for search: what should be done, in a few words, such as rename a character"`
	ID     string `json:"id,omitempty" jsonschema:"for describe: the exact id of a tool, such as character.identity.update"`
	Domain string `json:"domain,omitempty" jsonschema:"for browse: a domain, such as content; content/character is taken too"`
	Area   string `json:"area,omitempty" jsonschema:"for browse: an area of the domain, such as identity"`
	Kind   string `json:"kind,omitempty" jsonschema:"only tools for this kind of piece, such as character"`
	Target string `json:"target,omitempty" jsonschema:"only tools that fit this piece, written as kind/id, such as character/ada"`
}

// FindOut is what was found.
type FindOut struct {
	Action  Action     `json:"action"`
	Tools   []Revealed `json:"tools,omitempty"`   // search and describe: these can be called now
	Entries []Entry    `json:"entries,omitempty"` // browse
	Note    string     `json:"note"`
}

// A Revealed is a tool that can be called now, by its own name or through
// capability.call.
type Revealed struct {
	ID      string      `json:"id"`
	Summary string      `json:"summary"`
	Effect  tool.Effect `json:"effect"`
	Input   tool.Object `json:"input_schema,omitempty"` // not in the loop
}

// An Entry is one line of browse.
type Entry struct {
	Domain  string `json:"domain"`
	Area    string `json:"area,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Action  string `json:"action,omitempty"`
	ID      string `json:"id,omitempty"`
	Summary string `json:"summary,omitempty"`
	Tools   int    `json:"tools"`
}

// CallIn runs a tool by its id.
type CallIn struct {
	ID    string      `json:"id" jsonschema:"the exact id of the tool, as capability.find gave it"`
	Input tool.Object `json:"input,omitempty" jsonschema:"the tool's own input, as its input_schema says"`
}

// Tools are capability.find and capability.call. catalog gives all tools of the
// session's registry at the time of the call.
func Tools(catalog func() []tool.Tool) []tool.Tool {
	return []tool.Tool{findTool(catalog), callTool()}
}

func callTool() tool.Tool {
	return tool.New(tool.Spec{
		ID: "capability.call", Title: "Call a capability", Effect: tool.Unknown, Exposure: tool.Direct,
		// The loop's belt has what was revealed: a model there calls it by its name.
		Skins:       []tool.Skin{tool.MCP, tool.CLI},
		Summary:     "Run a tool that capability.find revealed, by its id.",
		Description: "For clients that do not list tools anew. The call is allowed, asked about or denied exactly as the tool itself would be.",
	}, func(_ context.Context, _ tool.Call, in CallIn) (tool.Reply[struct{}], error) {
		return tool.Reply[struct{}]{}, fault.New(CodeUnwrapped, "capability.call", "the call of %q did not go through the gate", in.ID)
	})
}

func findTool(catalog func() []tool.Tool) tool.Tool {
	return tool.New(tool.Spec{
		ID: "capability.find", Title: "Find capabilities", Effect: tool.Read, Exposure: tool.Direct,
		Inline:  result.MaxInlineRead, // the schema of the best tool is never behind a handle
		Summary: "Find tools for a task: search by words, browse what there is, or describe one.",
		Description: "Most editing tools are not listed until this reveals them. A search reveals up to five, describe one; they replace what was revealed before, " +
			"and you get their input schemas. A query alone means search, an id alone describe, neither browse.",
	}, func(_ context.Context, call tool.Call, in FindIn) (tool.Reply[FindOut], error) {
		f, err := newFinder(catalog(), call, in)
		if err != nil {
			return tool.Reply[FindOut]{}, err
		}
		switch f.in.Action {
		case "search":
			return f.search()
		case "describe":
			return f.describe()
		}
		return f.browse()
	})
}

type finder struct {
	in    FindIn
	skin  tool.Skin
	tools []tool.Tool // deferred, available, of the wanted kind; by id
}

func newFinder(all []tool.Tool, call tool.Call, in FindIn) (*finder, error) {
	f := &finder{in: in, skin: call.Skin}
	if f.in.Action == "" {
		f.in.Action = guess(all, in)
	}
	if domain, kind, ok := strings.Cut(f.in.Domain, "/"); ok {
		f.in.Domain = domain
		if f.in.Kind == "" {
			f.in.Kind = kind
		}
	}
	if in.Target != "" {
		kind, id, ok := strings.Cut(in.Target, "/")
		if !ok || kind == "" || id == "" {
			return nil, fault.New(fault.Invalid, "capability.find", "the target %q is not written as kind/id", in.Target).
				WithHint("write it as character/ada")
		}
		f.in.Kind = kind
	}
	for _, t := range all {
		if t.Exposure == tool.Deferred && t.On(call.Skin) && t.Here() && (f.in.Kind == "" || t.Kind == "" || t.Kind == f.in.Kind) {
			f.tools = append(f.tools, t)
		}
	}
	slices.SortFunc(f.tools, func(a, b tool.Tool) int { return strings.Compare(a.ID, b.ID) })
	return f, nil
}

// guess is the action of a compact call. A query that is a tool's exact id is a
// description.
func guess(all []tool.Tool, in FindIn) Action {
	switch {
	case in.ID != "":
		return "describe"
	case in.Query == "":
		return "browse"
	case slices.ContainsFunc(all, func(t tool.Tool) bool { return isID(t, strings.TrimSpace(in.Query)) }):
		return "describe"
	}
	return "search"
}

func isID(t tool.Tool, s string) bool {
	return t.Exposure == tool.Deferred && (t.ID == s || tool.Fold(t.ID) == s)
}

// reveal answers with tools. The loop hands their schemas to the model with its next
// request, so there they would only be paid for twice. Elsewhere the best tools come
// with theirs, as far as one answer holds them.
func (f *finder) reveal(action Action, note string, tools ...tool.Tool) (tool.Reply[FindOut], error) {
	rep := tool.Reply[FindOut]{Out: FindOut{Action: action, Note: note, Tools: []Revealed{}}, Reveal: []string{}}
	for _, t := range tools {
		rep.Reveal = append(rep.Reveal, t.ID)
		rep.Out.Tools = append(rep.Out.Tools, Revealed{ID: t.ID, Summary: t.Summary, Effect: t.Effect})
	}
	if f.skin == tool.Loop {
		return rep, nil
	}
	frame, err := canon.Marshal(rep.Out)
	if err != nil {
		return rep, fault.Wrap(err, fault.Internal, "capability.find", "encode what was found")
	}
	room := result.MaxInline - utf8.RuneCount(frame) - utf8.RuneCountInString(further)
	for i, t := range tools {
		n := utf8.RuneCount(t.Input()) + len(`,"input_schema":`)
		if i > 0 && n > room {
			rep.Out.Note += further
			break
		}
		rep.Out.Tools[i].Input = tool.Object(t.Input())
		room -= n
	}
	return rep, nil
}

// further is the note where not every schema had room.
const further = "; where a tool has no input_schema here, describe it by its id first"

// how is the next step after a find, with what this skin has.
func (f *finder) how(call string) string {
	switch f.skin {
	case tool.Loop:
		return call + " by its name, its id with _ for each dot"
	case tool.MCP: // which lists no deferred tool, so that clients do not know the name
		return call + " through capability.call with its id"
	default:
		return call + " by its id"
	}
}

func (f *finder) search() (tool.Reply[FindOut], error) {
	found := rank(f.tools, f.in.Query)
	if len(found) == 0 {
		rep, err := f.reveal("search", "nothing fits; use other words, or browse")
		rep.Reveal = nil // what was revealed before stays
		return rep, err
	}
	return f.reveal("search", f.how("call one of these"), found...)
}

func (f *finder) describe() (tool.Reply[FindOut], error) {
	id := f.in.ID
	if id == "" {
		id = strings.TrimSpace(f.in.Query)
	}
	for _, t := range f.tools {
		if isID(t, id) {
			return f.reveal("describe", f.how("call it"), t)
		}
	}
	e := fault.New(CodeUnknown, "capability.find", "there is no capability %q", id)
	var near []string
	for _, t := range rank(f.tools, strings.NewReplacer(".", " ", "_", " ").Replace(id)) {
		near = append(near, t.ID)
	}
	if len(near) == 0 {
		return tool.Reply[FindOut]{}, e.WithHint("search for it in words, or browse")
	}
	return tool.Reply[FindOut]{}, e.WithHint("perhaps %s", strings.Join(near, " or "))
}

// browse shows domains, then the areas of one, then the actions of one area.
func (f *finder) browse() (tool.Reply[FindOut], error) {
	none := tool.Reply[FindOut]{}
	out := FindOut{Action: "browse", Entries: []Entry{}, Note: "give a domain to see its areas"}
	switch {
	case f.in.Area != "":
		out.Note = "describe one of these ids to reveal it"
	case f.in.Domain != "" || f.in.Kind != "":
		out.Note = "give an area to see its actions"
	}
	for _, t := range f.tools {
		if f.in.Domain != "" && t.Domain != f.in.Domain || f.in.Area != "" && t.Area != f.in.Area {
			continue
		}
		e := Entry{Domain: t.Domain}
		if f.in.Domain != "" || f.in.Kind != "" || f.in.Area != "" {
			e.Area, e.Kind = t.Area, t.Kind
		}
		if f.in.Area != "" {
			e.Action, e.ID, e.Summary = t.Action, t.ID, t.Summary
		}
		out.add(e)
	}
	if len(out.Entries) == 0 && (f.in.Domain != "" || f.in.Area != "" || f.in.Kind != "") {
		return none, fault.New(CodeUnknown, "capability.find", "nothing in domain %q, area %q, kind %q", f.in.Domain, f.in.Area, f.in.Kind).
			WithHint("browse without fields to see the domains")
	}
	return tool.Reply[FindOut]{Out: out}, nil
}

// add counts a tool in the entry that it falls into.
func (o *FindOut) add(e Entry) {
	for i, has := range o.Entries {
		has.Tools = 0
		if has == e {
			o.Entries[i].Tools++
			return
		}
	}
	e.Tools = 1
	o.Entries = append(o.Entries, e)
}

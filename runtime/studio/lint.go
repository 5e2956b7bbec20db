package studio

import (
	"context"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// maxFindings bounds the findings of one answer.
const maxFindings = 200

// The severities of findings.
const (
	LintError   = "error"   // it cannot work as it stands
	LintWarning = "warning" // it hardly is what the author wants
	LintNote    = "note"    // worth knowing
)

// A Finding is something in a piece that somebody should look at.
type Finding struct {
	Rule     string `json:"rule"`     // stable: key-empty
	Severity string `json:"severity"` // error, warning or note
	Piece    string `json:"piece"`    // character/ada
	Path     string `json:"path"`     // a JSON Pointer into the body; "" is the whole piece
	Message  string `json:"message"`
}

// A Linter looks for what is wrong with a piece. has says whether a piece is there.
type Linter interface {
	Lint(p store.Piece, has func(store.Ref) (bool, error)) ([]Finding, error)
}

// LintIn says what to look at.
type LintIn struct {
	Kind string `json:"kind,omitempty" jsonschema:"the kind of the piece, such as character; alone: all pieces of that kind"`
	ID   string `json:"id,omitempty" jsonschema:"the id of the piece, as studio.list shows it; leave out for all pieces"`
}

// LintOut are the findings.
type LintOut struct {
	Pieces   int       `json:"pieces"` // that were looked at
	Findings []Finding `json:"findings"`
	More     int       `json:"more,omitempty"` // findings beyond what one answer holds
}

func lintTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.lint", Title: "Lint pieces", Effect: tool.Read, Exposure: tool.Deferred,
		Domain: "studio", Area: "lint", Action: "lint",
		Summary: "Look for what is wrong in one piece or in all: dead links, entries without keys, rules that never match, credentials.",
		Description: "Each finding has a rule, a severity (error, warning, note) and the path of the value. It looks at what is stored, and changes nothing. " +
			"What a rule means is in the page of documentation on linting.",
		Aliases: []string{
			"check", "problems", "mistakes", "what is wrong", "validate a piece", "broken links", "dead links", "duplicate names", "orphans", "health", "audit",
			"empty keys", "find errors", "review quality",
		},
	}, func(ctx context.Context, call tool.Call, in LintIn) (tool.Reply[LintOut], error) {
		const op = "studio.lint"
		if in.ID != "" && in.Kind == "" {
			return tool.Reply[LintOut]{}, fault.New(fault.Invalid, op, "the id %q comes without a kind", in.ID).WithHint("give the kind too, such as character")
		}
		out, err := d.Lint(ctx, op, store.Ref{Kind: in.Kind, ID: in.ID}, func(n int) { call.Progress(float64(n), 0, "pieces looked at") })
		if len(out.Findings) > maxFindings {
			out.More = len(out.Findings) - maxFindings
			out.Findings = out.Findings[:maxFindings]
		}
		return tool.Reply[LintOut]{Out: out}, err
	})
}

// Lint looks at one piece, at all of a kind where ref has no id, or at all. looked is
// told of each.
func (d Deps) Lint(ctx context.Context, op string, ref store.Ref, looked func(n int)) (LintOut, error) {
	out := LintOut{Findings: []Finding{}}
	has := func(ref store.Ref) (bool, error) {
		_, err := d.Store.Get(ctx, ref, 0)
		if fault.CodeOf(err) == fault.NotFound {
			return false, nil
		}
		return err == nil, err
	}
	if ref.ID != "" {
		p, err := d.stored(ctx, op, ref, 0)
		if err != nil {
			return out, err
		}
		out.Pieces = 1
		found, err := d.Linter.Lint(p, has)
		out.Findings = append(out.Findings, found...)
		return out, err
	}
	if _, ok := d.Kinds.byName[ref.Kind]; !ok && ref.Kind != "" {
		return out, fault.New(CodeKind, op, "no studio here knows the kind %q", ref.Kind)
	}
	for s, err := range store.All(ctx, d.Store, store.Query{Kind: ref.Kind}) {
		if err != nil {
			return out, err
		}
		p, err := d.Store.Get(ctx, s.Ref, s.Revision)
		if fault.CodeOf(err) == fault.NotFound {
			continue // deleted meanwhile
		}
		if err != nil {
			return out, err
		}
		found, err := d.Linter.Lint(p, has)
		if err != nil {
			return out, err
		}
		out.Findings = append(out.Findings, found...)
		out.Pieces++
		looked(out.Pieces)
	}
	return out, nil
}

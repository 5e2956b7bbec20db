package content

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// Drafts is what the capabilities need of runtime/draft.
type Drafts interface {
	// Base is the caller's open proposal for a piece, else the stored piece.
	Base(ctx context.Context, owner string, ref store.Ref) (draft.Basis, error)
	// Compose adds an operation to the caller's draft, or begins one.
	Compose(ctx context.Context, owner string, p draft.Proposal) (draft.Draft, error)
}

// Deps are the doors of the tools.
type Deps struct{ Drafts Drafts }

// Tools are the tools of this studio.
func Tools(d Deps) []tool.Tool {
	if d.Drafts == nil {
		panic("content: the drafts are missing")
	}
	return []tool.Tool{createTool(d), identityTool(d), promptsTool(d), greetingsTool(d)}
}

// target is the part of an input that says what is edited.
type target struct{ id, variant string }

// edit runs one pure operation over the caller's present proposal for a character,
// and composes what it gives. op must not keep the character.
func edit[In any](ctx context.Context, d Deps, call tool.Call, capability string, at target, in In, op func(*Fields) error) (tool.Reply[preview.Drafted], error) {
	none := tool.Reply[preview.Drafted]{}
	ref := store.Ref{Kind: KindCharacter, ID: at.id}
	if err := store.CheckRef(ref); err != nil {
		return none, err
	}
	base, err := d.Drafts.Base(ctx, call.Session, ref)
	if fault.CodeOf(err) == fault.NotFound {
		return none, fault.Wrap(err, fault.NotFound, capability, "there is no character %q", at.id).
			WithHint("call studio.list with kind character, or studio.character.create to make one")
	}
	if err != nil {
		return none, err
	}
	c, err := ParseCharacter(base.Piece.Body)
	if err != nil {
		return none, err
	}
	fields, err := c.fields(at.variant)
	if err != nil {
		return none, err
	}
	if err := op(fields); err != nil {
		return none, err
	}
	proposed := base.Piece
	if proposed.Body, err = c.Body(); err != nil {
		return none, err
	}
	if bytes.Equal(proposed.Body, base.Piece.Body) {
		return none, fault.New(draft.CodeUnchanged, capability, "nothing changes: %s already is as you ask", ref).
			WithHint("read the character, and give only fields that should be different")
	}
	proposed.Title = titleOf(c)
	return compose(ctx, d, call, capability, in, draft.Proposal{Baseline: base.Piece, Proposed: proposed})
}

// fields is the base path, or that of a variant.
func (c *Character) fields(variant string) (*Fields, error) {
	if variant == "" {
		return &c.Fields, nil
	}
	var ids []string
	for i := range c.Variants {
		if c.Variants[i].ID == variant {
			return &c.Variants[i].Fields, nil
		}
		ids = append(ids, c.Variants[i].ID)
	}
	e := fault.New(CodeVariant, "content.variant", "%q has no variant %q", c.Identity.Name, variant)
	if len(ids) == 0 {
		return nil, e.WithHint("it has no variants: leave variant out")
	}
	return nil, e.WithHint("use one of %s, or leave variant out", strings.Join(ids, ", "))
}

func compose[In any](ctx context.Context, d Deps, call tool.Call, capability string, in In, p draft.Proposal) (tool.Reply[preview.Drafted], error) {
	none := tool.Reply[preview.Drafted]{}
	if _, err := ParseCharacter(p.Proposed.Body); err != nil {
		return none, err
	}
	input, err := canon.Marshal(in)
	if err != nil {
		return none, err
	}
	p.Op = draft.Op{Capability: capability, Input: string(input), Changes: inOrder(preview.Changes(p, labels))}
	p.Op.Impact = impact(p)
	made, err := d.Drafts.Compose(ctx, call.Session, p)
	if err != nil {
		return none, err
	}
	return preview.Reply(made, p.Op), nil
}

// sections is the order in which a person reads a character; a body's own order is
// that of the alphabet.
var sections = []string{"identity", "persona", "prompts", "greetings", "examples", "media", "settings", "discovery", "attribution"}

func inOrder(rows []draft.Change) []draft.Change {
	rank := func(c draft.Change) int {
		section, _, _ := strings.Cut(strings.TrimPrefix(c.Path, "/"), "/")
		if i := slices.Index(sections, section); i >= 0 {
			return i
		}
		return len(sections)
	}
	slices.SortStableFunc(rows, func(a, b draft.Change) int { return rank(a) - rank(b) })
	return rows
}

// labels are the reader's words for fields whose path does not say them.
var labels = map[string]string{
	"/identity/fullName": "Full name", "/prompts/system": "System prompt", "/prompts/postHistory": "Post-history instructions",
	"/prompts/depthInjections": "Depth injections", "/greetings/first": "First message", "/greetings/alternates": "Alternate greetings",
	"/greetings/groupOnly": "Group-only greetings", "/examples": "Example dialogue",
}

// impact says where a changed field has no place of its own: in the format that the
// character came from, else in version 2, which most programs read.
func impact(p draft.Proposal) []draft.Impact {
	before, errBefore := canon.ParseTree(p.Baseline.Body)
	after, errAfter := canon.ParseTree(p.Proposed.Body)
	if errAfter != nil {
		return nil
	}
	if errBefore != nil {
		before = canon.NewObject()
	}
	to, platform := card.V2, "json-v2"
	for _, esc := range p.Proposed.Escrow {
		for _, f := range formats {
			if f.name == esc.Format {
				to, platform = f.version, f.name
			}
		}
	}
	var rows []draft.Impact
	_, losses := card.Write(after, to, nil)
	for _, l := range losses {
		if now, was := after.At(l.Path), before.At(l.Path); !canon.Equal(now, was) {
			rows = append(rows, draft.Impact{Platform: platform, Effect: l.Path + " is " + string(l.Verdict) + ": " + l.Reason})
		}
	}
	return rows
}

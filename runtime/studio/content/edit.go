package content

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// An action is one capability at work on one piece.
type action struct {
	kind, capability string
	id               string // of the piece
}

// say notes a warning of an operation, for the person who reviews the draft.
type say func(format string, args ...any)

// edit runs one pure operation over the caller's present proposal for a piece, and
// composes what it gives. op must not keep the body.
func edit[B Body, In any](ctx context.Context, d Deps, call tool.Call, a action, in In, op func(b *B, warn say) error) (tool.Reply[preview.Drafted], error) {
	none := tool.Reply[preview.Drafted]{}
	base, err := d.base(ctx, call, a)
	if err != nil {
		return none, err
	}
	b, err := Parse[B](base.Piece.Body)
	if err != nil {
		return none, err
	}
	var warnings []string
	if err := op(&b, func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }); err != nil {
		return none, err
	}
	proposed := base.Piece
	if proposed.Body, err = Bytes(b); err != nil {
		return none, err
	}
	if bytes.Equal(proposed.Body, base.Piece.Body) {
		return none, fault.New(draft.CodeUnchanged, a.capability, "nothing changes: %s already is as you ask", base.Piece.Ref).
			WithHint("read the piece, and give only fields that should be different")
	}
	proposed.Title = titleOf(b)
	return compose[B](ctx, d, call, a, in, draft.Proposal{Baseline: base.Piece, Proposed: proposed, Op: draft.Op{Warnings: warnings}})
}

// base is the caller's proposal for a piece, or the stored piece.
func (d Deps) base(ctx context.Context, call tool.Call, a action) (draft.Basis, error) {
	ref := store.Ref{Kind: a.kind, ID: a.id}
	if err := store.CheckRef(ref); err != nil {
		return draft.Basis{}, err
	}
	base, err := d.Drafts.Base(ctx, call.Session, ref)
	if fault.CodeOf(err) == fault.NotFound {
		return base, fault.Wrap(err, fault.NotFound, a.capability, "there is no %s %q", a.kind, a.id).
			WithHint("call studio.list with kind %s, or studio.%s.create to make one", a.kind, a.kind)
	}
	return base, err
}

// create proposes a new piece with this body. An empty id is derived from its name.
func create[B Body, In any](ctx context.Context, d Deps, call tool.Call, a action, in In, b B) (tool.Reply[preview.Drafted], error) {
	return createNoted(ctx, d, call, a, in, b, func(*B, say) error { return nil })
}

// createNoted is create with a body that op fills, and what it warns of.
func createNoted[B Body, In any](ctx context.Context, d Deps, call tool.Call, a action, in In, b B, op func(b *B, warn say) error) (tool.Reply[preview.Drafted], error) {
	none := tool.Reply[preview.Drafted]{}
	var warnings []string
	if err := op(&b, func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }); err != nil {
		return none, err
	}
	body, err := Bytes(b)
	if err != nil {
		return none, err
	}
	ref := store.Ref{Kind: a.kind, ID: a.id}
	if ref.ID == "" {
		ref.ID = store.DeriveID(b.title())
	}
	if err := store.CheckRef(ref); err != nil {
		return none, err
	}
	return compose[B](ctx, d, call, a, in, draft.Proposal{
		Baseline: store.Piece{Ref: ref}, Create: true, Op: draft.Op{Warnings: warnings},
		Proposed: store.Piece{Ref: ref, Title: titleOf(b), Body: body},
	})
}

func compose[B Body, In any](ctx context.Context, d Deps, call tool.Call, a action, in In, p draft.Proposal) (tool.Reply[preview.Drafted], error) {
	none := tool.Reply[preview.Drafted]{}
	if _, err := Parse[B](p.Proposed.Body); err != nil {
		return none, err
	}
	input, err := canon.Marshal(in)
	if err != nil {
		return none, err
	}
	p.Op.Capability, p.Op.Input = a.capability, string(input)
	p.Op.Changes = inOrder(preview.Changes(p, labels))
	p.Op.Impact = d.impact(ctx, call.Session, p)
	made, err := d.Drafts.Compose(ctx, call.Session, p)
	if err != nil {
		return none, err
	}
	return preview.Reply(made, p.Op), nil
}

// sections is the order in which a person reads a body; a body's own order is that of
// the alphabet.
var sections = []string{
	"name", "identity", "title", "summary", "description", "brief", "content", "persona", "prompts", "greetings", "examples", "settings", "folders", "entries",
	"rules", "blocks", "groups", "choices", "samplers", "behavior", "replies", "items", "html", "media", "presentation", "discovery", "attribution", "links", "variants",
}

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
	"/samplers/topP": "Top P", "/samplers/topK": "Top K", "/samplers/topA": "Top A", "/samplers/minP": "Min P", "/samplers/typicalP": "Typical P",
	"/samplers/n": "Answers at once", "/samplers/maxContext": "Context size", "/samplers/maxTokens": "Answer length",
}

// impact says where a changed field has no place of its own: in the formats that the
// piece came from, else in the one that most programs read.
func (d Deps) impact(ctx context.Context, owner string, p draft.Proposal) []draft.Impact {
	names := d.Formats.of(p.Proposed)
	linked, err := Linked(ctx, p.Proposed, func(ctx context.Context, ref store.Ref) (store.Piece, error) {
		b, err := d.Drafts.Base(ctx, owner, ref)
		return b.Piece, err
	})
	if err != nil {
		return nil // the export will say why
	}
	var rows []draft.Impact
	before, after := tree(p.Baseline.Body), tree(p.Proposed.Body)
	for _, name := range names {
		losses, err := d.Formats.Losses(p.Proposed, name, linked)
		if err != nil {
			continue // the export will say why
		}
		for _, l := range losses {
			if !canon.Equal(after.At(l.Path), before.At(l.Path)) {
				rows = append(rows, draft.Impact{Platform: name, Effect: l.Path + " is " + string(l.Verdict) + ": " + l.Reason})
			}
		}
	}
	return rows
}

func tree(body []byte) *canon.Node {
	n, err := canon.ParseTree(body)
	if err != nil {
		return canon.NewObject()
	}
	return n
}

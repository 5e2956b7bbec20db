package studio

import (
	"context"
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// CodeDeleted says that a deleted piece is brought back by a person only.
const CodeDeleted fault.Code = "RESTORE_NEEDS_PERSON"

// RestoreIn names the revision to bring back.
type RestoreIn struct {
	Kind     string `json:"kind" jsonschema:"the kind of the piece, such as character"`
	ID       string `json:"id" jsonschema:"the id of the piece"`
	Revision int64  `json:"revision" jsonschema:"the revision to bring back, as studio.history lists it"`
}

func restoreTool(d Deps) tool.Tool {
	const op = "studio.restore"
	return tool.New(tool.Spec{
		ID: op, Title: "Restore a revision", Effect: tool.Draft, Exposure: tool.Deferred,
		Domain: "studio", Area: "history", Action: "restore", Concurrency: "piece:{kind}/{id}",
		Aliases:     []string{"undo", "roll back", "revert", "bring back", "go back to an old version"},
		Summary:     "Bring an old revision of a piece back, as a draft.",
		Description: "Applied, it is a new revision: history only grows. The imported original stays as it is. A piece that was deleted can be restored by a person only.",
	}, func(ctx context.Context, call tool.Call, in RestoreIn) (tool.Reply[preview.Drafted], error) {
		none := tool.Reply[preview.Drafted]{}
		ref := store.Ref{Kind: in.Kind, ID: in.ID}
		if _, err := d.past(ctx, op, ref); err != nil {
			return none, err
		}
		old, err := d.stored(ctx, op, ref, in.Revision)
		if err != nil {
			return none, err
		}
		p, err := d.restored(ctx, call, old)
		if err != nil {
			return none, err
		}
		return propose(ctx, d, call, in, p)
	})
}

// restored is the proposal that brings old back.
func (d Deps) restored(ctx context.Context, call tool.Call, old store.Piece) (draft.Proposal, error) {
	const op = "studio.restore"
	p := draft.Proposal{Op: draft.Op{Capability: op, Changes: []draft.Change{
		{Path: "", Label: "Restored from", After: fmt.Sprintf("revision %d", old.Revision)},
	}}}
	base, err := d.Drafts.Base(ctx, call.Session, old.Ref)
	if fault.CodeOf(err) == fault.NotFound {
		if call.Session != "" {
			return p, fault.New(CodeDeleted, op, "%s was deleted, and a person can restore it", old.Ref).
				WithHint("tell them: soundstage piece restore %s %d", old.Ref, old.Revision)
		}
		p.Create, p.Baseline, p.Proposed = true, store.Piece{Ref: old.Ref}, old
		p.Proposed.Revision = 0
		return p, nil
	}
	if err != nil {
		return p, err
	}
	p.Baseline, p.Proposed = base.Piece, base.Piece
	p.Proposed.Title, p.Proposed.Body, p.Proposed.Profiles = old.Title, old.Body, old.Profiles
	if !store.EqualEscrow(base.Piece.Escrow, old.Escrow) {
		p.Op.Warnings = []string{fmt.Sprintf("the imported original is the present one, not that of revision %d", old.Revision)}
	}
	return p, nil
}

// propose composes a proposal whose operation lacks the input and the rows of fields.
func propose[In any](ctx context.Context, d Deps, call tool.Call, in In, p draft.Proposal) (tool.Reply[preview.Drafted], error) {
	all, err := proposeAll(ctx, d, call, in, []draft.Proposal{p})
	if err != nil {
		return tool.Reply[preview.Drafted]{}, err
	}
	return all[0], nil
}

// proposeAll is propose for what belongs together: all is drafted, or nothing.
func proposeAll[In any](ctx context.Context, d Deps, call tool.Call, in In, ps []draft.Proposal) ([]tool.Reply[preview.Drafted], error) {
	input, err := canon.Marshal(in)
	if err != nil {
		return nil, err
	}
	for i := range ps {
		p := &ps[i]
		p.Op.Input = string(input)
		if !p.Create {
			p.Op.Changes = append(p.Op.Changes, preview.Changes(*p, nil)...)
		}
	}
	made, err := d.Drafts.ComposeAll(ctx, call.Session, ps)
	if err != nil {
		return nil, err
	}
	all := make([]tool.Reply[preview.Drafted], len(made))
	for i, m := range made {
		all[i] = preview.Reply(m, ps[i].Op)
	}
	return all, nil
}

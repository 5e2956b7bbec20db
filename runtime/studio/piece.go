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

// DeleteIn names the piece to remove.
type DeleteIn struct {
	Kind     string `json:"kind" jsonschema:"the kind of the piece, such as character"`
	ID       string `json:"id" jsonschema:"the id of the piece, as studio.list shows it"`
	Revision int64  `json:"revision,omitempty" jsonschema:"delete only if the piece is still at this revision; leave out for whatever is there"`
}

// DeleteOut is the receipt of a removal.
type DeleteOut struct {
	Kind     string `json:"kind"`
	ID       string `json:"id"`
	Title    string `json:"title"`
	Revision int64  `json:"revision"` // the last one it had
	Deleted  bool   `json:"deleted"`
	// NamedBy are the pieces whose bodies still name it.
	NamedBy []string `json:"named_by,omitempty"`
	Note    string   `json:"note,omitempty"`
}

func deleteTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.delete", Title: "Delete a piece", Effect: tool.Apply, Exposure: tool.Direct, Concurrency: "piece:{kind}/{id}",
		Summary: "Delete one piece from the studio.",
		Description: "It is removed at once, without a draft; a person can restore it from its history. " +
			"Pieces that still name it by its id are told of and left as they are; names in running text are not looked for.",
	}, func(ctx context.Context, call tool.Call, in DeleteIn) (tool.Reply[DeleteOut], error) {
		const op = "studio.delete"
		none := tool.Reply[DeleteOut]{}
		p, by, err := d.doomed(ctx, in)
		if err != nil {
			return none, err
		}
		stamp := store.Stamp{At: d.Clock.Now(), Session: call.Session, Seq: call.Seq, Cause: op}
		if err := d.Store.Delete(ctx, p.Ref, p.Revision, stamp); err != nil {
			return none, gone(err, p.Ref)
		}
		out := DeleteOut{Kind: p.Kind, ID: p.ID, Title: p.Title, Revision: p.Revision, Deleted: true}
		for _, ref := range by {
			out.NamedBy = append(out.NamedBy, ref.String())
		}
		if len(by) > 0 {
			out.Note = "these pieces still name it, and lead nowhere now: " + named(by)
		}
		return tool.Reply[DeleteOut]{Out: out}, nil
	})
}

// doomed is the piece that is to be deleted, and those that name it.
func (d Deps) doomed(ctx context.Context, in DeleteIn) (store.Piece, []store.Ref, error) {
	ref := store.Ref{Kind: in.Kind, ID: in.ID}
	p, err := d.stored(ctx, "studio.delete", ref, 0)
	if err != nil {
		return p, nil, gone(err, ref)
	}
	if in.Revision != 0 && in.Revision != p.Revision {
		return p, nil, fault.New(fault.Stale, "studio.delete", "%s is at revision %d, not %d; nothing was deleted", ref, p.Revision, in.Revision).
			WithHint("read the piece again before deleting it")
	}
	by, err := d.referrers(ctx, ref)
	return p, by, err
}

// gone makes a miss stale: whoever deletes has seen the piece somewhere.
func gone(err error, ref store.Ref) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	return fault.New(fault.Stale, "studio.delete", "there is no %s, now; nothing was deleted", ref).
		WithHint("call studio.list or studio.search to see what there is")
}

// DuplicateIn names the piece to copy.
type DuplicateIn struct {
	Kind  string `json:"kind" jsonschema:"the kind of the piece, such as character"`
	ID    string `json:"id" jsonschema:"the id of the piece to copy"`
	NewID string `json:"new_id,omitempty" jsonschema:"the id of the copy: lower case letters, digits and dashes; the old id with -copy if left out"`
}

func duplicateTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.piece.duplicate", Title: "Duplicate a piece", Effect: tool.Draft, Exposure: tool.Deferred,
		Domain: "studio", Area: "piece", Action: "duplicate", Aliases: []string{"copy", "clone", "template"},
		Concurrency: "piece:{kind}/{new_id}",
		Summary:     "Copy one stored piece to a new id, as a draft.",
		Description: "The copy carries the body, the platform profiles and the imported original, so that exports of it lose nothing. " +
			"An id that is taken is refused.",
	}, func(ctx context.Context, call tool.Call, in DuplicateIn) (tool.Reply[preview.Drafted], error) {
		const op = "studio.piece.duplicate"
		none := tool.Reply[preview.Drafted]{}
		p, err := d.stored(ctx, op, store.Ref{Kind: in.Kind, ID: in.ID}, 0)
		if err != nil {
			return none, err
		}
		id := in.NewID
		if id == "" {
			id = in.ID + "-copy"
		}
		input, err := canon.Marshal(in)
		if err != nil {
			return none, err
		}
		c := p
		c.ID, c.Revision = id, 0
		if err := store.CheckRef(c.Ref); err != nil {
			return none, err
		}
		o := draft.Op{Capability: op, Input: string(input), Changes: []draft.Change{
			{Path: "", Label: "Copy of", After: fmt.Sprintf("%s at revision %d", p.Ref, p.Revision)},
		}}
		made, err := d.Drafts.Compose(ctx, call.Session, draft.Proposal{
			Baseline: store.Piece{Ref: c.Ref}, Create: true, Proposed: c, Op: o,
		})
		if err != nil {
			return none, err
		}
		return preview.Reply(made, o), nil
	})
}

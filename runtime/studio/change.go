package studio

import (
	"context"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// A QueryAction is what change.query does.
type QueryAction string

// Enum lists the actions.
func (QueryAction) Enum() []string { return []string{"list", "show", "validate"} }

// QueryIn asks about drafts.
type QueryIn struct {
	Action QueryAction `json:"action,omitempty" jsonschema:"list gives the open drafts, show one of them whole, validate checks that it can be applied; list if left out"`
	Draft  string      `json:"draft,omitempty" jsonschema:"the draft's id, for show and validate"`
	All    bool        `json:"all,omitempty" jsonschema:"for list: closed drafts too"`
	Offset int         `json:"offset,omitempty" jsonschema:"for show: the character to begin at, for a draft too long for one answer"`
	Limit  int         `json:"limit,omitempty" jsonschema:"for show: how many characters at most, 1 to 12000"`
}

// QueryOut has the part that the action asked for.
type QueryOut struct {
	Drafts     []DraftRow        `json:"drafts,omitzero"`
	Draft      *DraftFull        `json:"draft,omitempty"`
	Validation *draft.Validation `json:"validation,omitempty"`
	Text       string            `json:"text,omitempty"` // a page of a long draft
	Offset     int               `json:"offset,omitempty"`
	NextOffset int               `json:"next_offset,omitempty"`
}

// DraftRow is a draft as a list shows it.
type DraftRow struct {
	Draft      string      `json:"draft"`
	Target     string      `json:"target"`
	Title      string      `json:"title"`
	State      draft.State `json:"state"`
	Create     bool        `json:"create"`
	Mine       bool        `json:"mine"` // this session may apply it
	Operations int         `json:"operations"`
	Changes    int         `json:"changes"`
	Warnings   int         `json:"warnings"`
	Reason     string      `json:"reason,omitempty"`
}

// DraftFull is a whole draft, but for the imported originals, which no operation
// changes.
type DraftFull struct {
	DraftRow
	Review   draft.Review `json:"review"`
	Ops      []draft.Op   `json:"ops"`
	Baseline PieceView    `json:"baseline"`
	Proposed PieceView    `json:"proposed"`
}

// PieceView is a piece as a model reads it.
type PieceView struct {
	Revision int64       `json:"revision"`
	Title    string      `json:"title"`
	Body     tool.Object `json:"body"`
	Profiles tool.Object `json:"profiles,omitempty"`
}

func queryTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "change.query", Title: "Query drafts", Effect: tool.Read, Exposure: tool.Direct,
		Summary:     "List the open drafts, show one whole, or check whether it can be applied.",
		Description: "Show gives every operation, the baseline, the proposal, warnings and platform impact. Validate parses the proposal again and compares the stored revision; it changes nothing.",
	}, func(ctx context.Context, call tool.Call, in QueryIn) (tool.Reply[QueryOut], error) {
		switch in.Action {
		case "show":
			return d.showDraft(ctx, call, in)
		case "validate":
			v, err := d.Drafts.Validate(ctx, in.Draft)
			return tool.Reply[QueryOut]{Out: QueryOut{Validation: &v}}, draftMiss(err)
		}
		list, err := d.Drafts.List(ctx, in.All)
		out := QueryOut{Drafts: []DraftRow{}}
		for _, dr := range list {
			out.Drafts = append(out.Drafts, rowOf(dr, call))
		}
		rep := tool.Reply[QueryOut]{Out: out}
		if len(list) == 0 {
			rep.Text = "There are no open drafts."
		}
		return rep, err
	})
}

// draftMiss adds the next step to a draft that is not there.
func draftMiss(err error) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	return fault.Wrap(err, fault.NotFound, "", "no such draft").WithHint("call change.query with action list to see the drafts")
}

func rowOf(d draft.Draft, call tool.Call) DraftRow {
	row := DraftRow{
		Draft: d.ID, Target: d.Proposed.Ref.String(), Title: d.Proposed.Title, State: d.State, Create: d.Create,
		Mine: d.Owner == call.Session && d.State == draft.Open, Operations: len(d.Ops), Reason: d.Reason,
	}
	for _, o := range d.Ops {
		row.Changes += len(o.Changes)
		row.Warnings += len(o.Warnings)
	}
	return row
}

func view(p store.Piece) PieceView {
	return PieceView{Revision: p.Revision, Title: p.Title, Body: tool.Object(p.Body), Profiles: tool.Object(p.Profiles)}
}

func (d Deps) showDraft(ctx context.Context, call tool.Call, in QueryIn) (tool.Reply[QueryOut], error) {
	none := tool.Reply[QueryOut]{}
	dr, err := d.Drafts.Get(ctx, in.Draft)
	if err != nil {
		return none, draftMiss(err)
	}
	full := &DraftFull{
		DraftRow: rowOf(dr, call), Review: draft.ReviewOf(dr), Ops: dr.Ops, Baseline: view(dr.Baseline), Proposed: view(dr.Proposed),
	}
	raw, err := canon.Marshal(full)
	if err != nil {
		return none, err
	}
	text := string(raw)
	if in.Offset == 0 && in.Limit == 0 {
		out := QueryOut{}
		if utf8.RuneCountInString(text) <= result.MaxInlineRead {
			out.Draft = full
		}
		return tool.Reply[QueryOut]{Out: out, Text: text}, nil
	}
	page, next, err := Page("change.query", text, in.Offset, in.Limit, result.MaxRead, result.MaxRead)
	return tool.Reply[QueryOut]{Out: QueryOut{Text: page, Offset: in.Offset, NextOffset: next}}, err
}

// DraftIn names a draft.
type DraftIn struct {
	Draft string `json:"draft" jsonschema:"the draft's id, such as d-0001"`
}

// ReceiptOut says how an apply ended.
type ReceiptOut struct {
	Draft    string      `json:"draft"`
	Outcome  draft.State `json:"outcome"` // applied, stale or failed
	Target   string      `json:"target"`
	Revision int64       `json:"revision"`
	Detail   string      `json:"detail"`
}

func applyTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "change.apply", Title: "Apply a draft", Effect: tool.Apply, Exposure: tool.Direct, Concurrency: "draft:{draft}",
		Summary:     "Save one draft to the studio, once, and read it back.",
		Description: "The receipt says applied, stale (the piece changed or the id was taken meanwhile; nothing was written) or failed. A person may be asked first.",
	}, func(ctx context.Context, call tool.Call, in DraftIn) (tool.Reply[ReceiptOut], error) {
		r, err := d.Drafts.Apply(ctx, call.Session, in.Draft, call.Seq)
		if err != nil {
			return tool.Reply[ReceiptOut]{}, draftMiss(err)
		}
		return tool.Reply[ReceiptOut]{Receipt: &r, Out: ReceiptOut{
			Draft: r.Draft, Outcome: r.Outcome, Target: r.Target.String(), Revision: r.Revision, Detail: r.Detail,
		}}, nil
	})
}

// DiscardIn names a draft and why it goes.
type DiscardIn struct {
	Draft  string `json:"draft" jsonschema:"the draft's id, such as d-0001"`
	Reason string `json:"reason,omitempty" jsonschema:"why, in a few words; kept with the draft"`
}

func discardTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "change.discard", Title: "Discard a draft", Effect: tool.Draft, Exposure: tool.Direct, Concurrency: "draft:{draft}",
		Summary: "Drop one draft; the stored piece stays as it is.",
	}, func(ctx context.Context, call tool.Call, in DiscardIn) (tool.Reply[DraftRow], error) {
		dr, err := d.Drafts.Discard(ctx, call.Session, in.Draft, in.Reason)
		if err != nil {
			return tool.Reply[DraftRow]{}, draftMiss(err)
		}
		r := draft.Receipt{Draft: dr.ID, Outcome: dr.State, Target: dr.Proposed.Ref, Detail: dr.Reason}
		return tool.Reply[DraftRow]{Out: rowOf(dr, call), Receipt: &r}, nil
	})
}

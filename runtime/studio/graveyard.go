package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// maxGraves bounds one list; maxNote the characters of a note.
const (
	maxGraves = 50
	maxNote   = 500
)

// CodeNoGrave says that nothing was set aside under an id.
const CodeNoGrave fault.Code = "GRAVEYARD_NONE"

// Blocks knows the preset's body: it takes one block out.
type Blocks interface {
	// TakeBlock gives the block, what a person calls it, and the body without it.
	TakeBlock(preset []byte, id string) (block, rest []byte, name string, err error)
}

// A Grave is a block that was set aside from a preset. The copy stays whatever becomes
// of the preset.
type Grave struct {
	ID       string          `json:"id"` // g-0001
	Preset   string          `json:"preset"`
	Revision int64           `json:"revision"` // of the preset, when the block was copied
	BlockID  string          `json:"blockId"`
	Name     string          `json:"name"`
	Note     string          `json:"note,omitempty"`
	Session  string          `json:"session,omitempty"` // "" is a person
	Block    json.RawMessage `json:"block"`
}

// GraveAction is what studio.graveyard does.
type GraveAction string

// Enum lists the actions.
func (GraveAction) Enum() []string { return []string{"list", "read"} }

// GraveyardIn asks for what was set aside.
type GraveyardIn struct {
	Action GraveAction `json:"action,omitempty" jsonschema:"list gives what was set aside, read one block whole; list if left out, read if id is given"`
	ID     string      `json:"id,omitempty" jsonschema:"for read: the id that list shows, such as g-0001"`
	Preset string      `json:"preset,omitempty" jsonschema:"for list: only blocks of this preset"`
}

// GraveyardOut is what is there.
type GraveyardOut struct {
	Blocks []GraveRow  `json:"blocks,omitzero"` // the newest first
	More   int         `json:"more,omitempty"`  // that were left out
	Grave  *GraveRow   `json:"grave,omitempty"`
	Block  tool.Object `json:"block,omitempty"` // of the one that was read
}

// A GraveRow is a block without its text.
type GraveRow struct {
	ID       string `json:"id"`
	Preset   string `json:"preset"`
	Revision int64  `json:"revision"`
	BlockID  string `json:"blockId"`
	Name     string `json:"name"`
	Note     string `json:"note,omitempty"`
	At       string `json:"at"`
}

func graveyardTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.graveyard", Title: "Graveyard of blocks", Effect: tool.Read, Exposure: tool.Direct,
		Summary:     "List the prompt blocks that were set aside from presets, or read one.",
		Description: "A block in the graveyard is a copy that is sent to no model. Deleted pieces are not here: those have a history.",
	}, func(ctx context.Context, _ tool.Call, in GraveyardIn) (tool.Reply[GraveyardOut], error) {
		out, err := d.graveyard(ctx, in)
		return tool.Reply[GraveyardOut]{Out: out}, err
	})
}

func (d Deps) graveyard(ctx context.Context, in GraveyardIn) (GraveyardOut, error) {
	var out GraveyardOut
	if in.ID != "" || in.Action == "read" {
		e, err := d.Drawers.GetEntry(ctx, drawer.Graveyard, in.ID)
		if fault.CodeOf(err) == drawer.CodeNone {
			return out, fault.New(CodeNoGrave, "studio.graveyard", "nothing was set aside as %q", plain.Clip(in.ID, 80)).
				WithHint("call studio.graveyard with action list")
		}
		if err != nil {
			return out, err
		}
		g, err := decodeGrave(e)
		row := rowOfGrave(g, e.At)
		out.Grave, out.Block = &row, tool.Object(g.Block)
		return out, err
	}
	list, err := d.Drawers.ListEntries(ctx, drawer.Graveyard)
	if err != nil {
		return out, err
	}
	out.Blocks = []GraveRow{}
	for i := len(list) - 1; i >= 0; i-- {
		g, err := decodeGrave(list[i])
		switch {
		case err != nil:
			return out, err
		case in.Preset != "" && g.Preset != in.Preset:
		case len(out.Blocks) == maxGraves:
			out.More++
		default:
			out.Blocks = append(out.Blocks, rowOfGrave(g, list[i].At))
		}
	}
	return out, nil
}

func decodeGrave(e drawer.Entry) (g Grave, err error) {
	if err := json.Unmarshal(e.Doc, &g); err != nil {
		return g, fault.Wrap(err, store.CodeDamaged, "studio.graveyard", "the block %q does not decode", e.ID)
	}
	return g, nil
}

func rowOfGrave(g Grave, at time.Time) GraveRow {
	return GraveRow{ID: g.ID, Preset: g.Preset, Revision: g.Revision, BlockID: g.BlockID, Name: g.Name, Note: g.Note, At: at.Format(time.RFC3339)}
}

// BuryIn names the block to set aside.
type BuryIn struct {
	Preset  string `json:"preset" jsonschema:"the id of the preset"`
	BlockID string `json:"blockId" jsonschema:"the id of the block, as the preset's body has it"`
	Note    string `json:"note,omitempty" jsonschema:"why it was set aside, in a few words"`
}

// BuryOut is the copy, and the draft that takes the block out of its preset.
type BuryOut struct {
	preview.Drafted
	Grave GraveRow `json:"grave"`
}

func buryTool(d Deps) tool.Tool {
	const op = "studio.graveyard_bury"
	return tool.New(tool.Spec{
		ID: op, Title: "Set a block aside", Effect: tool.Draft, Exposure: tool.Direct, Concurrency: "piece:preset/{preset}",
		Summary:     "Copy a prompt block to the graveyard, then draft its removal from the preset.",
		Description: "The copy is made at once, and stays if the draft is denied. Nothing leaves the preset before the draft is applied.",
	}, func(ctx context.Context, call tool.Call, in BuryIn) (tool.Reply[BuryOut], error) {
		none := tool.Reply[BuryOut]{}
		if len([]rune(in.Note)) > maxNote {
			return none, fault.New(fault.TooLarge, op, "the note has %d characters, the most is %d", len([]rune(in.Note)), maxNote).WithHint("shorten it")
		}
		p, g, err := d.taken(ctx, call, in)
		if err != nil {
			return none, err
		}
		row, err := d.keep(ctx, g)
		if err != nil {
			return none, err
		}
		rep, err := propose(ctx, d, call, in, p)
		return tool.Reply[BuryOut]{Out: BuryOut{rep.Out, row}, Review: rep.Review}, err
	})
}

// taken is the proposal without the block, and the copy of the block.
func (d Deps) taken(ctx context.Context, call tool.Call, in BuryIn) (p draft.Proposal, g Grave, err error) {
	const op = "studio.graveyard_bury"
	ref := store.Ref{Kind: "preset", ID: in.Preset}
	if err := store.CheckRef(ref); err != nil {
		return p, g, err
	}
	base, err := d.Drafts.Base(ctx, call.Session, ref)
	if fault.CodeOf(err) == fault.NotFound {
		return p, g, fault.New(fault.NotFound, op, "there is no %s", ref).WithHint("call studio.list with kind preset")
	}
	if err != nil {
		return p, g, err
	}
	block, rest, name, err := d.Blocks.TakeBlock(base.Piece.Body, in.BlockID)
	if err != nil {
		return p, g, err
	}
	g = Grave{Preset: in.Preset, Revision: base.Piece.Revision, BlockID: in.BlockID, Name: name, Note: in.Note, Session: call.Session, Block: block}
	p = draft.Proposal{Baseline: base.Piece, Create: base.Create, Proposed: base.Piece, Op: draft.Op{Capability: op, Changes: []draft.Change{
		{Path: "", Label: "Set aside", Before: name},
	}}}
	p.Proposed.Body = rest
	return p, g, nil
}

// keep writes the copy under the next free number.
func (d Deps) keep(ctx context.Context, g Grave) (GraveRow, error) {
	list, err := d.Drawers.ListEntries(ctx, drawer.Graveyard)
	if err != nil {
		return GraveRow{}, err
	}
	const tries = 1_000 // others may be burying at the same time
	now := store.Instant(d.Clock.Now())
	for n := range tries {
		g.ID = fmt.Sprintf("g-%04d", len(list)+1+n)
		doc, err := canon.Marshal(g)
		if err != nil {
			return GraveRow{}, err
		}
		err = d.Drawers.PutEntry(ctx, drawer.Entry{Drawer: drawer.Graveyard, ID: g.ID, Rev: 1, At: now, Doc: doc})
		if fault.CodeOf(err) != fault.Conflict {
			return rowOfGrave(g, now), err
		}
	}
	return GraveRow{}, fault.New(fault.Conflict, "studio.graveyard_bury", "too many are setting blocks aside at once").WithHint("call again")
}

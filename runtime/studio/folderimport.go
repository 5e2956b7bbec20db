package studio

import (
	"bytes"
	"context"
	"fmt"
	"path"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// maxImport bounds a file that is brought in, in bytes: the same as of soundstage import.
const maxImport = 96 << 20

// CodeTaken says that an imported piece has an id that is on the shelf already.
const CodeTaken fault.Code = "IMPORT_TAKEN"

// An Incoming is what a file gave: all of its pieces, a piece that another names before
// it, none stored.
type Incoming struct {
	Format   string
	Pieces   []store.Piece
	Warnings []string
}

// An Importer reads a file as soundstage import does.
type Importer interface {
	Incoming(name string, raw []byte) (Incoming, error)
	// Fingerprint is the same for pieces of the same content, whatever their ids and links.
	Fingerprint(p store.Piece) string
}

// ImportIn names the file.
type ImportIn struct {
	Path   string `json:"path" jsonschema:"the file, as folder.search shows it, such as cards/ada.png"`
	Anyway bool   `json:"anyway,omitempty" jsonschema:"draft it also where the studio has the same content under another id, which is refused else"`
}

// ImportOut is what was drafted.
type ImportOut struct {
	Format   string            `json:"format"`
	Drafts   []preview.Drafted `json:"drafts"` // one a piece; apply a piece that another names first
	Warnings []string          `json:"warnings,omitempty"`
}

func importTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "folder.import", Title: "Import a shared file", Effect: tool.Draft, Exposure: tool.Direct,
		Summary: "Read a file from a shared folder, and draft the pieces that are in it.",
		Description: "A file with several pieces, such as a card with its lorebook, drafts all of them or none. An id that is on the shelf already is refused, " +
			"also where the contents are equal: nothing is ever replaced.",
	}, func(ctx context.Context, call tool.Call, in ImportIn) (tool.Reply[ImportOut], error) {
		none := tool.Reply[ImportOut]{}
		p, err := cleanPath(in.Path)
		if err != nil {
			return none, err
		}
		raw, err := d.bytesAt(ctx, p, maxImport)
		if err != nil {
			return none, err
		}
		got, err := d.Importer.Incoming(path.Base(p), raw)
		if err != nil {
			return none, err
		}
		for _, piece := range got.Pieces {
			if err := d.free(ctx, piece); err != nil {
				return none, err
			}
		}
		if !in.Anyway {
			const hint = "use what is there; where a second one is wanted, call again with anyway"
			if err := d.Duplicates(ctx, "folder.import", in.Path, hint, got.Pieces); err != nil {
				return none, err
			}
		}
		return d.draftAll(ctx, call, in, got)
	})
}

// free says whether the id of an imported piece is not taken.
func (d Deps) free(ctx context.Context, p store.Piece) error {
	has, err := d.Store.Get(ctx, p.Ref, 0)
	if fault.CodeOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if bytes.Equal(has.Body, p.Body) && store.EqualEscrow(has.Escrow, p.Escrow) {
		return fault.New(CodeTaken, "folder.import", "%s is on the shelf already, and equal to what is in the file; nothing was drafted", p.Ref).
			WithHint("there is nothing to do: the piece is there")
	}
	return fault.New(CodeTaken, "folder.import", "%s is on the shelf already, and differs from what is in the file; nothing was drafted", p.Ref).
		WithHint("edit the piece that is there, or ask the person to import the file under another id: soundstage import --id")
}

// draftAll composes a draft a piece, or none.
func (d Deps) draftAll(ctx context.Context, call tool.Call, in ImportIn, got Incoming) (tool.Reply[ImportOut], error) {
	rep := tool.Reply[ImportOut]{Out: ImportOut{Format: got.Format, Drafts: []preview.Drafted{}, Warnings: got.Warnings}}
	var ps []draft.Proposal
	for _, p := range got.Pieces {
		ps = append(ps, draft.Proposal{
			Baseline: store.Piece{Ref: p.Ref}, Create: true, Proposed: p,
			Op: draft.Op{Capability: "folder.import", Warnings: got.Warnings, Changes: []draft.Change{
				{Path: "", Label: "Imported from", After: fmt.Sprintf("%s (%s)", in.Path, got.Format)},
			}},
		})
	}
	all, err := proposeAll(ctx, d, call, in, ps)
	if err != nil {
		return tool.Reply[ImportOut]{}, err
	}
	for _, one := range all {
		rep.Out.Drafts = append(rep.Out.Drafts, one.Out)
		rep.Reviews = append(rep.Reviews, *one.Review)
	}
	if n := len(rep.Reviews); n > 0 {
		rep.Review, rep.Reviews = &rep.Reviews[n-1], rep.Reviews[:n-1]
	}
	return rep, nil
}

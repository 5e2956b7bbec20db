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

// A Source is what a fork was made of. It is kept in the fork's profiles, so that it is
// saved, drafted and restored with it; no body and no file that is exported holds it.
type Source struct {
	store.Ref
	Revision int64
}

// sourcePath is where a source stands in the profiles.
const sourcePath = "/soundstage/source"

// SourceOf is what p was forked from; not ok where it is no fork.
func SourceOf(p store.Piece) (Source, bool) {
	root, err := parsed(p.Profiles)
	if err != nil {
		return Source{}, false
	}
	at := root.At(sourcePath)
	src := Source{Ref: store.Ref{Kind: at.Field("kind").Text(), ID: at.Field("id").Text()}}
	_, err = fmt.Sscan(at.Field("revision").Raw(), &src.Revision)
	return src, err == nil && store.CheckRef(src.Ref) == nil && src.Revision > 0
}

// forkedFrom are profiles that name a source.
func forkedFrom(profiles []byte, src Source) ([]byte, error) {
	root, err := parsed(profiles)
	if err != nil {
		return nil, err
	}
	at := canon.NewObject()
	for name, v := range map[string]*canon.Node{
		"kind": canon.NewText(src.Kind), "id": canon.NewText(src.ID), "revision": canon.NewInt(src.Revision),
	} {
		if err := at.Set("/"+name, v); err != nil {
			return nil, err
		}
	}
	if err := root.Set(sourcePath, at); err != nil {
		return nil, err
	}
	return canon.JSON(root.Bytes())
}

// Fork is a copy of p that knows what it was made of. An id of "" is p's own with -fork.
func Fork(p store.Piece, id string) (store.Piece, error) {
	f := p
	if f.ID = id; id == "" {
		f.ID = p.ID + "-fork"
	}
	if err := store.CheckRef(f.Ref); err != nil {
		return store.Piece{}, err
	}
	var err error
	f.Revision = 0
	f.Profiles, err = forkedFrom(p.Profiles, Source{p.Ref, p.Revision})
	return f, err
}

// ForkIn names the piece to fork.
type ForkIn struct {
	Kind  string `json:"kind" jsonschema:"the kind of the piece, such as character"`
	ID    string `json:"id" jsonschema:"the id of the piece to fork"`
	NewID string `json:"new_id,omitempty" jsonschema:"the id of the fork: lower case letters, digits and dashes; the old id with -fork if left out"`
}

func forkTool(d Deps) tool.Tool {
	const op = "studio.piece.fork"
	return tool.New(tool.Spec{
		ID: op, Title: "Fork a piece", Effect: tool.Draft, Exposure: tool.Deferred,
		Domain: "studio", Area: "piece", Action: "fork", Concurrency: "piece:{kind}/{new_id}",
		Aliases: []string{"branch", "remix", "a copy that can be merged", "derive"},
		Summary: "Copy a piece to a new id that remembers its source, as a draft.",
		Description: "Unlike a duplicate, a fork can take later changes of its source, and give its own back, with studio.piece.merge. " +
			"It carries the body, the platform profiles and the imported original. An id that is taken is refused.",
	}, func(ctx context.Context, call tool.Call, in ForkIn) (tool.Reply[preview.Drafted], error) {
		none := tool.Reply[preview.Drafted]{}
		p, err := d.stored(ctx, op, store.Ref{Kind: in.Kind, ID: in.ID}, 0)
		if err != nil {
			return none, err
		}
		f, err := Fork(p, in.NewID)
		if err != nil {
			return none, err
		}
		return propose(ctx, d, call, in, draft.Proposal{
			Baseline: store.Piece{Ref: f.Ref}, Create: true, Proposed: f,
			Op: draft.Op{Capability: op, Changes: []draft.Change{
				{Path: "", Label: "Fork of", After: fmt.Sprintf("%s at revision %d", p.Ref, p.Revision)},
			}},
		})
	})
}

// CodeUnrelated says that neither of two pieces is a fork of the other.
const CodeUnrelated fault.Code = "MERGE_UNRELATED"

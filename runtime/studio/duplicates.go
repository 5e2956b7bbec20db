package studio

import (
	"context"
	"fmt"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// CodeDuplicate says that what a file holds is in the studio already, under another id.
const CodeDuplicate fault.Code = "IMPORT_DUPLICATE"

// Duplicates refuses pieces of which the studio has one with the same content under
// another id. Pieces of one file may be equal to each other.
func (d Deps) Duplicates(ctx context.Context, op, file, hint string, pieces []store.Piece) error {
	var said []string
	for _, p := range pieces {
		ref, err := d.twin(ctx, p)
		if err != nil {
			return err
		}
		if ref != (store.Ref{}) {
			said = append(said, fmt.Sprintf("%s is %s", p.Ref, ref))
		}
	}
	if len(said) == 0 {
		return nil
	}
	return fault.New(CodeDuplicate, op, "%q holds what is in the studio already: %s; nothing was made", file, strings.Join(said[:min(len(said), maxNamed)], ", ")).
		WithHint("%s", hint)
}

// twin is a stored piece with the same content as p and another id.
func (d Deps) twin(ctx context.Context, p store.Piece) (store.Ref, error) {
	want := d.Importer.Fingerprint(p)
	// The title is part of the content, so that the store's own search finds every
	// candidate.
	for s, err := range store.All(ctx, d.Store, store.Query{Kind: p.Kind, Text: p.Title}) {
		if err != nil {
			return store.Ref{}, err
		}
		if s.Title != p.Title || s.ID == p.ID {
			continue
		}
		has, err := d.Store.Get(ctx, s.Ref, s.Revision)
		if fault.CodeOf(err) == fault.NotFound {
			continue // deleted meanwhile
		}
		if err != nil {
			return store.Ref{}, err
		}
		if d.Importer.Fingerprint(has) == want {
			return s.Ref, nil
		}
	}
	return store.Ref{}, nil
}

package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// PutEntry implements [drawer.Rows].
func (s *Store) PutEntry(ctx context.Context, e drawer.Entry) error {
	const op = "memory.put_entry"
	if err := cmp.Or(ctx.Err(), drawer.Check(e)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.drawers[e.Drawer]
	has := kept[e.ID]
	switch {
	case has.Rev != e.Rev-1:
		return drawer.Changed(op, e.Drawer, e.ID, has.Rev, e.Rev-1)
	case has.Rev == 0 && len(kept) >= drawer.MaxEntries:
		return drawer.Full(op, e.Drawer)
	case kept == nil:
		kept = map[string]drawer.Entry{}
		s.drawers[e.Drawer] = kept
	}
	e.At, e.Doc = store.Instant(e.At), bytes.Clone(e.Doc)
	kept[e.ID] = e
	return nil
}

// GetEntry implements [drawer.Rows].
func (s *Store) GetEntry(ctx context.Context, of, id string) (drawer.Entry, error) {
	if err := ctx.Err(); err != nil {
		return drawer.Entry{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.drawers[of][id]
	if !ok {
		return drawer.Entry{}, drawer.None("memory.get_entry", of, id)
	}
	e.Doc = bytes.Clone(e.Doc)
	return e, nil
}

// ListEntries implements [drawer.Rows].
func (s *Store) ListEntries(ctx context.Context, of string) ([]drawer.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []drawer.Entry
	for _, e := range s.drawers[of] {
		e.Doc = bytes.Clone(e.Doc)
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b drawer.Entry) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// DropEntry implements [drawer.Rows].
func (s *Store) DropEntry(ctx context.Context, of, id string, rev int64) error {
	const op = "memory.drop_entry"
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	has, ok := s.drawers[of][id]
	switch {
	case !ok:
		return drawer.None(op, of, id)
	case has.Rev != rev:
		return drawer.Changed(op, of, id, has.Rev, rev)
	}
	delete(s.drawers[of], id)
	return nil
}

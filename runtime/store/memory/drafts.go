package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
)

// PutDraft implements [draft.Drafts].
func (s *Store) PutDraft(ctx context.Context, ds ...draft.Draft) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.drafts
	if len(ds) > 1 {
		s.drafts = maps.Clone(before)
	}
	for _, d := range ds {
		if err := s.putDraft(d); err != nil {
			s.drafts = before
			return err
		}
	}
	return nil
}

func (s *Store) putDraft(d draft.Draft) error {
	doc, err := json.Marshal(d)
	if err != nil {
		return err
	}
	has, err := s.draft(d.ID)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return err
	}
	if has.Rev != d.Rev-1 {
		return draft.Changed("memory.put_draft", d.ID, has.Rev, d.Rev-1)
	}
	s.drafts[d.ID] = doc
	return nil
}

// GetDraft implements [draft.Drafts].
func (s *Store) GetDraft(ctx context.Context, id string) (draft.Draft, error) {
	if err := ctx.Err(); err != nil {
		return draft.Draft{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draft(id)
}

func (s *Store) draft(id string) (draft.Draft, error) {
	doc, ok := s.drafts[id]
	if !ok {
		return draft.Draft{}, draft.NotFound("memory.get_draft", id)
	}
	var d draft.Draft
	err := json.Unmarshal(doc, &d)
	return d, err
}

// CountDrafts implements [draft.Drafts].
func (s *Store) CountDrafts(ctx context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.drafts)), ctx.Err()
}

// ListDrafts implements [draft.Drafts].
func (s *Store) ListDrafts(ctx context.Context, all bool) ([]draft.Draft, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []draft.Draft
	for id := range s.drafts {
		d, err := s.draft(id)
		if err != nil {
			return nil, err
		}
		if all || d.State.Pending() {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b draft.Draft) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
	return list, nil
}

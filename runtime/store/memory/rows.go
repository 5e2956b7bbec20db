package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
)

// PutDraft implements [draft.Drafts].
func (s *Store) PutDraft(ctx context.Context, d draft.Draft) error {
	doc, err := json.Marshal(d)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
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

// ReserveRow implements [ledger.Rows].
func (s *Store) ReserveRow(ctx context.Context, row ledger.Row, caps []ledger.Cap) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.rows, func(r ledger.Row) bool { return r.ID == row.ID }) {
		return fault.New(fault.Conflict, "memory.reserve_row", "there is a row %q", row.ID)
	}
	for _, c := range caps {
		in, err := s.inScope(c)
		if err != nil {
			return err
		}
		spent := int64(0)
		for _, r := range s.rows {
			switch {
			case !in(r) || r.Saved && r.Session != row.Session:
			case r.State == ledger.Reserved:
				spent += r.Reserve
			case r.State == ledger.Settled:
				spent += r.Cost
			}
		}
		if spent > c.Limit-row.Reserve {
			return fault.New(ledger.CodeOverCap, "memory.reserve_row", "the cap of %s %q is %d pico-dollars: %d are spent or set aside, %d more do not fit",
				c.Scope, c.ID, c.Limit, spent, row.Reserve).WithHint("raise the cap, or choose a cheaper model")
		}
	}
	row.State = ledger.Reserved
	s.rows = append(s.rows, row)
	return nil
}

// SettleRow implements [ledger.Rows].
func (s *Store) SettleRow(ctx context.Context, row ledger.Row) error {
	const op = "memory.settle_row"
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.rows, func(r ledger.Row) bool { return r.ID == row.ID })
	switch {
	case i < 0:
		return fault.New(fault.NotFound, op, "there is no row %q", row.ID)
	case s.rows[i].State != ledger.Reserved:
		return fault.New(fault.Conflict, op, "the row %q is %s, not reserved", row.ID, s.rows[i].State)
	case row.State == ledger.Reserved:
		return fault.New(fault.Invalid, op, "the row %q would stay reserved", row.ID)
	}
	s.rows[i] = row
	return nil
}

// SumRows implements [ledger.Rows].
func (s *Store) SumRows(ctx context.Context, c ledger.Cap) (ledger.Sum, error) {
	if err := ctx.Err(); err != nil {
		return ledger.Sum{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in, err := s.inScope(c)
	if err != nil {
		return ledger.Sum{}, err
	}
	var sum ledger.Sum
	for _, r := range s.rows {
		if !in(r) {
			continue
		}
		sum.Rows++
		switch {
		case r.State == ledger.Reserved:
			sum.Open += r.Reserve
		case r.State == ledger.Settled && r.Saved:
			sum.Saved += r.Cost
		case r.State == ledger.Settled:
			sum.Cost += r.Cost
		}
	}
	return sum, nil
}

// inScope says which rows a cap is about. A run's scope holds the runs below it.
func (s *Store) inScope(c ledger.Cap) (func(ledger.Row) bool, error) {
	switch c.Scope {
	case "session":
		return func(r ledger.Row) bool { return r.Session == c.ID }, nil
	case "run":
		runs := map[string]bool{c.ID: true}
		for grown := true; grown; {
			grown = false
			for _, r := range s.rows {
				if !runs[r.Run] && r.ParentRun != "" && runs[r.ParentRun] {
					runs[r.Run], grown = true, true
				}
			}
		}
		return func(r ledger.Row) bool { return runs[r.Run] }, nil
	case "day":
		return func(r ledger.Row) bool { return r.At.UTC().Format("2006-01-02") == c.ID }, nil
	case "studio":
		return func(ledger.Row) bool { return true }, nil
	}
	return nil, fault.New(fault.Invalid, "memory.rows", "there is no scope %q", c.Scope).
		WithHint("use session, run, day or studio")
}

// ListRows implements [ledger.Rows].
func (s *Store) ListRows(ctx context.Context, session string) ([]ledger.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []ledger.Row
	for _, r := range s.rows {
		if session == "" || r.Session == session {
			list = append(list, r)
		}
	}
	return list, nil
}

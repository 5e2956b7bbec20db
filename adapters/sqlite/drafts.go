package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// PutDraft implements [draft.Drafts].
func (s *Store) PutDraft(ctx context.Context, d draft.Draft) error {
	const op = "sqlite.put_draft"
	doc, err := json.Marshal(d)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "encode the draft %q", d.ID)
	}
	return s.write(ctx, op, func(tx *sql.Tx) error {
		var has int64
		err := tx.QueryRowContext(ctx, "SELECT rev FROM drafts WHERE id = ?", d.ID).Scan(&has)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if has != d.Rev-1 {
			return draft.Changed(op, d.ID, has, d.Rev-1)
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO drafts (id, rev, pending, created, doc) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET rev = excluded.rev, pending = excluded.pending, created = excluded.created, doc = excluded.doc`,
			d.ID, d.Rev, d.State.Pending(), store.Instant(d.Created).UnixMicro(), doc)
		return err
	})
}

// GetDraft implements [draft.Drafts].
func (s *Store) GetDraft(ctx context.Context, id string) (draft.Draft, error) {
	const op = "sqlite.get_draft"
	db, err := s.use(ctx, op)
	if err != nil {
		return draft.Draft{}, err
	}
	var doc []byte
	err = db.QueryRowContext(ctx, "SELECT doc FROM drafts WHERE id = ?", id).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return draft.Draft{}, draft.NotFound(op, id)
	}
	if err != nil {
		return draft.Draft{}, s.broken(err, op)
	}
	return decode[draft.Draft](doc, op)
}

// CountDrafts implements [draft.Drafts].
func (s *Store) CountDrafts(ctx context.Context) (n int64, err error) {
	const op = "sqlite.count_drafts"
	db, err := s.use(ctx, op)
	if err != nil {
		return 0, err
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM drafts").Scan(&n); err != nil {
		return 0, s.broken(err, op)
	}
	return n, nil
}

// ListDrafts implements [draft.Drafts].
func (s *Store) ListDrafts(ctx context.Context, all bool) ([]draft.Draft, error) {
	return list[draft.Draft](ctx, s, "sqlite.list_drafts",
		"SELECT doc FROM drafts WHERE pending OR ? ORDER BY created DESC, id DESC", all)
}

// list decodes the documents that a query gives.
func list[T any](ctx context.Context, s *Store, op, query string, args ...any) ([]T, error) {
	db, err := s.use(ctx, op)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.broken(err, op)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var doc []byte
		if err := rows.Scan(&doc); err != nil {
			return nil, s.broken(err, op)
		}
		v, err := decode[T](doc, op)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, s.broken(rows.Err(), op)
}

func decode[T any](doc []byte, op string) (T, error) {
	var v T
	if err := json.Unmarshal(doc, &v); err != nil {
		return v, fault.Wrap(err, store.CodeDamaged, op, "decode a stored %T", v)
	}
	return v, nil
}

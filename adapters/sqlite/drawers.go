package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// PutEntry implements [drawer.Rows].
func (s *Store) PutEntry(ctx context.Context, e drawer.Entry) error {
	const op = "sqlite.put_entry"
	if err := drawer.Check(e); err != nil {
		return err
	}
	return s.write(ctx, op, func(tx txn) error {
		var has, count int64
		err := tx.QueryRowContext(ctx, "SELECT rev FROM entries WHERE drawer = ? AND id = ?", e.Drawer, e.ID).Scan(&has)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if has != e.Rev-1 {
			return drawer.Changed(op, e.Drawer, e.ID, has, e.Rev-1)
		}
		if has == 0 {
			if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM entries WHERE drawer = ?", e.Drawer).Scan(&count); err != nil {
				return err
			}
			if count >= drawer.MaxEntries {
				return drawer.Full(op, e.Drawer)
			}
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO entries (drawer, id, rev, at, doc) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (drawer, id) DO UPDATE SET rev = excluded.rev, at = excluded.at, doc = excluded.doc`,
			e.Drawer, e.ID, e.Rev, store.Instant(e.At).UnixMicro(), []byte(e.Doc))
		return err
	})
}

// GetEntry implements [drawer.Rows].
func (s *Store) GetEntry(ctx context.Context, of, id string) (drawer.Entry, error) {
	const op = "sqlite.get_entry"
	all, err := s.entries(ctx, op, "SELECT drawer, id, rev, at, doc FROM entries WHERE drawer = ? AND id = ?", of, id)
	if err != nil {
		return drawer.Entry{}, err
	}
	if len(all) == 0 {
		return drawer.Entry{}, drawer.None(op, of, id)
	}
	return all[0], nil
}

// ListEntries implements [drawer.Rows].
func (s *Store) ListEntries(ctx context.Context, of string) ([]drawer.Entry, error) {
	return s.entries(ctx, "sqlite.list_entries", "SELECT drawer, id, rev, at, doc FROM entries WHERE drawer = ? ORDER BY id", of)
}

func (s *Store) entries(ctx context.Context, op, query string, args ...any) ([]drawer.Entry, error) {
	db, err := s.use(ctx, op)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.broken(err, op)
	}
	defer rows.Close()
	var all []drawer.Entry
	for rows.Next() {
		var e drawer.Entry
		var at int64
		var doc []byte
		if err := rows.Scan(&e.Drawer, &e.ID, &e.Rev, &at, &doc); err != nil {
			return nil, s.broken(err, op)
		}
		e.At, e.Doc = time.UnixMicro(at).UTC(), doc
		all = append(all, e)
	}
	return all, s.broken(rows.Err(), op)
}

// DropEntry implements [drawer.Rows].
func (s *Store) DropEntry(ctx context.Context, of, id string, rev int64) error {
	const op = "sqlite.drop_entry"
	return s.write(ctx, op, func(tx txn) error {
		var has int64
		err := tx.QueryRowContext(ctx, "SELECT rev FROM entries WHERE drawer = ? AND id = ?", of, id).Scan(&has)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return drawer.None(op, of, id)
		case err != nil:
			return err
		case has != rev:
			return drawer.Changed(op, of, id, has, rev)
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM entries WHERE drawer = ? AND id = ?", of, id)
		return err
	})
}

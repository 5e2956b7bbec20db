package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// entryRev is the revision of an entry; 0 where there is none.
func entryRev(ctx context.Context, tx *pgx.Conn, of, id string) (has int64, err error) {
	err = tx.QueryRow(ctx, "SELECT coalesce(max(rev), 0) FROM entries WHERE drawer = $1 AND id = $2", of, id).Scan(&has)
	return has, err
}

// PutEntry implements [drawer.Rows].
func (s *Store) PutEntry(ctx context.Context, e drawer.Entry) error {
	const op = "postgres.put_entry"
	if err := drawer.Check(e); err != nil {
		return err
	}
	return s.write(ctx, op, func(tx *pgx.Conn) error {
		has, err := entryRev(ctx, tx, e.Drawer, e.ID)
		if err != nil {
			return err
		}
		if has != e.Rev-1 {
			return drawer.Changed(op, e.Drawer, e.ID, has, e.Rev-1)
		}
		if has == 0 {
			var count int
			if err := tx.QueryRow(ctx, "SELECT count(*) FROM entries WHERE drawer = $1", e.Drawer).Scan(&count); err != nil {
				return err
			}
			if count >= drawer.MaxEntries {
				return drawer.Full(op, e.Drawer)
			}
		}
		_, err = tx.Exec(ctx, `INSERT INTO entries (drawer, id, rev, at, doc) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (drawer, id) DO UPDATE SET rev = excluded.rev, at = excluded.at, doc = excluded.doc`,
			e.Drawer, e.ID, e.Rev, store.Instant(e.At).UnixMicro(), []byte(e.Doc))
		return err
	})
}

// GetEntry implements [drawer.Rows].
func (s *Store) GetEntry(ctx context.Context, of, id string) (drawer.Entry, error) {
	const op = "postgres.get_entry"
	if !storable(of) || !storable(id) {
		return drawer.Entry{}, drawer.None(op, of, id)
	}
	all, err := s.entries(ctx, op, "SELECT drawer, id, rev, at, doc FROM entries WHERE drawer = $1 AND id = $2", of, id)
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
	return s.entries(ctx, "postgres.list_entries", "SELECT drawer, id, rev, at, doc FROM entries WHERE drawer = $1 ORDER BY id", of)
}

func (s *Store) entries(ctx context.Context, op, query string, args ...any) ([]drawer.Entry, error) {
	db, err := s.use(ctx, op)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, query, args...)
	if err != nil {
		return nil, s.broken(err, op)
	}
	var all []drawer.Entry
	var e drawer.Entry
	var at int64
	var doc []byte
	_, err = pgx.ForEachRow(rows, []any{&e.Drawer, &e.ID, &e.Rev, &at, &doc}, func() error {
		e.At, e.Doc = time.UnixMicro(at).UTC(), append([]byte{}, doc...)
		all = append(all, e)
		return nil
	})
	if err != nil {
		return nil, s.broken(err, op)
	}
	return all, nil
}

// DropEntry implements [drawer.Rows].
func (s *Store) DropEntry(ctx context.Context, of, id string, rev int64) error {
	const op = "postgres.drop_entry"
	if !storable(of) || !storable(id) {
		return drawer.None(op, of, id)
	}
	return s.write(ctx, op, func(tx *pgx.Conn) error {
		has, err := entryRev(ctx, tx, of, id)
		switch {
		case err != nil:
			return err
		case has == 0:
			return drawer.None(op, of, id)
		case has != rev:
			return drawer.Changed(op, of, id, has, rev)
		}
		_, err = tx.Exec(ctx, "DELETE FROM entries WHERE drawer = $1 AND id = $2", of, id)
		return err
	})
}

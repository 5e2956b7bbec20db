package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// storable says whether text of PostgreSQL may be s. Where it may not, there is no row
// of that name.
func storable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// PutDraft implements [draft.Drafts].
func (s *Store) PutDraft(ctx context.Context, ds ...draft.Draft) error {
	const op = "postgres.put_draft"
	docs := make([][]byte, len(ds))
	for i, d := range ds {
		var err error
		if docs[i], err = json.Marshal(d); err != nil {
			return fault.Wrap(err, fault.Internal, op, "encode the draft %q", d.ID)
		}
	}
	return s.write(ctx, op, func(tx *pgx.Conn) error {
		for i, d := range ds {
			if err := putDraft(ctx, tx, op, d, docs[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func putDraft(ctx context.Context, tx *pgx.Conn, op string, d draft.Draft, doc []byte) error {
	has, err := rev(ctx, tx, "SELECT rev FROM drafts WHERE id = $1", d.ID)
	if err != nil {
		return err
	}
	if has != d.Rev-1 {
		return draft.Changed(op, d.ID, has, d.Rev-1)
	}
	_, err = tx.Exec(ctx, `INSERT INTO drafts (id, rev, pending, created, doc) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (id) DO UPDATE SET rev = excluded.rev, pending = excluded.pending, created = excluded.created, doc = excluded.doc`,
		d.ID, d.Rev, d.State.Pending(), store.Instant(d.Created).UnixMicro(), doc)
	return err
}

// rev is the stored revision of a document; 0 if there is none.
func rev(ctx context.Context, q querier, query, id string) (has int64, err error) {
	err = q.QueryRow(ctx, query, id).Scan(&has)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return has, err
}

// GetDraft implements [draft.Drafts].
func (s *Store) GetDraft(ctx context.Context, id string) (draft.Draft, error) {
	const op = "postgres.get_draft"
	return get[draft.Draft](ctx, s, op, "SELECT doc FROM drafts WHERE id = $1", id, draft.NotFound(op, id))
}

// get decodes the one document of an id, or fails with none.
func get[T any](ctx context.Context, s *Store, op, query, id string, none error) (v T, err error) {
	db, err := s.use(ctx, op)
	if err != nil {
		return v, err
	}
	if !storable(id) {
		return v, none
	}
	var doc []byte
	err = db.QueryRow(ctx, query, id).Scan(&doc)
	if errors.Is(err, pgx.ErrNoRows) {
		return v, none
	}
	if err != nil {
		return v, s.broken(err, op)
	}
	return decode[T](doc, op)
}

// CountDrafts implements [draft.Drafts].
func (s *Store) CountDrafts(ctx context.Context) (n int64, err error) {
	const op = "postgres.count_drafts"
	db, err := s.use(ctx, op)
	if err != nil {
		return 0, err
	}
	err = db.QueryRow(ctx, "SELECT count(*) FROM drafts").Scan(&n)
	return n, s.broken(err, op)
}

// ListDrafts implements [draft.Drafts].
func (s *Store) ListDrafts(ctx context.Context, all bool) ([]draft.Draft, error) {
	return list[draft.Draft](ctx, s, "postgres.list_drafts",
		"SELECT doc FROM drafts WHERE pending OR $1 ORDER BY created DESC, id DESC", all)
}

// list decodes the documents that a query gives.
func list[T any](ctx context.Context, s *Store, op, query string, args ...any) ([]T, error) {
	db, err := s.use(ctx, op)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, query, args...)
	if err != nil {
		return nil, s.broken(err, op)
	}
	var all []T
	var doc []byte
	_, err = pgx.ForEachRow(rows, []any{&doc}, func() error {
		v, err := decode[T](doc, op)
		all = append(all, v)
		return err
	})
	if err != nil {
		return nil, s.broken(err, op)
	}
	return all, nil
}

func decode[T any](doc []byte, op string) (T, error) {
	var v T
	if err := json.Unmarshal(doc, &v); err != nil {
		return v, fault.Wrap(err, store.CodeDamaged, op, "decode a stored %T", v)
	}
	return v, nil
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	json "github.com/go-json-experiment/json/v1" // twice as fast with bodies

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// PutDraft implements [draft.Drafts].
func (s *Store) PutDraft(ctx context.Context, ds ...draft.Draft) error {
	const op = "sqlite.put_draft"
	docs := make([][]byte, len(ds))
	for i, d := range ds {
		var err error
		d.Proposed.Body, d.Baseline.Body = nil, nil // a column each: in JSON they would be base64
		if docs[i], err = json.Marshal(d); err != nil {
			return fault.Wrap(err, fault.Internal, op, "encode the draft %q", d.ID)
		}
	}
	return s.write(ctx, op, func(tx txn) error {
		for i, d := range ds {
			if err := follows(ctx, tx, op, d); err != nil {
				return err
			}
			if err := putDraft(ctx, tx, d, docs[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// follows says whether d is the next revision of the stored draft.
func follows(ctx context.Context, tx txn, op string, d draft.Draft) error {
	var has int64
	err := tx.QueryRowContext(ctx, "SELECT rev FROM draft_states WHERE id = ?", d.ID).Scan(&has)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if has != d.Rev-1 {
		return draft.Changed(op, d.ID, has, d.Rev-1)
	}
	return nil
}

func putDraft(ctx context.Context, tx txn, d draft.Draft, doc []byte) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO draft_docs (id, doc, proposed, baseline) VALUES (?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET doc = excluded.doc, proposed = excluded.proposed, baseline = excluded.baseline`,
		d.ID, doc, d.Proposed.Body, d.Baseline.Body); err != nil {
		return err
	}
	return putState(ctx, tx, d, nil)
}

func putState(ctx context.Context, tx txn, d draft.Draft, ended []byte) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO draft_states (id, rev, pending, created, ended) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET rev = excluded.rev, pending = excluded.pending, created = excluded.created, ended = excluded.ended`,
		d.ID, d.Rev, d.State.Pending(), store.Instant(d.Created).UnixMicro(), ended)
	return err
}

// An ending is what is another thing in a draft that ended.
type ending struct {
	Rev     int64       `json:"rev"`
	State   draft.State `json:"state"`
	Reason  string      `json:"reason"`
	Updated time.Time   `json:"updated"`
}

// A draftRow is what draftColumns gives.
type draftRow struct{ doc, proposed, baseline, ended []byte }

const draftColumns = "d.doc, d.proposed, d.baseline, s.ended FROM draft_states s JOIN draft_docs d USING (id)"

func (r *draftRow) scan(scan func(...any) error) error {
	return scan(&r.doc, &r.proposed, &r.baseline, &r.ended)
}

// draft is the document as it ended.
func (r *draftRow) draft(op string) (draft.Draft, error) {
	d, err := decode[draft.Draft](r.doc, op)
	if r.proposed != nil {
		d.Proposed.Body = r.proposed
	}
	if r.baseline != nil {
		d.Baseline.Body = r.baseline
	}
	if err != nil || r.ended == nil {
		return d, err
	}
	e, err := decode[ending](r.ended, op)
	d.Rev, d.State, d.Reason, d.Updated = e.Rev, e.State, e.Reason, e.Updated
	return d, err
}

// SaveDraft implements [draft.Saver].
func (s *Store) SaveDraft(ctx context.Context, p store.Piece, stamp store.Stamp, create bool, ended func(revision int64) draft.Draft) (store.Piece, error) {
	const op = "sqlite.save_draft"
	p, err := store.Prepare(p, stamp)
	if err != nil {
		return store.Piece{}, err
	}
	next := update
	if create {
		next = insert
	}
	err = s.write(ctx, op, func(tx txn) error {
		if err := follows(ctx, tx, op, ended(0)); err != nil {
			return err
		}
		if err := next(ctx, tx, op, &p); err != nil {
			return err
		}
		d := ended(p.Revision)
		doc, err := json.Marshal(ending{d.Rev, d.State, d.Reason, d.Updated})
		if err != nil {
			return fault.Wrap(err, fault.Internal, op, "encode the ending of the draft %q", d.ID)
		}
		if err := putState(ctx, tx, d, doc); err != nil {
			return err
		}
		return put(ctx, tx, p, stamp)
	})
	return owned(p, err)
}

// GetDraft implements [draft.Drafts].
func (s *Store) GetDraft(ctx context.Context, id string) (draft.Draft, error) {
	const op = "sqlite.get_draft"
	db, err := s.use(ctx, op)
	if err != nil {
		return draft.Draft{}, err
	}
	var row draftRow
	err = row.scan(db.QueryRowContext(ctx, "SELECT "+draftColumns+" WHERE s.id = ?", id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return draft.Draft{}, draft.NotFound(op, id)
	}
	if err != nil {
		return draft.Draft{}, s.broken(err, op)
	}
	return row.draft(op)
}

// CountDrafts implements [draft.Drafts].
func (s *Store) CountDrafts(ctx context.Context) (n int64, err error) {
	const op = "sqlite.count_drafts"
	db, err := s.use(ctx, op)
	if err != nil {
		return 0, err
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM draft_states").Scan(&n); err != nil {
		return 0, s.broken(err, op)
	}
	return n, nil
}

// ListDrafts implements [draft.Drafts].
func (s *Store) ListDrafts(ctx context.Context, all bool) ([]draft.Draft, error) {
	const op = "sqlite.list_drafts"
	db, err := s.use(ctx, op)
	if err != nil {
		return nil, err
	}
	which := "s.pending = 1" // by the index: the others are many
	if all {
		which = "true"
	}
	rows, err := db.QueryContext(ctx, "SELECT "+draftColumns+" WHERE "+which+` ORDER BY s.created DESC, s.id DESC`)
	if err != nil {
		return nil, s.broken(err, op)
	}
	defer rows.Close()
	var drafts []draft.Draft
	for rows.Next() {
		var row draftRow
		if err := row.scan(rows.Scan); err != nil {
			return nil, s.broken(err, op)
		}
		d, err := row.draft(op)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, d)
	}
	return drafts, s.broken(rows.Err(), op)
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

package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, ref store.Ref, revision int64) (store.Piece, error) {
	const op = "sqlite.get"
	if err := store.CheckRef(ref); err != nil {
		return store.Piece{}, err
	}
	db, err := s.use(ctx, op)
	if err != nil {
		return store.Piece{}, err
	}
	if revision == 0 {
		has, ok, err := head(ctx, db, ref)
		switch {
		case err != nil:
			return store.Piece{}, s.broken(err, op)
		case !ok || has.deleted:
			return store.Piece{}, store.NotFound(op, ref)
		}
		revision = has.revision
	}
	// A revision never changes, so what is read from here on is one state.
	p, err := s.revision(ctx, db, ref, revision)
	if errors.Is(err, sql.ErrNoRows) {
		if _, ok, err := head(ctx, db, ref); err == nil && !ok {
			return store.Piece{}, store.NotFound(op, ref)
		}
		return store.Piece{}, store.NoRevision(op, ref, revision)
	}
	return p, s.broken(err, op)
}

type headRow struct {
	revision int64
	deleted  bool
}

// head is the current revision of a piece, also of a deleted one; false if there
// never was one.
func head(ctx context.Context, q querier, ref store.Ref) (headRow, bool, error) {
	var h headRow
	err := q.QueryRowContext(ctx, "SELECT revision, deleted FROM heads WHERE kind = ? AND id = ?", ref.Kind, ref.ID).Scan(&h.revision, &h.deleted)
	if errors.Is(err, sql.ErrNoRows) {
		return headRow{}, false, nil
	}
	return h, err == nil, err
}

// revision reads one revision with its escrow; sql.ErrNoRows if there is none or
// it is a removal.
func (s *Store) revision(ctx context.Context, q querier, ref store.Ref, revision int64) (store.Piece, error) {
	p := store.Piece{Ref: ref, Revision: revision}
	var at int64
	var list string
	err := q.QueryRowContext(ctx, "SELECT at, title, escrow, profiles, body FROM revisions WHERE kind = ? AND id = ? AND revision = ? AND NOT deleted",
		ref.Kind, ref.ID, revision).Scan(&at, &p.Title, &list, &p.Profiles, &p.Body)
	if err != nil {
		return store.Piece{}, err
	}
	if len(p.Profiles) == 0 {
		p.Profiles = nil
	}
	p.Updated = time.UnixMicro(at).UTC()
	var refs []store.EscrowRef
	if err := json.Unmarshal([]byte(list), &refs); err != nil {
		return store.Piece{}, s.damaged(ref, "its list of escrows cannot be read")
	}
	for _, e := range refs {
		var raw []byte
		err := q.QueryRowContext(ctx, "SELECT raw FROM blobs WHERE digest = ?", e.Digest).Scan(&raw)
		if errors.Is(err, sql.ErrNoRows) {
			return store.Piece{}, s.damaged(ref, "an escrow is missing")
		}
		if err != nil {
			return store.Piece{}, err
		}
		if store.Digest(raw) != e.Digest { // an export would call it the same bytes
			return store.Piece{}, s.damaged(ref, "the original "+strconv.Quote(e.Name)+" is not what was kept")
		}
		p.Escrow = append(p.Escrow, store.Escrow{Format: e.Format, Name: e.Name, Raw: raw})
	}
	return p, nil
}

func (s *Store) damaged(ref store.Ref, what string) error {
	return fault.New(store.CodeDamaged, "sqlite.get", "%q in the store %q: %s", ref, s.path, what).
		WithHint("restore the file from a copy")
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, q store.Query) ([]store.Summary, error) {
	const op = "sqlite.list"
	if err := store.CheckQuery(q); err != nil {
		return nil, err
	}
	db, err := s.use(ctx, op)
	if err != nil {
		return nil, err
	}
	if q.Text != "" {
		list, err := search(ctx, db.db, q)
		return list, s.broken(err, op)
	}
	query, args := listQuery(q)
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.broken(err, op)
	}
	defer rows.Close()
	var list []store.Summary
	for rows.Next() {
		var m store.Summary
		var at int64
		if err := rows.Scan(&m.Kind, &m.ID, &m.Revision, &m.Title, &m.Size, &at); err != nil {
			return nil, s.broken(err, op)
		}
		m.Updated = time.UnixMicro(at).UTC()
		list = append(list, m)
	}
	return list, s.broken(rows.Err(), op)
}

func listQuery(q store.Query) (string, []any) {
	where, args := within(q, "")
	return "SELECT kind, id, revision, title, size, updated FROM heads WHERE NOT deleted" + where + " ORDER BY kind, id LIMIT ?",
		append(args, cmp.Or(q.Limit, store.MaxList))
}

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, p store.Piece, stamp store.Stamp) (store.Piece, error) {
	const op = "sqlite.create"
	p, err := store.Prepare(p, stamp)
	if err != nil {
		return store.Piece{}, err
	}
	err = s.write(ctx, op, func(tx txn) error {
		if err := insert(ctx, tx, op, &p); err != nil {
			return err
		}
		return put(ctx, tx, p, stamp)
	})
	return owned(p, err)
}

// insert gives p the revision that it becomes, if its id is free.
func insert(ctx context.Context, tx txn, op string, p *store.Piece) error {
	has, ok, err := head(ctx, tx, p.Ref)
	if err != nil {
		return err
	}
	if ok && !has.deleted {
		return store.Taken(op, p.Ref, has.revision)
	}
	p.Revision = has.revision + 1
	return nil
}

// Update implements [store.Store].
func (s *Store) Update(ctx context.Context, p store.Piece, stamp store.Stamp) (store.Piece, error) {
	const op = "sqlite.update"
	p, err := store.Prepare(p, stamp)
	if err != nil {
		return store.Piece{}, err
	}
	err = s.write(ctx, op, func(tx txn) error {
		if err := update(ctx, tx, op, &p); err != nil {
			return err
		}
		return put(ctx, tx, p, stamp)
	})
	return owned(p, err)
}

// update gives p the revision that it becomes, if its own is the current one and its
// escrow what was imported.
func update(ctx context.Context, tx txn, op string, p *store.Piece) error {
	has, ok, err := head(ctx, tx, p.Ref)
	switch {
	case err != nil:
		return err
	case !ok || has.deleted:
		return store.NotFound(op, p.Ref)
	case has.revision != p.Revision:
		return store.NotCurrent(op, p.Ref, has.revision, p.Revision)
	}
	var escrow string
	if err := tx.QueryRowContext(ctx, "SELECT escrow FROM revisions WHERE kind = ? AND id = ? AND revision = ?",
		p.Kind, p.ID, p.Revision).Scan(&escrow); err != nil {
		return err
	}
	if list, _ := store.EscrowList(p.Escrow); list != escrow {
		return store.NewEscrow(op, p.Ref)
	}
	p.Revision++
	return nil
}

// owned is p without bytes that the caller gave.
func owned(p store.Piece, err error) (store.Piece, error) {
	if err != nil {
		return store.Piece{}, err
	}
	p.Escrow = slices.Clone(p.Escrow)
	for i := range p.Escrow {
		p.Escrow[i].Raw = slices.Clone(p.Escrow[i].Raw)
	}
	return p, nil
}

// put writes p as the current revision.
func put(ctx context.Context, tx txn, p store.Piece, stamp store.Stamp) error {
	list, digests := store.EscrowList(p.Escrow)
	for i, e := range p.Escrow {
		raw := e.Raw
		if raw == nil {
			raw = []byte{} // nil would be NULL
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO blobs (digest, raw) VALUES (?, ?) ON CONFLICT DO NOTHING", digests[i], raw); err != nil {
			return err
		}
	}
	at := p.Updated.UnixMicro()
	if _, err := tx.ExecContext(ctx, `INSERT INTO revisions (kind, id, revision, deleted, size, at, session, seq, cause, title, escrow, profiles, body)
		VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		p.Kind, p.ID, p.Revision, len(p.Body), at, stamp.Session, stamp.Seq, stamp.Cause, p.Title, list, p.Profiles, p.Body); err != nil {
		return err
	}
	if err := putBehind(ctx, tx, p); err != nil {
		return err
	}
	return putHead(ctx, tx, p, false)
}

func putHead(ctx context.Context, tx txn, p store.Piece, deleted bool) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO heads (kind, id, revision, deleted, size, updated, title) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, deleted = excluded.deleted,
		size = excluded.size, updated = excluded.updated, title = excluded.title`,
		p.Kind, p.ID, p.Revision, deleted, len(p.Body), p.Updated.UnixMicro(), p.Title)
	return err
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, ref store.Ref, revision int64, stamp store.Stamp) error {
	const op = "sqlite.delete"
	if err := cmp.Or(store.CheckRef(ref), store.CheckStamp(stamp)); err != nil {
		return err
	}
	return s.write(ctx, op, func(tx txn) error {
		has, ok, err := head(ctx, tx, ref)
		switch {
		case err != nil:
			return err
		case !ok || has.deleted:
			return store.NotFound(op, ref)
		case has.revision != revision:
			return store.NotCurrent(op, ref, has.revision, revision)
		}
		gone := store.Piece{Ref: ref, Revision: revision + 1, Updated: store.Instant(stamp.At)}
		if _, err := tx.ExecContext(ctx, `INSERT INTO revisions (kind, id, revision, deleted, size, at, session, seq, cause, title, escrow)
			VALUES (?, ?, ?, 1, 0, ?, ?, ?, ?, '', '[]')`,
			ref.Kind, ref.ID, gone.Revision, gone.Updated.UnixMicro(), stamp.Session, stamp.Seq, stamp.Cause); err != nil {
			return err
		}
		if err := dropText(ctx, tx, ref); err != nil {
			return err
		}
		return putHead(ctx, tx, gone, true)
	})
}

// History implements [store.Store].
func (s *Store) History(ctx context.Context, ref store.Ref) ([]store.Revision, error) {
	const op = "sqlite.history"
	if err := store.CheckRef(ref); err != nil {
		return nil, err
	}
	db, err := s.use(ctx, op)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT revision, deleted, size, at, session, seq, cause FROM revisions WHERE kind = ? AND id = ? ORDER BY revision", ref.Kind, ref.ID)
	if err != nil {
		return nil, s.broken(err, op)
	}
	defer rows.Close()
	var list []store.Revision
	for rows.Next() {
		var r store.Revision
		var at int64
		if err := rows.Scan(&r.Revision, &r.Deleted, &r.Size, &at, &r.Session, &r.Seq, &r.Cause); err != nil {
			return nil, s.broken(err, op)
		}
		r.At = time.UnixMicro(at).UTC()
		list = append(list, r)
	}
	if err := rows.Err(); err != nil {
		return nil, s.broken(err, op)
	}
	if len(list) == 0 {
		return nil, store.NotFound(op, ref)
	}
	return list, nil
}

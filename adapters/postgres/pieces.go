package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, ref store.Ref, revision int64) (store.Piece, error) {
	const op = "postgres.get"
	if err := store.CheckRef(ref); err != nil {
		return store.Piece{}, err
	}
	db, err := s.use(ctx, op)
	if err != nil {
		return store.Piece{}, err
	}
	p := store.Piece{Ref: ref}
	var at int64
	var title, list []byte
	var there bool
	// One statement, and so one state of the store. A revision never changes, so that
	// its originals may be read after it.
	err = db.QueryRow(ctx, `SELECT h.revision, r.revision IS NOT NULL, coalesce(r.at, 0), coalesce(r.title, ''), coalesce(r.escrow, '[]'), r.profiles, coalesce(r.body, '')
		FROM heads h LEFT JOIN revisions r ON r.kind = h.kind AND r.id = h.id AND NOT r.deleted
			AND r.revision = CASE $3::bigint WHEN 0 THEN h.revision ELSE $3::bigint END
		WHERE h.kind = $1 AND h.id = $2`, ref.Kind, ref.ID, revision).
		Scan(&p.Revision, &there, &at, &title, &list, &p.Profiles, &p.Body)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && !there && revision == 0:
		return store.Piece{}, store.NotFound(op, ref)
	case err != nil:
		return store.Piece{}, s.broken(err, op)
	case !there:
		return store.Piece{}, store.NoRevision(op, ref, revision)
	}
	p.Revision = cmp.Or(revision, p.Revision)
	p.Title, p.Updated = string(title), time.UnixMicro(at).UTC()
	if len(p.Profiles) == 0 {
		p.Profiles = nil
	}
	p.Escrow, err = s.escrow(ctx, db, ref, list)
	return p, s.broken(err, op)
}

// A lister is the connections, or one of them.
type lister interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// escrow reads the originals in a revision's list.
func (s *Store) escrow(ctx context.Context, q lister, ref store.Ref, list []byte) ([]store.Escrow, error) {
	var refs []store.EscrowRef
	if err := json.Unmarshal(list, &refs); err != nil {
		return nil, s.damaged(ref, "its list of escrows cannot be read")
	}
	if len(refs) == 0 {
		return nil, nil
	}
	digests := make([]string, len(refs))
	for i, r := range refs {
		digests[i] = r.Digest
	}
	rows, err := q.Query(ctx, "SELECT digest, raw FROM blobs WHERE digest = ANY($1)", digests)
	if err != nil {
		return nil, err
	}
	kept := map[string][]byte{}
	var digest string
	var raw []byte
	if _, err := pgx.ForEachRow(rows, []any{&digest, &raw}, func() error {
		kept[digest] = slices.Clone(raw)
		return nil
	}); err != nil {
		return nil, err
	}
	var all []store.Escrow
	for _, r := range refs {
		raw, ok := kept[r.Digest]
		if !ok {
			return nil, s.damaged(ref, "an escrow is missing")
		}
		if store.Digest(raw) != r.Digest { // an export would call it the same bytes
			return nil, s.damaged(ref, "the original "+strconv.Quote(r.Name)+" is not what was kept")
		}
		all = append(all, store.Escrow{Format: r.Format, Name: r.Name, Raw: slices.Clone(raw)})
	}
	return all, nil
}

func (s *Store) damaged(ref store.Ref, what string) error {
	return fault.New(store.CodeDamaged, "postgres.get", "%q in the store %q: %s", ref, s.o.Address, what).
		WithHint("restore the schema from a copy")
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, q store.Query) ([]store.Summary, error) {
	const op = "postgres.list"
	if err := store.CheckQuery(q); err != nil {
		return nil, err
	}
	db, err := s.use(ctx, op)
	if err != nil {
		return nil, err
	}
	if !storable(q.Kind) || !storable(q.After.Kind) || !storable(q.After.ID) {
		return nil, store.CheckRef(store.Ref{Kind: cmp.Or(q.Kind, q.After.Kind), ID: cmp.Or(q.After.ID, "x")})
	}
	query, args := listQuery(q)
	rows, err := db.Query(ctx, query, args...)
	if err != nil {
		return nil, s.broken(err, op)
	}
	var list []store.Summary
	var m store.Summary
	var at int64
	var title []byte
	_, err = pgx.ForEachRow(rows, []any{&m.Kind, &m.ID, &m.Revision, &title, &m.Size, &at}, func() error {
		m.Title, m.Updated = string(title), time.UnixMicro(at).UTC()
		list = append(list, m)
		return nil
	})
	if err != nil {
		return nil, s.broken(err, op)
	}
	return list, nil
}

func listQuery(q store.Query) (string, []any) {
	var b strings.Builder
	var args []any
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	b.WriteString("SELECT h.kind, h.id, h.revision, h.title, h.size, h.updated FROM heads h WHERE NOT h.deleted")
	if q.Kind != "" {
		b.WriteString(" AND h.kind = " + arg(q.Kind))
	}
	if q.After != (store.Ref{}) {
		b.WriteString(" AND (h.kind, h.id) > (" + arg(q.After.Kind) + ", " + arg(q.After.ID) + ")")
	}
	if q.Text != "" {
		// position over bytea compares bytes: a text's own wildcards mean nothing, and
		// both sides are folded by the port's rule.
		b.WriteString(" AND EXISTS (SELECT 1 FROM texts t WHERE t.kind = h.kind AND t.id = h.id AND position(" + arg([]byte(store.Fold(q.Text))) + "::bytea IN t.text) > 0)")
	}
	b.WriteString(" ORDER BY h.kind, h.id LIMIT " + arg(cmp.Or(q.Limit, store.MaxList)))
	return b.String(), args
}

// A current is what a write decides by.
type current struct {
	revision int64
	deleted  bool
	escrow   []byte // the list of that revision
}

// head is the current revision of a piece, also of a deleted one; false if there never
// was one.
func head(ctx context.Context, q querier, ref store.Ref) (current, bool, error) {
	var h current
	err := q.QueryRow(ctx, `SELECT h.revision, h.deleted, r.escrow FROM heads h JOIN revisions r USING (kind, id, revision)
		WHERE h.kind = $1 AND h.id = $2`, ref.Kind, ref.ID).Scan(&h.revision, &h.deleted, &h.escrow)
	if errors.Is(err, pgx.ErrNoRows) {
		return current{}, false, nil
	}
	return h, err == nil, err
}

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, p store.Piece, stamp store.Stamp) (store.Piece, error) {
	const op = "postgres.create"
	p, err := store.Prepare(p, stamp)
	if err != nil {
		return store.Piece{}, err
	}
	err = s.write(ctx, op, func(tx *pgx.Conn) error { return create(ctx, tx, op, &p, stamp) })
	return owned(p, err)
}

// CreateAll implements [store.Together].
func (s *Store) CreateAll(ctx context.Context, ps []store.Piece, stamp store.Stamp) ([]store.Piece, error) {
	const op = "postgres.create"
	all, err := store.PrepareAll(ps, stamp)
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, op, func(tx *pgx.Conn) error {
		for i := range all {
			if err := create(ctx, tx, op, &all[i], stamp); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// create writes p as the revision that it becomes, if its id is free.
func create(ctx context.Context, tx *pgx.Conn, op string, p *store.Piece, stamp store.Stamp) error {
	has, ok, err := head(ctx, tx, p.Ref)
	if err != nil {
		return err
	}
	if ok && !has.deleted {
		return store.Taken(op, p.Ref, has.revision)
	}
	p.Revision = has.revision + 1
	list, digests := store.EscrowList(p.Escrow)
	var b pgx.Batch
	for i, e := range p.Escrow {
		b.Queue("INSERT INTO blobs (digest, raw) VALUES ($1, $2) ON CONFLICT DO NOTHING", digests[i], bytesOf(e.Raw))
	}
	put(&b, *p, stamp, list)
	return tx.SendBatch(ctx, &b).Close()
}

// Update implements [store.Store].
func (s *Store) Update(ctx context.Context, p store.Piece, stamp store.Stamp) (store.Piece, error) {
	const op = "postgres.update"
	p, err := store.Prepare(p, stamp)
	if err != nil {
		return store.Piece{}, err
	}
	from := p.Revision
	list, _ := store.EscrowList(p.Escrow)
	err = s.write(ctx, op, func(tx *pgx.Conn) error {
		has, ok, err := head(ctx, tx, p.Ref)
		switch {
		case err != nil:
			return err
		case !ok || has.deleted:
			return store.NotFound(op, p.Ref)
		case has.revision != from:
			return store.NotCurrent(op, p.Ref, has.revision, from)
		case list != string(has.escrow):
			return store.NewEscrow(op, p.Ref)
		}
		p.Revision = from + 1
		var b pgx.Batch
		put(&b, p, stamp, list)
		return tx.SendBatch(ctx, &b).Close()
	})
	return owned(p, err)
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

// bytesOf is never NULL.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// put writes p as the current revision.
func put(b *pgx.Batch, p store.Piece, stamp store.Stamp, list string) {
	at := p.Updated.UnixMicro()
	b.Queue(`INSERT INTO revisions (kind, id, revision, deleted, size, at, session, seq, cause, title, escrow, profiles, body)
		VALUES ($1, $2, $3, false, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		p.Kind, p.ID, p.Revision, len(p.Body), at, []byte(stamp.Session), stamp.Seq, []byte(stamp.Cause), []byte(p.Title), []byte(list), p.Profiles, p.Body)
	b.Queue(`INSERT INTO texts (kind, id, text) VALUES ($1, $2, $3) ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text`,
		p.Kind, p.ID, []byte(store.SearchText(p.Title, p.Body)))
	putHead(b, p, false)
}

func putHead(b *pgx.Batch, p store.Piece, deleted bool) {
	b.Queue(`INSERT INTO heads (kind, id, revision, deleted, size, updated, title) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, deleted = excluded.deleted, size = excluded.size,
			updated = excluded.updated, title = excluded.title`,
		p.Kind, p.ID, p.Revision, deleted, len(p.Body), p.Updated.UnixMicro(), []byte(p.Title))
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, ref store.Ref, revision int64, stamp store.Stamp) error {
	const op = "postgres.delete"
	if err := cmp.Or(store.CheckRef(ref), store.CheckStamp(stamp)); err != nil {
		return err
	}
	return s.write(ctx, op, func(tx *pgx.Conn) error {
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
		var b pgx.Batch
		b.Queue(`INSERT INTO revisions (kind, id, revision, deleted, size, at, session, seq, cause, title, escrow)
			VALUES ($1, $2, $3, true, 0, $4, $5, $6, $7, '', '[]')`,
			ref.Kind, ref.ID, gone.Revision, gone.Updated.UnixMicro(), []byte(stamp.Session), stamp.Seq, []byte(stamp.Cause))
		b.Queue("DELETE FROM texts WHERE kind = $1 AND id = $2", ref.Kind, ref.ID)
		putHead(&b, gone, true)
		return tx.SendBatch(ctx, &b).Close()
	})
}

// History implements [store.Store].
func (s *Store) History(ctx context.Context, ref store.Ref) ([]store.Revision, error) {
	const op = "postgres.history"
	if err := store.CheckRef(ref); err != nil {
		return nil, err
	}
	db, err := s.use(ctx, op)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, "SELECT revision, deleted, size, at, session, seq, cause FROM revisions WHERE kind = $1 AND id = $2 ORDER BY revision", ref.Kind, ref.ID)
	if err != nil {
		return nil, s.broken(err, op)
	}
	var list []store.Revision
	var r store.Revision
	var at int64
	var session, cause []byte
	if _, err := pgx.ForEachRow(rows, []any{&r.Revision, &r.Deleted, &r.Size, &at, &session, &r.Seq, &cause}, func() error {
		r.At, r.Session, r.Cause = time.UnixMicro(at).UTC(), string(session), string(cause)
		list = append(list, r)
		return nil
	}); err != nil {
		return nil, s.broken(err, op)
	}
	if len(list) == 0 {
		return nil, store.NotFound(op, ref)
	}
	return list, nil
}

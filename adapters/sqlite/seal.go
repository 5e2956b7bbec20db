package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A sealer runs one thing at a time beside the writers. Its zero value is ready.
type sealer struct {
	mu            sync.Mutex
	running, over bool
	done          sync.WaitGroup
}

// start runs f, unless it is running or the store ends. f looks at stop between steps.
func (l *sealer) start(f func(stop func() bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running || l.over {
		return
	}
	l.running = true
	l.done.Go(func() {
		f(func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.over
		})
		l.mu.Lock()
		defer l.mu.Unlock()
		l.running = false
	})
}

// end waits for the step that runs.
func (l *sealer) end() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.done.Wait()
}

// seal makes blocks of the pieces that are behind, beside whoever writes: their texts and
// the runs of those are found in a state of the store that stands still, and only what
// was found is written. An error leaves the pieces behind, which is right, and a later
// write tries again.
func (s *Store) seal(ctx context.Context, stop func() bool) {
	const op = "sqlite.seal"
	for !stop() {
		db, err := s.use(ctx, op)
		if err != nil {
			return
		}
		b, left, err := s.next(ctx, db.db)
		if err != nil {
			return
		}
		if b == nil {
			s.writing.Lock()
			s.behind = left
			s.writing.Unlock()
			return
		}
		if err := s.write(ctx, op, func(tx txn) error {
			var last int64
			if err := tx.QueryRowContext(ctx, lastBlock).Scan(&last); err != nil || last != b.after {
				return err // another process was faster
			}
			return b.keep(ctx, tx)
		}); err != nil {
			return
		}
	}
}

// next is [gather] in a state of its own.
func (s *Store) next(ctx context.Context, db *sql.DB) (*made, backlog, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, backlog{}, err
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	return gather(ctx, tx)
}

// seal makes blocks of the pieces that are behind in the transaction that wrote the last
// of them.
func seal(ctx context.Context, tx txn) error {
	for {
		b, left, err := gather(ctx, tx)
		if err != nil {
			return err
		}
		if b == nil {
			*tx.behind = left
			return nil
		}
		if err := b.keep(ctx, tx); err != nil {
			return err
		}
	}
}

const lastBlock = "SELECT coalesce((SELECT max(last) FROM blocks), 0)"

// A made block is one that is not written yet.
type made struct {
	after int64 // the last block when it was made
	block
	texts  []text
	packed [buckets][]byte
	worn   []block // the blocks that are to be dissolved, with the texts that are left
}

// A text is what a search looks in.
type text struct {
	store.Ref
	revision int64
	folded   []byte
}

// gather makes a block of pieces that are behind; nil, and how many are, if there are not
// enough.
func gather(ctx context.Context, q querier) (*made, backlog, error) {
	left := backlog{looked: true}
	if err := q.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(size), 0) FROM behind").Scan(&left.pieces, &left.size); err != nil {
		return nil, left, err
	}
	if left.pieces < blockTexts && left.size < blockBytes {
		return nil, left, nil
	}
	b := &made{}
	if err := q.QueryRowContext(ctx, lastBlock).Scan(&b.after); err != nil {
		return nil, left, err
	}
	if err := q.QueryRowContext(ctx, "SELECT max(coalesce((SELECT max(n) FROM texts), 0), ?)", b.after).Scan(&b.last); err != nil {
		return nil, left, err // a number is never given twice once it is in a block
	}
	var err error
	if b.texts, err = texts(ctx, q); err != nil {
		return nil, left, err
	}
	var list []run
	var postings []posting
	m := new(marker)
	for place, t := range b.texts {
		b.last++
		b.docs = append(b.docs, b.last)
		list = m.add(list[:0], t.folded)
		postings = slices.Grow(postings, len(list))
		for _, r := range list {
			postings = append(postings, posting(r)<<8|posting(place))
		}
	}
	b.packed = pack(sorted(postings))
	b.worn, err = worn(ctx, q)
	return b, left, err
}

// texts are those of a block, of pieces that are behind.
func texts(ctx context.Context, q querier) ([]text, error) {
	rows, err := q.QueryContext(ctx, `SELECT r.kind, r.id, r.revision, r.title, r.body FROM behind b
		JOIN revisions r ON r.kind = b.kind AND r.id = b.id AND r.revision = b.revision LIMIT ?`, blockTexts)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []text
	for size := 0; size < blockBytes && rows.Next(); {
		var t text
		var title string
		var body sql.RawBytes
		if err := rows.Scan(&t.Kind, &t.ID, &t.revision, &title, &body); err != nil {
			return nil, err
		}
		t.folded = []byte(store.SearchText(title, body))
		list = append(list, t)
		size += len(body)
	}
	return list, rows.Err()
}

// keep writes b, and dissolves the blocks that are worn. A text whose piece was written
// again meanwhile, or deleted, is left out: its place means nothing.
func (b *made) keep(ctx context.Context, tx txn) error {
	var docs []byte
	for i, t := range b.texts {
		docs = binary.LittleEndian.AppendUint32(docs, uint32(b.docs[i]))
		still, err := tx.ExecContext(ctx, "DELETE FROM behind WHERE kind = ? AND id = ? AND revision = ?", t.Kind, t.ID, t.revision)
		if err != nil {
			return err
		}
		if n, err := still.RowsAffected(); err != nil || n == 0 {
			continue
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM texts WHERE kind = ? AND id = ?", t.Kind, t.ID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO texts (n, kind, id, text) VALUES (?, ?, ?, ?)", b.docs[i], t.Kind, t.ID, t.folded); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO blocks (last, docs) VALUES (?, ?)", b.last, docs); err != nil {
		return err
	}
	for bucket, list := range b.packed {
		if len(list) == 0 {
			continue
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO runs (bucket, block, list) VALUES (?, ?, ?)", bucket, b.last, list); err != nil {
			return err
		}
	}
	for _, old := range b.worn {
		if err := dissolve(ctx, tx, old); err != nil {
			return err
		}
	}
	return nil
}

// worn are the blocks of which less than half of the texts are left.
func worn(ctx context.Context, q querier) ([]block, error) {
	all, err := blocks(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, "SELECT n FROM texts INDEXED BY texts_by_piece")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	there := map[int64]bool{}
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		there[n] = true
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	var old []block
	for _, b := range all {
		left := slices.DeleteFunc(slices.Clone(b.docs), func(n int64) bool { return !there[n] })
		if len(left)*2 <= len(b.docs) {
			old = append(old, block{b.last, left})
		}
	}
	return old, nil
}

// dissolve puts the pieces of a block behind. It is not the last one, which says which
// numbers are taken: a newer one was just written.
func dissolve(ctx context.Context, tx txn, old block) error {
	for _, n := range old.docs {
		if _, err := tx.ExecContext(ctx, `INSERT INTO behind (kind, id, revision, size) SELECT h.kind, h.id, h.revision, h.size
			FROM texts t JOIN heads h ON h.kind = t.kind AND h.id = t.id WHERE t.n = ? ON CONFLICT DO NOTHING`, n); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM texts WHERE n = ?", n); err != nil {
			return err
		}
	}
	for bucket := range buckets {
		if _, err := tx.ExecContext(ctx, "DELETE FROM runs WHERE bucket = ? AND block = ?", bucket, old.last); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM blocks WHERE last = ?", old.last)
	return err
}

package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/soundstage-dev/soundstage/runtime/store"
)

// errIndex says that the index cannot be what makeBlock wrote.
var errIndex = errors.New("the index of texts is damaged")

// sparse is how many candidates are looked at before they are put in order. More are
// walked in the order of the pieces, so that a search that fills its limit ends early.
const sparse = 200

// search lists the pieces that hold q.Text, in one state of the store.
func search(ctx context.Context, db *sql.DB, q store.Query) ([]store.Summary, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	text := store.Fold(q.Text)
	list, err := candidates(ctx, tx, text)
	if err != nil {
		return nil, err
	}
	look, err := tx.PrepareContext(ctx, `SELECT h.kind, h.id, h.revision, h.title, h.size, h.updated, t.text
		FROM texts t JOIN heads h ON h.kind = t.kind AND h.id = t.id WHERE t.n = ?`)
	if err != nil {
		return nil, err
	}
	defer look.Close()
	l := looker{ctx: ctx, look: look, text: []byte(text), q: q}
	if len(list) > sparse {
		return l.walk(tx, list)
	}
	var found []store.Summary
	for _, n := range list {
		if found, err = l.add(found, n); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b store.Summary) int { return compare(a.Ref, b.Ref) })
	return found[:min(len(found), l.most())], nil
}

func compare(a, b store.Ref) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
}

// A looker reads candidates.
type looker struct {
	ctx  context.Context
	look *sql.Stmt
	text []byte
	q    store.Query
}

func (l looker) most() int { return cmp.Or(l.q.Limit, store.MaxList) }

// add appends the piece of the text n, if it is wanted and holds what is looked for. One
// that is not there any more is none.
func (l looker) add(found []store.Summary, n int64) ([]store.Summary, error) {
	rows, err := l.look.QueryContext(l.ctx, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var m store.Summary
		var at int64
		var text sql.RawBytes
		if err := rows.Scan(&m.Kind, &m.ID, &m.Revision, &m.Title, &m.Size, &at, &text); err != nil {
			return nil, err
		}
		after := l.q.After == (store.Ref{}) || compare(m.Ref, l.q.After) > 0
		if after && (l.q.Kind == "" || l.q.Kind == m.Kind) && bytes.Contains(text, l.text) {
			m.Updated = time.UnixMicro(at).UTC()
			found = append(found, m)
		}
	}
	return found, rows.Err()
}

// walk looks at candidates in the order of the pieces until the limit is reached.
func (l looker) walk(tx *sql.Tx, list []int64) ([]store.Summary, error) {
	may := make(map[int64]bool, len(list))
	for _, n := range list {
		may[n] = true
	}
	where, args := within(l.q)
	rows, err := tx.QueryContext(l.ctx, "SELECT n FROM texts WHERE true"+where+" ORDER BY kind, id", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []store.Summary
	for len(found) < l.most() && rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		if may[n] {
			if found, err = l.add(found, n); err != nil {
				return nil, err
			}
		}
	}
	return found, rows.Err()
}

// within is the part of a condition that a query's kind and place make.
func within(q store.Query) (where string, args []any) {
	if q.Kind != "" {
		where += " AND kind = ?"
		args = append(args, q.Kind)
	}
	if q.After != (store.Ref{}) {
		where += " AND (kind, id) > (?, ?)"
		args = append(args, q.After.Kind, q.After.ID)
	}
	return where, args
}

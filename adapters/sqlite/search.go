package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/runtime/store"
)

// errIndex says that the index cannot be what makeBlock wrote.
var errIndex = errors.New("the index of texts is damaged")

// together is how many candidates are looked at with one statement.
const together = 64

// search lists the pieces that hold q.Text, in one state of the store.
func search(ctx context.Context, db *sql.DB, q store.Query) ([]store.Summary, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	text := store.Fold(q.Text)
	found, stale, err := searchBehind(ctx, tx, q, text)
	if err != nil {
		return nil, err
	}
	list, err := candidates(ctx, tx, text)
	if err != nil {
		return nil, err
	}
	// A list of numbers comes as JSON, and so one statement reads many rows: beginning a
	// statement takes as long as reading a text. Both texts are blobs, which instr compares
	// byte by byte.
	look, err := tx.PrepareContext(ctx, `SELECT h.kind, h.id, h.revision, h.title, h.size, h.updated
		FROM json_each(?) j CROSS JOIN texts t ON t.n = j.value CROSS JOIN heads h ON h.kind = t.kind AND h.id = t.id
		WHERE instr(t.text, ?) > 0`)
	if err != nil {
		return nil, err
	}
	defer look.Close()
	l := looker{ctx: ctx, look: look, text: []byte(text), q: q, stale: stale}
	if len(list) > l.most() {
		more, err := l.walk(tx, list)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	} else {
		for some := range slices.Chunk(list, together) {
			if found, err = l.add(found, some); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(found, func(a, b store.Summary) int { return compare(a.Ref, b.Ref) })
	return found[:min(len(found), l.most())], nil
}

// searchBehind looks at the pieces that the index does not know. stale are all that q
// asks for among them.
func searchBehind(ctx context.Context, q querier, query store.Query, text string) (found []store.Summary, stale map[store.Ref]bool, err error) {
	where, args := within(query, "b.")
	rows, err := q.QueryContext(ctx, `SELECT h.kind, h.id, h.revision, h.title, h.size, h.updated, r.body
		FROM behind b JOIN heads h ON h.kind = b.kind AND h.id = b.id
		JOIN revisions r ON r.kind = b.kind AND r.id = b.id AND r.revision = b.revision WHERE true`+where, args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	stale = map[store.Ref]bool{}
	for rows.Next() {
		var body sql.RawBytes
		m, err := scan(rows, &body)
		if err != nil {
			return nil, nil, err
		}
		stale[m.Ref] = true
		if strings.Contains(store.SearchText(m.Title, body), text) {
			found = append(found, m)
		}
	}
	return found, stale, rows.Err()
}

// scan reads a head, and what stands beside it.
func scan(rows *sql.Rows, beside ...any) (m store.Summary, err error) {
	var at int64
	err = rows.Scan(append([]any{&m.Kind, &m.ID, &m.Revision, &m.Title, &m.Size, &at}, beside...)...)
	m.Updated = time.UnixMicro(at).UTC()
	return m, err
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

	stale map[store.Ref]bool // pieces whose texts are old
}

func (l looker) most() int { return cmp.Or(l.q.Limit, store.MaxList) }

// add appends the pieces of the texts of these numbers that are wanted and hold what is
// looked for, in their order. One that is not there any more is none.
func (l looker) add(found []store.Summary, list []int64) ([]store.Summary, error) {
	numbers := []byte{'['}
	for i, n := range list {
		if i > 0 {
			numbers = append(numbers, ',')
		}
		numbers = strconv.AppendInt(numbers, n, 10)
	}
	rows, err := l.look.QueryContext(l.ctx, string(append(numbers, ']')), l.text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		m, err := scan(rows)
		if err != nil {
			return nil, err
		}
		after := l.q.After == (store.Ref{}) || compare(m.Ref, l.q.After) > 0
		if after && (l.q.Kind == "" || l.q.Kind == m.Kind) && !l.stale[m.Ref] {
			found = append(found, m)
		}
	}
	return found, rows.Err()
}

// walk looks at candidates in the order of the pieces until the limit is reached: they
// are more than are wanted.
func (l looker) walk(tx *sql.Tx, list []int64) ([]store.Summary, error) {
	may := make(map[int64]bool, len(list))
	for _, n := range list {
		may[n] = true
	}
	where, args := within(l.q, "")
	rows, err := tx.QueryContext(l.ctx, "SELECT n FROM texts WHERE true"+where+" ORDER BY kind, id", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []store.Summary
	for {
		var some []int64
		for len(some) < min(together, l.most()-len(found)) && rows.Next() {
			var n int64
			if err := rows.Scan(&n); err != nil {
				return nil, err
			}
			if may[n] {
				some = append(some, n)
			}
		}
		if len(some) == 0 {
			return found, rows.Err()
		}
		if found, err = l.add(found, some); err != nil {
			return nil, err
		}
	}
}

// within is the part of a condition that a query's kind and place make, for columns of
// the table that of names.
func within(q store.Query, of string) (where string, args []any) {
	if q.Kind != "" {
		where += " AND " + of + "kind = ?"
		args = append(args, q.Kind)
	}
	if q.After != (store.Ref{}) {
		where += " AND (" + of + "kind, " + of + "id) > (?, ?)"
		args = append(args, q.After.Kind, q.After.ID)
	}
	return where, args
}

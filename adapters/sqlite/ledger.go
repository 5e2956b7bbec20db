package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
)

// scopes are the rows that [ledger.Cap.Covers], with the cap's ID as parameter 1.
var scopes = map[string]string{
	ledger.ScopeSession: "session = ?1",
	ledger.ScopeRun:     "(run = ?1 OR parent = ?1)",
	ledger.ScopeDay:     "day = ?1",
	ledger.ScopeStudio:  "?1 IS NOT NULL",
}

func scope(c ledger.Cap) string {
	if where, ok := scopes[c.Scope]; ok {
		return where
	}
	return "?1 IS NULL" // nothing is in a scope that is not known
}

// Amounts are added in two halves, because SQLite refuses a sum that is too large
// for 64 bits, and a cap must answer it instead.
func halves(of string) string {
	return "coalesce(sum((" + of + ") >> 32), 0), coalesce(sum((" + of + ") & 0xffffffff), 0)"
}

// whole is the sum of two halves, at most the largest int64.
func whole(high, low int64) int64 {
	high += low >> 32
	if high > math.MaxInt64>>32 {
		return math.MaxInt64
	}
	return high<<32 | low&0xffffffff
}

// ReserveRow implements [ledger.Rows].
func (s *Store) ReserveRow(ctx context.Context, row ledger.Row, caps []ledger.Cap) error {
	const op = "sqlite.reserve_row"
	doc, err := json.Marshal(row)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "encode the row %q", row.ID)
	}
	return s.write(ctx, op, func(tx txn) error {
		var has int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM ledger WHERE id = ?", row.ID).Scan(&has); err != nil {
			return err
		}
		if has > 0 {
			return fault.New(fault.Conflict, op, "there is a row %q", row.ID)
		}
		for _, c := range caps {
			if err := fits(ctx, tx, row, c); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO ledger (id, session, run, parent, day, state, saved, reserve, cost, doc)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			row.ID, row.Session, row.Run, row.ParentRun, row.At.UTC().Format("2006-01-02"), row.State, row.Saved, row.Reserve, row.Cost, doc)
		return err
	})
}

// fits says whether row.Reserve fits under c.
func fits(ctx context.Context, tx txn, row ledger.Row, c ledger.Cap) error {
	var high, low int64
	err := tx.QueryRowContext(ctx, "SELECT "+halves("CASE state WHEN 'reserved' THEN reserve ELSE cost END")+
		" FROM ledger WHERE "+scope(c)+" AND (NOT saved OR session = ?2)", c.ID, row.Session).Scan(&high, &low)
	if err != nil {
		return err
	}
	if spent := whole(high, low); !c.Fits(spent, row.Reserve) {
		return ledger.OverCap(c, spent, row.Reserve)
	}
	return nil
}

// SettleRow implements [ledger.Rows].
func (s *Store) SettleRow(ctx context.Context, row ledger.Row) error {
	const op = "sqlite.settle_row"
	doc, err := json.Marshal(row)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "encode the row %q", row.ID)
	}
	return s.write(ctx, op, func(tx txn) error {
		var state ledger.State
		err := tx.QueryRowContext(ctx, "SELECT state FROM ledger WHERE id = ?", row.ID).Scan(&state)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return fault.New(fault.Conflict, op, "the row %q is not reserved: there is none", row.ID)
		case err != nil:
			return err
		case state != ledger.Reserved:
			return fault.New(fault.Conflict, op, "the row %q is %s, not reserved", row.ID, state)
		}
		_, err = tx.ExecContext(ctx, `UPDATE ledger SET session = ?, run = ?, parent = ?, day = ?, state = ?, saved = ?, reserve = ?, cost = ?, doc = ?
			WHERE id = ?`, row.Session, row.Run, row.ParentRun, row.At.UTC().Format("2006-01-02"), row.State, row.Saved, row.Reserve, row.Cost, doc, row.ID)
		return err
	})
}

// SumRows implements [ledger.Rows].
func (s *Store) SumRows(ctx context.Context, c ledger.Cap) (ledger.Sum, error) {
	const op = "sqlite.sum_rows"
	db, err := s.use(ctx, op)
	if err != nil {
		return ledger.Sum{}, err
	}
	var m ledger.Sum
	var open, paid, saved [2]int64
	err = db.QueryRowContext(ctx, "SELECT count(*), "+
		halves("CASE WHEN state = 'reserved' THEN reserve END")+", "+
		halves("CASE WHEN state <> 'reserved' AND NOT saved THEN cost END")+", "+
		halves("CASE WHEN state <> 'reserved' AND saved THEN cost END")+
		" FROM ledger WHERE "+scope(c), c.ID).Scan(&m.Rows, &open[0], &open[1], &paid[0], &paid[1], &saved[0], &saved[1])
	m.Open, m.Cost, m.Saved = whole(open[0], open[1]), whole(paid[0], paid[1]), whole(saved[0], saved[1])
	return m, s.broken(err, op)
}

// ListRows implements [ledger.Rows].
func (s *Store) ListRows(ctx context.Context, session string) ([]ledger.Row, error) {
	return list[ledger.Row](ctx, s, "sqlite.list_rows",
		"SELECT doc FROM ledger WHERE ?1 = '' OR session = ?1 ORDER BY n", session)
}

package postgres

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
)

// scopes are the rows that [ledger.Cap.Covers], with the cap's ID as parameter 1.
var scopes = map[string]string{
	ledger.ScopeSession: "session = $1::text",
	ledger.ScopeRun:     "(run = $1::text OR parent = $1::text)",
	ledger.ScopeDay:     "day = $1::text",
	ledger.ScopeStudio:  "$1::text IS NOT NULL",
}

func scope(c ledger.Cap) string {
	if where, ok := scopes[c.Scope]; ok {
		return where
	}
	return "$1::text IS NULL" // nothing is in a scope that is not known
}

// sum adds amounts without a bound, and gives at most the largest int64: a cap must
// answer for what is larger.
func sum(of string) string {
	return "least(coalesce(sum(" + of + "), 0), 9223372036854775807)::bigint"
}

// ReserveRow implements [ledger.Rows].
func (s *Store) ReserveRow(ctx context.Context, row ledger.Row, caps []ledger.Cap) error {
	const op = "postgres.reserve_row"
	doc, err := json.Marshal(row)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "encode the row %q", row.ID)
	}
	return s.write(ctx, op, func(tx *pgx.Conn) error {
		var has int
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM ledger WHERE id = $1", row.ID).Scan(&has); err != nil {
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
		_, err := tx.Exec(ctx, `INSERT INTO ledger (id, session, run, parent, day, state, saved, reserve, cost, doc)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			row.ID, row.Session, row.Run, row.ParentRun, day(row), string(row.State), row.Saved, row.Reserve, row.Cost, doc)
		return err
	})
}

func day(row ledger.Row) string { return row.At.UTC().Format("2006-01-02") }

// fits says whether row.Reserve fits under c.
func fits(ctx context.Context, q querier, row ledger.Row, c ledger.Cap) error {
	var spent int64
	err := q.QueryRow(ctx, "SELECT "+sum("CASE state WHEN 'reserved' THEN reserve ELSE cost END")+
		" FROM ledger WHERE "+scope(c)+" AND (NOT saved OR session = $2)", c.ID, row.Session).Scan(&spent)
	if err != nil {
		return err
	}
	if !c.Fits(spent, row.Reserve) {
		return ledger.OverCap(c, spent, row.Reserve)
	}
	return nil
}

// SettleRow implements [ledger.Rows].
func (s *Store) SettleRow(ctx context.Context, row ledger.Row) error {
	const op = "postgres.settle_row"
	doc, err := json.Marshal(row)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "encode the row %q", row.ID)
	}
	return s.write(ctx, op, func(tx *pgx.Conn) error {
		var state string
		err := tx.QueryRow(ctx, "SELECT state FROM ledger WHERE id = $1", row.ID).Scan(&state)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return fault.New(fault.Conflict, op, "the row %q is not reserved: there is none", row.ID)
		case err != nil:
			return err
		case state != string(ledger.Reserved):
			return fault.New(fault.Conflict, op, "the row %q is %s, not reserved", row.ID, state)
		}
		_, err = tx.Exec(ctx, `UPDATE ledger SET session = $2, run = $3, parent = $4, day = $5, state = $6, saved = $7, reserve = $8, cost = $9, doc = $10
			WHERE id = $1`, row.ID, row.Session, row.Run, row.ParentRun, day(row), string(row.State), row.Saved, row.Reserve, row.Cost, doc)
		return err
	})
}

// SumRows implements [ledger.Rows].
func (s *Store) SumRows(ctx context.Context, c ledger.Cap) (ledger.Sum, error) {
	const op = "postgres.sum_rows"
	db, err := s.use(ctx, op)
	if err != nil {
		return ledger.Sum{}, err
	}
	var m ledger.Sum
	err = db.QueryRow(ctx, "SELECT count(*), "+
		sum("CASE WHEN state = 'reserved' THEN reserve END")+", "+
		sum("CASE WHEN state <> 'reserved' AND NOT saved THEN cost END")+", "+
		sum("CASE WHEN state <> 'reserved' AND saved THEN cost END")+
		" FROM ledger WHERE "+scope(c), c.ID).Scan(&m.Rows, &m.Open, &m.Cost, &m.Saved)
	return m, s.broken(err, op)
}

// ListRows implements [ledger.Rows].
func (s *Store) ListRows(ctx context.Context, session string) ([]ledger.Row, error) {
	return list[ledger.Row](ctx, s, "postgres.list_rows",
		"SELECT doc FROM ledger WHERE $1 = '' OR session = $1 ORDER BY n", session)
}

package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
)

// scopes are the rows that a cap is about; the parameter is the cap's ID. A run's
// scope holds the runs below it.
var scopes = map[string]string{
	"session": "session = ?1",
	"run": `run IN (WITH RECURSIVE below (run) AS (
		SELECT ?1 UNION SELECT l.run FROM ledger l JOIN below b ON l.parent = b.run AND l.parent <> '')
		SELECT run FROM below)`,
	"day":    "day = ?1",
	"studio": "?1 IS NOT NULL",
}

func scope(op string, c ledger.Cap) (string, error) {
	where, ok := scopes[c.Scope]
	if !ok {
		return "", fault.New(fault.Invalid, op, "there is no scope %q", c.Scope).
			WithHint("use session, run, day or studio")
	}
	return where, nil
}

// ReserveRow implements [ledger.Rows].
func (s *Store) ReserveRow(ctx context.Context, row ledger.Row, caps []ledger.Cap) error {
	const op = "sqlite.reserve_row"
	row.State = ledger.Reserved
	doc, err := json.Marshal(row)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "encode the row %q", row.ID)
	}
	return s.write(ctx, op, func(tx *sql.Tx) error {
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
func fits(ctx context.Context, tx *sql.Tx, row ledger.Row, c ledger.Cap) error {
	const op = "sqlite.reserve_row"
	where, err := scope(op, c)
	if err != nil {
		return err
	}
	var spent int64
	err = tx.QueryRowContext(ctx, `SELECT coalesce(sum(CASE state WHEN 'reserved' THEN reserve WHEN 'settled' THEN cost ELSE 0 END), 0)
		FROM ledger WHERE `+where+` AND (NOT saved OR session = ?2)`, c.ID, row.Session).Scan(&spent)
	if err != nil {
		return err
	}
	if spent > c.Limit-row.Reserve {
		return fault.New(ledger.CodeOverCap, op, "the cap of %s %q is %d pico-dollars: %d are spent or set aside, %d more do not fit",
			c.Scope, c.ID, c.Limit, spent, row.Reserve).WithHint("raise the cap, or choose a cheaper model")
	}
	return nil
}

// SettleRow implements [ledger.Rows].
func (s *Store) SettleRow(ctx context.Context, row ledger.Row) error {
	const op = "sqlite.settle_row"
	if row.State == ledger.Reserved {
		return fault.New(fault.Invalid, op, "the row %q would stay reserved", row.ID)
	}
	doc, err := json.Marshal(row)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "encode the row %q", row.ID)
	}
	return s.write(ctx, op, func(tx *sql.Tx) error {
		var state ledger.State
		err := tx.QueryRowContext(ctx, "SELECT state FROM ledger WHERE id = ?", row.ID).Scan(&state)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return fault.New(fault.NotFound, op, "there is no row %q", row.ID)
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
	where, err := scope(op, c)
	if err != nil {
		return ledger.Sum{}, err
	}
	db, err := s.use(ctx, op)
	if err != nil {
		return ledger.Sum{}, err
	}
	var m ledger.Sum
	err = db.QueryRowContext(ctx, `SELECT count(*),
		coalesce(sum(CASE WHEN state = 'reserved' THEN reserve END), 0),
		coalesce(sum(CASE WHEN state = 'settled' AND NOT saved THEN cost END), 0),
		coalesce(sum(CASE WHEN state = 'settled' AND saved THEN cost END), 0)
		FROM ledger WHERE `+where, c.ID).Scan(&m.Rows, &m.Open, &m.Cost, &m.Saved)
	return m, s.broken(err, op)
}

// ListRows implements [ledger.Rows].
func (s *Store) ListRows(ctx context.Context, session string) ([]ledger.Row, error) {
	return list[ledger.Row](ctx, s, "sqlite.list_rows",
		"SELECT doc FROM ledger WHERE ?1 = '' OR session = ?1 ORDER BY n", session)
}

package sqlite

import (
	"context"
	"database/sql"
	"sync"
)

// A txn is a transaction whose statements are parsed once for each connection, and not
// once for each use: parsing takes longer than most of them.
type txn struct {
	*sql.Tx
	db   *sql.DB
	kept *sync.Map // text of a statement to *sql.Stmt
}

// statement is the prepared form of a query, which is one of a few constant texts.
func (t txn) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	kept, ok := t.kept.Load(query)
	if !ok {
		st, err := t.db.PrepareContext(ctx, query)
		if err != nil {
			return nil, err
		}
		var other bool
		if kept, other = t.kept.LoadOrStore(query, st); other {
			_ = st.Close() // somebody was faster
		}
	}
	return t.StmtContext(ctx, kept.(*sql.Stmt)), nil
}

// ExecContext is that of [sql.Tx].
func (t txn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	st, err := t.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(ctx, args...)
}

// QueryRowContext is that of [sql.Tx].
func (t txn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	st, err := t.statement(ctx, query)
	if err != nil {
		return t.Tx.QueryRowContext(ctx, query, args...) // with the same error
	}
	return st.QueryRowContext(ctx, args...)
}

package sqlite

import (
	"context"
	"database/sql"
	"sync"
)

// statements are parsed once for each connection, and not once for each use: parsing
// takes longer than most of them. What is asked is one of a few constant texts.
type statements struct {
	db   *sql.DB
	kept *sync.Map // text of a statement to *sql.Stmt
}

func (s statements) get(ctx context.Context, query string) (*sql.Stmt, error) {
	if kept, ok := s.kept.Load(query); ok {
		return kept.(*sql.Stmt), nil
	}
	st, err := s.db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	kept, other := s.kept.LoadOrStore(query, st)
	if other {
		_ = st.Close() // somebody was faster
	}
	return kept.(*sql.Stmt), nil
}

// QueryRowContext is that of [sql.DB].
func (s statements) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	st, err := s.get(ctx, query)
	if err != nil {
		return s.db.QueryRowContext(ctx, query, args...) // with the same error
	}
	return st.QueryRowContext(ctx, args...)
}

// QueryContext is that of [sql.DB].
func (s statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := s.get(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// A txn is a transaction with such statements.
type txn struct {
	*sql.Tx
	statements
	behind *backlog
}

// ExecContext is that of [sql.Tx].
func (t txn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	st, err := t.get(ctx, query)
	if err != nil {
		return nil, err
	}
	return t.StmtContext(ctx, st).ExecContext(ctx, args...)
}

// QueryRowContext is that of [sql.Tx].
func (t txn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	st, err := t.get(ctx, query)
	if err != nil {
		return t.Tx.QueryRowContext(ctx, query, args...) // with the same error
	}
	return t.StmtContext(ctx, st).QueryRowContext(ctx, args...)
}

// QueryContext is that of [sql.Tx].
func (t txn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return t.Tx.QueryContext(ctx, query, args...)
}

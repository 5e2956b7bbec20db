package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// maxTries bounds how often one write is repeated. Whenever the server refuses one, it
// let another one through.
const maxTries = 200

// write runs f in one serializable transaction: what f decides holds, whatever other
// hosts do meanwhile. Where the server says that one came between, f runs again from
// the start. An error of f undoes all of it.
func (s *Store) write(ctx context.Context, op string, f func(tx *pgx.Conn) error) error {
	pool, err := s.use(ctx, op)
	if err != nil {
		return err
	}
	err = s.try(ctx, pool, op, f)
	if err == nil || !repeatable(err) {
		return s.broken(err, op)
	}
	s.again.Lock()
	defer s.again.Unlock()
	for range maxTries {
		if err = s.try(ctx, pool, op, f); err == nil || !repeatable(err) {
			break
		}
	}
	return s.broken(err, op)
}

// repeatable says that the transaction was undone only because of others: a
// serialization failure, a deadlock, two that made the same row; or was never begun.
func repeatable(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == "40001" || e.Code == "40P01" || e.Code == "23505"
	}
	return pgconn.SafeToRetry(err)
}

// try is one transaction.
func (s *Store) try(ctx context.Context, pool *pgxpool.Pool, op string, f func(tx *pgx.Conn) error) error {
	c, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release() // ends the connection where the transaction is still open
	// The server remembers what a transaction read, to see who came between: by row where
	// it used an index, else the whole table, and then every write of others counts. (What is
	// never cheap without would be compiled first: that takes longer than the query.) The
	// number of the transaction tells later whether it happened.
	begun, err := c.Conn().PgConn().Exec(ctx, "BEGIN ISOLATION LEVEL SERIALIZABLE; SET LOCAL enable_seqscan = off; SET LOCAL jit = off; SELECT pg_current_xact_id()").ReadAll()
	if err != nil {
		return err
	}
	if err := f(c.Conn()); err != nil {
		s.undo(ctx, c)
		return err
	}
	// From here on the caller cannot give up: the server would commit all the same.
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	tag, err := c.Exec(done, "COMMIT")
	if _, said := errors.AsType[*pgconn.PgError](err); err != nil && !said {
		return s.ask(done, pool, op, string(begun[len(begun)-1].Rows[0][0]), err)
	}
	if err == nil && tag.String() != "COMMIT" {
		return fault.New(fault.Internal, op, "the store %q undid a write, and said no more than %q", s.o.Address, tag)
	}
	return err
}

// undo ends the transaction of f that failed.
func (s *Store) undo(ctx context.Context, c *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_, _ = c.Exec(ctx, "ROLLBACK") // the error of f says more; a connection in doubt is not used again
}

// ask finds out whether a transaction happened whose answer was lost with the connection.
func (s *Store) ask(ctx context.Context, pool *pgxpool.Pool, op, xid string, lost error) error {
	var status *string
	err := pool.QueryRow(ctx, "SELECT pg_xact_status($1::text::xid8)", xid).Scan(&status)
	switch {
	case err == nil && status != nil && *status == "committed":
		return nil
	case err == nil && status != nil && *status == "aborted":
		return lost
	}
	return fault.Wrap(lost, store.CodeUnreachable, op, "the connection to the store %q ended while it was saving, and whether it saved is not known", s.o.Address).
		WithHint("look at the history of the piece when the server is up")
}

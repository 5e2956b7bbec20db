package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Lock implements [gate.Between]: it waits until no process of this studio, on whatever
// host, holds key. The server gives the lock back when the connection ends: at once when
// the process dies, within a minute when its host does. A store whose server was replaced
// under it may let a second one in; what they write is still decided by the revision.
//
// Locks have connections of their own: a holder that works never waits for one who waits
// for a lock.
func (s *Store) Lock(ctx context.Context, key string) (unlock func(), err error) {
	const op = "postgres.lock"
	pool, err := s.lockers(ctx, op)
	if err != nil {
		return nil, err
	}
	c, err := pool.Acquire(ctx)
	if err != nil {
		return nil, s.broken(err, op)
	}
	number := s.number("key\x00" + key)
	if _, err := c.Exec(ctx, "SELECT pg_advisory_lock($1)", number); err != nil {
		end(ctx, c) // cancelled or not: it may have the lock by now
		return nil, s.broken(err, op)
	}
	return sync.OnceFunc(func() {
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		var had bool
		if err := c.QueryRow(back, "SELECT pg_advisory_unlock($1)", number).Scan(&had); err != nil || !had {
			end(ctx, c)
			return
		}
		c.Release()
	}), nil
}

// end takes a connection out of its pool, and with it all that it holds.
func end(ctx context.Context, c *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_ = c.Hijack().Close(ctx) // closed it is in any case
}

func (s *Store) lockers(ctx context.Context, op string) (*pgxpool.Pool, error) {
	if err := ctx.Err(); err != nil {
		return nil, cancelled(err, op)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.ended(op)
	}
	if s.locking == nil {
		pool, err := s.pool(ctx, maxLocking)
		if err != nil {
			return nil, err
		}
		s.locking = pool
	}
	return s.locking, nil
}

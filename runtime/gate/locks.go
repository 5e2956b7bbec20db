package gate

import (
	"context"
	"sync"
)

// Locks keeps calls with equal concurrency keys from overlapping. Gates of one
// studio share one. It works within a process; between processes the store's own
// transactions decide.
type Locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	free chan struct{} // holds one token while nobody has the lock
	refs int           // holders and waiters
}

// NewLocks returns an empty set of locks.
func NewLocks() *Locks { return &Locks{held: map[string]*lock{}} }

// Lock waits for key, or until ctx ends. The empty key is never held.
func (l *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	if key == "" {
		return func() {}, ctx.Err()
	}
	l.mu.Lock()
	e := l.held[key]
	if e == nil {
		e = &lock{free: make(chan struct{}, 1)}
		e.free <- struct{}{}
		l.held[key] = e
	}
	e.refs++
	l.mu.Unlock()
	select {
	case <-e.free:
		return sync.OnceFunc(func() {
			e.free <- struct{}{}
			l.drop(key, e)
		}), nil
	case <-ctx.Done():
		l.drop(key, e)
		return nil, ctx.Err()
	}
}

func (l *Locks) drop(key string, e *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.refs--; e.refs == 0 {
		delete(l.held, key)
	}
}

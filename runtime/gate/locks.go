package gate

import (
	"context"
	"sync"
)

// Between keeps the processes of one studio apart: two clients that each started a
// server of their own.
type Between interface {
	// Lock waits until no other process holds key, or until ctx ends.
	Lock(ctx context.Context, key string) (unlock func(), err error)
}

// Locks keeps calls with equal concurrency keys from overlapping. Gates of one
// studio share one, and its processes share what lies between them.
type Locks struct {
	between Between

	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	free chan struct{} // holds one token while nobody has the lock
	refs int           // holders and waiters
}

// NewLocks returns an empty set of locks. Without between it holds in this process
// only.
func NewLocks(between Between) *Locks { return &Locks{between: between, held: map[string]*lock{}} }

// Lock waits for key, first in this process and then between processes, or until ctx
// ends. The empty key is never held.
func (l *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	if key == "" {
		return func() {}, ctx.Err()
	}
	here, err := l.lock(ctx, key)
	if err != nil || l.between == nil {
		return here, err
	}
	there, err := l.between.Lock(ctx, key)
	if err != nil {
		here()
		return nil, err
	}
	return func() {
		there()
		here()
	}, nil
}

// lock waits for key in this process.
func (l *Locks) lock(ctx context.Context, key string) (unlock func(), err error) {
	l.mu.Lock()
	e := l.held[key]
	if e == nil {
		e = &lock{free: make(chan struct{}, 1)}
		e.free <- struct{}{}
		l.held[key] = e
	}
	e.refs++
	l.mu.Unlock()
	release := sync.OnceFunc(func() {
		e.free <- struct{}{}
		l.drop(key, e)
	})
	select {
	case <-e.free: // also for a caller that would not wait
		return release, nil
	default:
	}
	select {
	case <-e.free:
		return release, nil
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

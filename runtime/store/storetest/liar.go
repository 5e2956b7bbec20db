package storetest

import (
	"context"
	"sync/atomic"

	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A Liar is a backend that writes faithfully and reads falsely: Bend changes what
// Get returns once something was written. It counts the writes. Fail, if set, is
// the error of every write: before it, or with After also of one that was done.
type Liar struct {
	store.Store
	Bend  func(p store.Piece) (store.Piece, error)
	Fail  error
	After bool // the write happens, then Fail is returned
	Saves atomic.Int64
}

// Get implements [store.Store].
func (l *Liar) Get(ctx context.Context, ref store.Ref, revision int64) (store.Piece, error) {
	p, err := l.Store.Get(ctx, ref, revision)
	if err != nil || l.Bend == nil || l.Saves.Load() == 0 {
		return p, err
	}
	return l.Bend(p)
}

// Create implements [store.Store].
func (l *Liar) Create(ctx context.Context, p store.Piece, s store.Stamp) (store.Piece, error) {
	return l.save(func() (store.Piece, error) { return l.Store.Create(ctx, p, s) })
}

// Update implements [store.Store].
func (l *Liar) Update(ctx context.Context, p store.Piece, s store.Stamp) (store.Piece, error) {
	return l.save(func() (store.Piece, error) { return l.Store.Update(ctx, p, s) })
}

func (l *Liar) save(write func() (store.Piece, error)) (store.Piece, error) {
	l.Saves.Add(1)
	if l.Fail != nil && !l.After {
		return store.Piece{}, l.Fail
	}
	p, err := write()
	if err == nil && l.Fail != nil {
		return store.Piece{}, l.Fail
	}
	return p, err
}

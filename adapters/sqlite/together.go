package sqlite

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/store"
)

// CreateAll implements [store.Together].
func (s *Store) CreateAll(ctx context.Context, ps []store.Piece, stamp store.Stamp) ([]store.Piece, error) {
	const op = "sqlite.create"
	made, err := store.PrepareAll(ps, stamp)
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, op, func(tx txn) error {
		for i := range made {
			if err := insert(ctx, tx, op, &made[i]); err != nil {
				return err
			}
			if err := put(ctx, tx, made[i], stamp); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

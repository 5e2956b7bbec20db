package sqlite

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/lock"
)

// locksDir holds the locks of a studio, beside its store: 256 empty files, at most.
const locksDir = "locks"

// Lock waits until no process of this studio holds key, or until ctx ends. The system
// gives the lock back when the process dies, so that a crash needs no repair. Two keys
// may wait for one another now and then: they share files. Within this process too.
func (s *Store) Lock(ctx context.Context, key string) (unlock func(), err error) {
	const op = "sqlite.lock"
	name := fmt.Sprintf("%02x", sha256.Sum256([]byte(key))[0])
	unlock, err = lock.File(ctx, filepath.Join(filepath.Dir(s.path), locksDir, name))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, cancelled(ctx.Err(), op)
	case err != nil:
		return nil, fault.Wrap(err, fault.Internal, op, "take the lock of %q", key).
			WithHint("check who may write the folder of the store")
	}
	return unlock, nil
}

package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// locksDir holds the locks of a studio, beside its store: 256 empty files, at most.
const locksDir = "locks"

// Lock waits until no process of this studio holds key, or until ctx ends. The system
// gives the lock back when the process dies, so that a crash needs no repair. Two keys
// may wait for one another now and then: they share files. Within this process too.
func (s *Store) Lock(ctx context.Context, key string) (unlock func(), err error) {
	const op = "sqlite.lock"
	f, err := s.lockFile(key)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "open the lock of %q", key).
			WithHint("check who may write the folder of the store")
	}
	got, err := lock(f, false)
	if got {
		return sync.OnceFunc(func() { _ = f.Close() }), nil // the lock goes with the file
	}
	if err != nil {
		_ = f.Close() // the first error says more
		return nil, fault.Wrap(err, fault.Internal, op, "take the lock of %q", key)
	}
	done := make(chan error, 1)
	go func() {
		_, err := lock(f, true)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			_ = f.Close() // the first error says more
			return nil, fault.Wrap(err, fault.Internal, op, "take the lock of %q", key)
		}
		return sync.OnceFunc(func() { _ = f.Close() }), nil
	case <-ctx.Done():
		go func() { // whoever has it now gives it back, and then so do we
			<-done
			_ = f.Close()
		}()
		return nil, cancelled(ctx.Err(), op)
	}
}

// lockFile opens the file of a key, and makes the folder on first use.
func (s *Store) lockFile(key string) (*os.File, error) {
	dir := filepath.Join(filepath.Dir(s.path), locksDir)
	name := filepath.Join(dir, fmt.Sprintf("%02x", sha256.Sum256([]byte(key))[0]))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	}
	return f, err
}

// Package lock lets one process at a time do something: it takes a lock that all who name
// the same file share.
//
// It is for stores and lists that several processes of one person change. The system
// gives a lock back when its process dies, so that a crash needs no repair. What it
// guards, and for how long, is the caller's; it knows no deadlock.
package lock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// File waits until nobody holds the lock of the file at path, here or in another process,
// or until ctx ends; the error is then that of ctx. The file is made empty, with its
// folder, for its owner alone, and stays: it is never read. A second unlock does nothing.
func File(ctx context.Context, path string) (unlock func(), err error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	free := sync.OnceFunc(func() { _ = f.Close() }) // the lock goes with the file
	got, err := take(f, false)
	if got {
		return free, nil
	}
	if err != nil {
		free()
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		_, err := take(f, true)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			free()
			return nil, err
		}
		return free, nil
	case <-ctx.Done():
		go func() { // whoever has it now gives it back, and then so do we
			<-done
			free()
		}()
		return nil, ctx.Err()
	}
}

func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	}
	return f, err
}

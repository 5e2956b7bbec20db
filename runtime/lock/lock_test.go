package lock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/lock"
)

// A file that many read, change and write at once loses nothing where each holds the lock.
func TestOneAtATime(t *testing.T) {
	dir := t.TempDir()
	path, list := filepath.Join(dir, "deep", "list.lock"), filepath.Join(dir, "list")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			unlock, err := lock.File(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			raw, _ := os.ReadFile(list) // none at first
			if err := os.WriteFile(list, append(raw, 'x'), 0o600); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if raw, err := os.ReadFile(list); len(raw) != 20 || err != nil {
		t.Errorf("%d of 20, %v", len(raw), err)
	}
}

// A wait that ends leaves the lock to others, and one that is given back twice is free.
func TestAWaitEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.lock")
	unlock, err := lock.File(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lock.File(gone, path); !errors.Is(err, context.Canceled) {
		t.Errorf("a held lock: %v", err)
	}
	unlock()
	unlock()
	again, err := lock.File(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	again()
	if raw, err := os.ReadFile(path); err != nil || len(raw) > 0 {
		t.Errorf("the file holds %q, %v", raw, err)
	}
}

func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lock.File(t.Context(), filepath.Join(file, "list.lock")); err == nil {
		t.Error("locked within a file")
	}
}

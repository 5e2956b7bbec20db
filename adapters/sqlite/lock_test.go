package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// holdForever is a process that has the lock and never gives it back.
func holdForever(t *testing.T, path string, say func(line string)) {
	if _, err := open(t, path).Lock(t.Context(), "piece:character/ada"); err != nil {
		say("error " + err.Error())
	}
	say("held")
	select {}
}

// Two processes over one studio never hold one key at once, and one that is killed
// gives it back.
func TestALockHoldsBetweenProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	p := start(t, "hold", path)
	for line, ok := p.Next(); ok && line != "held"; line, ok = p.Next() {
		t.Log(line)
	}
	st := open(t, path)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := st.Lock(gone, "piece:character/ada"); fault.CodeOf(err) != fault.Cancelled {
		t.Fatalf("a second process got the lock: %v", err)
	}
	free, err := st.Lock(gone, "piece:character/bea") // free, so nobody waits
	if err != nil {
		t.Fatalf("another key: %v", err)
	}
	free()
	free() // a second time does nothing
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // a killed process's status is an error
	unlock, err := st.Lock(t.Context(), "piece:character/ada")
	if err != nil {
		t.Fatalf("after the holder was killed: %v", err)
	}
	unlock()
	if st.Opens() != 0 {
		t.Error("a lock opened the database")
	}
}

// A wait that was given up leaves the lock to others.
func TestALockThatNobodyWaitsFor(t *testing.T) {
	st := open(t, filepath.Join(t.TempDir(), "store.db"))
	unlock, err := st.Lock(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if _, err := st.Lock(ctx, "k"); fault.CodeOf(err) != fault.Cancelled {
			t.Errorf("Lock = %v", err)
		}
	}
	unlock()
	again, err := st.Lock(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestALockWithoutAFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "locks")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, filepath.Join(dir, "store.db")).Lock(t.Context(), "k"); fault.CodeOf(err) != fault.Internal || fault.HintOf(err) == "" {
		t.Errorf("Lock = %v", err)
	}
}

func BenchmarkLock(b *testing.B) {
	st := open(b, filepath.Join(b.TempDir(), "store.db"))
	for b.Loop() {
		unlock, err := st.Lock(b.Context(), "piece:character/ada")
		if err != nil {
			b.Fatal(err)
		}
		unlock()
	}
}

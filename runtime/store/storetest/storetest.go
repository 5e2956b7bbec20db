// Package storetest is the suite that every backend of the studio's store passes:
// pieces and drafts.
//
// It belongs to the kernel's tests and is imported by tests only. It says by
// example what the ports promise; it does not measure speed and does not kill
// processes: each backend's own tests do.
package storetest

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// Run checks a backend of [store.Store]. Each call of open gives an empty store,
// which open closes by t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	tests := []struct {
		name string
		run  func(t *testing.T, st store.Store)
	}{
		{"create", testCreate},
		{"create together", testTogether},
		{"bad input", testBadInput},
		{"bounds", testBounds},
		{"update", testUpdate},
		{"escrow", testEscrow},
		{"profiles", testProfiles},
		{"delete and recreate", testDelete},
		{"history", testHistory},
		{"list", testList},
		{"pages", testPages},
		{"search", testSearch},
		{"ownership of bytes", testAliasing},
		{"one of many updates wins", testOneUpdateWins},
		{"one of many creates wins", testOneCreateWins},
		{"cancelled", testCancelled},
		{"dump", testDump},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// now is when the suite writes: with more digits than a backend keeps, and not in
// UTC, so that both show.
var now = time.Date(2026, 1, 2, 4, 4, 5, 123456789, time.FixedZone("", 3600))

func stamp(n int64) store.Stamp {
	return store.Stamp{At: now.Add(time.Duration(n) * time.Second), Session: "s-1", Seq: n, Cause: fmt.Sprintf("cause %d", n)}
}

func piece(kind, id string) store.Piece {
	return store.Piece{
		Ref:   store.Ref{Kind: kind, ID: id},
		Title: "Title of " + id,
		Body:  []byte(`{"name":"` + id + `"}`),
	}
}

func create(t *testing.T, st store.Store, p store.Piece, n int64) store.Piece {
	t.Helper()
	got, err := st.Create(t.Context(), p, stamp(n))
	if err != nil {
		t.Fatalf("Create(%s): %v", p.Ref, err)
	}
	return got
}

func wantCode(t *testing.T, what string, err error, want fault.Code) {
	t.Helper()
	if got := fault.CodeOf(err); got != want {
		t.Errorf("%s: error %v has code %q, want %q", what, err, got, want)
	}
}

func wantPiece(t *testing.T, got, want store.Piece) {
	t.Helper()
	if got.Ref != want.Ref || got.Revision != want.Revision || got.Title != want.Title || !got.Updated.Equal(want.Updated) {
		t.Errorf("piece %s r%d %q %v, want %s r%d %q %v", got.Ref, got.Revision, got.Title, got.Updated,
			want.Ref, want.Revision, want.Title, want.Updated)
	}
	if !bytes.Equal(got.Body, want.Body) {
		t.Errorf("body of %s is %s, want %s", want.Ref, got.Body, want.Body)
	}
	if !bytes.Equal(got.Profiles, want.Profiles) {
		t.Errorf("profiles of %s are %s, want %s", want.Ref, got.Profiles, want.Profiles)
	}
	if !store.EqualEscrow(got.Escrow, want.Escrow) {
		t.Errorf("escrow of %s differs from what was written", want.Ref)
	}
}

// stored is p as it comes back.
func stored(p store.Piece, revision int64, s store.Stamp) store.Piece {
	p.Revision, p.Updated = revision, store.Instant(s.At)
	return p
}

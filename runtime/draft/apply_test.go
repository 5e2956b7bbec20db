package draft_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/store/storetest"
)

// over is the service over another store and the same drafts.
func (b bench) over(st store.Store) bench {
	b.Service = draft.New(st, b.mem, b.clk, noBad{})
	return b
}

func (b bench) wantState(t *testing.T, id string, want draft.State) draft.Draft {
	t.Helper()
	d, err := b.mem.GetDraft(t.Context(), id)
	if err != nil || d.State != want {
		t.Errorf("the draft is %q (%s), %v, want %q", d.State, d.Reason, err, want)
	}
	return d
}

func (b bench) wantRevision(t *testing.T, want int64) {
	t.Helper()
	if p, err := b.mem.Get(t.Context(), ada, 0); err != nil || p.Revision != want {
		t.Errorf("ada is at revision %d, %v, want %d", p.Revision, err, want)
	}
}

func TestApply(t *testing.T) {
	b := newBench(t)
	d := b.mustRename(t, "s-1", "Ada L.")
	r, err := b.Apply(t.Context(), "s-1", d.ID, 12)
	want := draft.Receipt{Draft: d.ID, Outcome: draft.Applied, Target: ada, Revision: 2, Detail: `"character/ada" is at revision 2, read again and verified`}
	if err != nil || r != want {
		t.Errorf("Apply = %+v, %v, want %+v", r, err, want)
	}
	b.wantState(t, d.ID, draft.Applied)
	_, err = b.Apply(t.Context(), "s-1", d.ID, 13)
	wantCode(t, "second Apply", err, draft.CodeClosed)
	b.wantRevision(t, 2)
	_, err = b.Apply(t.Context(), "s-1", "d-9", 13)
	wantCode(t, "Apply of none", err, fault.NotFound)
}

func TestApplyStale(t *testing.T) {
	tests := []struct {
		name   string
		before func(t *testing.T, b bench)
		want   string
		rev    int64
	}{
		{"changed", func(t *testing.T, b bench) {
			other := b.mustRename(t, "s-2", "Other")
			if _, err := b.Apply(t.Context(), "s-2", other.ID, 1); err != nil {
				t.Fatal(err)
			}
		}, "is at revision 2, the draft starts from 1", 2},
		{"deleted", func(t *testing.T, b bench) {
			if err := b.mem.Delete(t.Context(), ada, 1, store.Stamp{}); err != nil {
				t.Fatal(err)
			}
		}, "was deleted after revision 1", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			d := b.mustRename(t, "s-1", "Ada L.")
			tt.before(t, b)
			r, err := b.Apply(t.Context(), "s-1", d.ID, 12)
			if err != nil || r.Outcome != draft.Stale || r.Revision != 0 || !strings.Contains(r.Detail, tt.want) {
				t.Errorf("Apply = %+v, %v, want stale: %s", r, err, tt.want)
			}
			b.wantState(t, d.ID, draft.Stale)
			if p, err := b.mem.Get(t.Context(), ada, 0); p.Revision != tt.rev {
				t.Errorf("ada is at revision %d, %v, want %d", p.Revision, err, tt.rev)
			}
		})
	}
}

func TestApplyCollision(t *testing.T) {
	b := newBench(t)
	bob := store.Piece{Ref: store.Ref{Kind: "character", ID: "bob"}, Body: []byte(`{"name":"Bob"}`)}
	d, err := b.Compose(t.Context(), "s-1", draft.Proposal{Create: true, Baseline: store.Piece{Ref: bob.Ref}, Proposed: bob})
	if err != nil {
		t.Fatal(err)
	}
	bob.Body = []byte(`{"name":"another"}`)
	if _, err := b.mem.Create(t.Context(), bob, store.Stamp{Cause: "import"}); err != nil {
		t.Fatal(err)
	}
	r, err := b.Apply(t.Context(), "s-1", d.ID, 1)
	if err != nil || r.Outcome != draft.Stale || !strings.Contains(r.Detail, "was taken, by revision 1") {
		t.Errorf("Apply = %+v, %v, want stale", r, err)
	}
	if p, err := b.mem.Get(t.Context(), bob.Ref, 0); err != nil || string(p.Body) != `{"name":"another"}` || p.Revision != 1 {
		t.Errorf("bob is %s at %d, %v, want what was there", p.Body, p.Revision, err)
	}
}

func TestApplyAgainstALiar(t *testing.T) {
	bends := map[string]func(p store.Piece) (store.Piece, error){
		"body":     func(p store.Piece) (store.Piece, error) { p.Body = []byte(`{"name":"Eve"}`); return p, nil },
		"half":     func(p store.Piece) (store.Piece, error) { p.Body = p.Body[:5]; return p, nil },
		"title":    func(p store.Piece) (store.Piece, error) { p.Title = "Eve"; return p, nil },
		"profiles": func(p store.Piece) (store.Piece, error) { p.Profiles = nil; return p, nil },
		"escrow":   func(p store.Piece) (store.Piece, error) { p.Escrow = nil; return p, nil },
		"revision": func(p store.Piece) (store.Piece, error) { p.Revision--; return p, nil },
		"ref":      func(p store.Piece) (store.Piece, error) { p.ID = "eve"; return p, nil },
		"error":    func(store.Piece) (store.Piece, error) { return store.Piece{}, errors.New("disk on fire") },
	}
	for name, bend := range bends {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			liar := &storetest.Liar{Store: b.mem, Bend: bend}
			b = b.over(liar)
			d := b.mustRename(t, "s-1", "Ada L.")
			r, err := b.Apply(t.Context(), "s-1", d.ID, 1)
			if err != nil || r.Outcome != draft.Failed || r.Revision != 2 || r.Detail == "" {
				t.Errorf("Apply = %+v, %v, want failed at revision 2", r, err)
			}
			if n := liar.Saves.Load(); n != 1 {
				t.Errorf("%d saves, want 1", n)
			}
			b.wantState(t, d.ID, draft.Failed)
		})
	}
}

func TestApplySaveFails(t *testing.T) {
	broken := fault.New(fault.Internal, "x", "disk full")
	gone := fault.Wrap(context.Canceled, fault.Cancelled, "x", "the caller gave up")
	tests := []struct {
		name  string
		fail  error
		after bool // the write was done all the same
		code  fault.Code
		want  draft.State
		rev   int64
	}{
		{"broken", broken, false, "", draft.Failed, 1},
		{"broken after it was written", broken, true, "", draft.Applied, 2},
		{"cancelled", gone, false, fault.Cancelled, draft.Open, 1},
		{"cancelled after it was written", gone, true, "", draft.Applied, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			liar := &storetest.Liar{Store: b.mem, Fail: tt.fail, After: tt.after}
			b = b.over(liar)
			d := b.mustRename(t, "s-1", "Ada L.")
			r, err := b.Apply(t.Context(), "s-1", d.ID, 1)
			wantCode(t, "Apply", err, tt.code)
			if tt.code == "" && r.Outcome != tt.want {
				t.Errorf("receipt %+v, want %s", r, tt.want)
			}
			b.wantState(t, d.ID, tt.want)
			b.wantRevision(t, tt.rev)
			if n := liar.Saves.Load(); n != 1 {
				t.Errorf("%d saves, want 1", n)
			}
		})
	}
}

// TestApplyAfterACrash puts the draft into the states in which a process can die.
func TestApplyAfterACrash(t *testing.T) {
	setup := func(t *testing.T, saved bool) (bench, draft.Draft) {
		b := newBench(t)
		d := b.mustRename(t, "s-1", "Ada L.")
		d.Rev, d.State = d.Rev+1, draft.Applying
		if err := b.mem.PutDraft(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if saved {
			if _, err := b.mem.Update(t.Context(), d.Proposed, store.Stamp{Session: "s-1", Cause: draft.Cause(d.ID)}); err != nil {
				t.Fatal(err)
			}
		}
		b.Service = draft.New(b.mem, b.mem, clock.NewFixed(clock.Epoch), noBad{})
		return b, d
	}
	t.Run("between save and state", func(t *testing.T) {
		b, d := setup(t, true)
		if got, err := b.Get(t.Context(), d.ID); err != nil || got.State != draft.Applied {
			t.Errorf("Get shows %q, %v, want applied", got.State, err)
		}
		if list, err := b.List(t.Context(), false); err != nil || len(list) != 0 {
			t.Errorf("List of the open = %v, %v, want nothing", list, err)
		}
		_, err := b.Discard(t.Context(), "s-1", d.ID, "no")
		wantCode(t, "Discard", err, draft.CodeClosed)
		r, err := b.Apply(t.Context(), "s-1", d.ID, 1)
		if err != nil || r.Outcome != draft.Applied || r.Revision != 2 {
			t.Errorf("Apply = %+v, %v, want applied at revision 2", r, err)
		}
		b.wantRevision(t, 2)
		b.wantState(t, d.ID, draft.Applied)
	})
	t.Run("the piece went on since", func(t *testing.T) {
		b, d := setup(t, true)
		b.rename(t, "s-2", "Later")
		later := b.mustRename(t, "s-2", "Later still")
		if _, err := b.Apply(t.Context(), "s-2", later.ID, 1); err != nil {
			t.Fatal(err)
		}
		if r, err := b.Apply(t.Context(), "s-1", d.ID, 1); err != nil || r.Outcome != draft.Applied || r.Revision != 2 {
			t.Errorf("Apply = %+v, %v, want applied at revision 2", r, err)
		}
		b.wantRevision(t, 3)
	})
	t.Run("before the save", func(t *testing.T) {
		b, d := setup(t, false)
		if got, err := b.Get(t.Context(), d.ID); err != nil || got.State != draft.Applying {
			t.Errorf("Get shows %q, %v, want applying", got.State, err)
		}
		r, err := b.Apply(t.Context(), "s-1", d.ID, 1)
		if err != nil || r.Outcome != draft.Applied || r.Revision != 2 {
			t.Errorf("Apply = %+v, %v, want applied at revision 2", r, err)
		}
	})
	t.Run("before the save, and discarded", func(t *testing.T) {
		b, d := setup(t, false)
		if _, err := b.Discard(t.Context(), "s-1", d.ID, "no"); err != nil {
			t.Fatal(err)
		}
		b.wantState(t, d.ID, draft.Discarded)
		b.wantRevision(t, 1)
	})
}

func TestOneOfManyApplies(t *testing.T) {
	const many = 64
	t.Run("one draft", func(t *testing.T) {
		b := newBench(t)
		liar := &storetest.Liar{Store: b.mem}
		b = b.over(liar)
		d := b.mustRename(t, "s-1", "Ada L.")
		applied, codes := race(many, func(int) (draft.Receipt, error) { return b.Apply(t.Context(), "s-1", d.ID, 1) })
		if applied[draft.Applied] != 1 || codes[draft.CodeClosed] != many-1 {
			t.Errorf("receipts %v, errors %v, want 1 applied and the rest %s", applied, codes, draft.CodeClosed)
		}
		b.wantRevision(t, 2)
		b.wantState(t, d.ID, draft.Applied)
	})
	t.Run("many drafts of one piece", func(t *testing.T) {
		b := newBench(t)
		ids := make([]string, many)
		for i := range ids {
			owner := fmt.Sprint("s-", i)
			ids[i] = b.mustRename(t, owner, "Ada of "+owner).ID
		}
		outcomes, codes := race(many, func(i int) (draft.Receipt, error) {
			return b.Apply(t.Context(), fmt.Sprint("s-", i), ids[i], 1)
		})
		if outcomes[draft.Applied] != 1 || outcomes[draft.Stale] != many-1 {
			t.Errorf("receipts %v, errors %v, want 1 applied and the rest stale", outcomes, codes)
		}
		b.wantRevision(t, 2)
	})
	t.Run("apply against discard", func(t *testing.T) {
		b := newBench(t)
		d := b.mustRename(t, "s-1", "Ada L.")
		outcomes, codes := race(many, func(i int) (draft.Receipt, error) {
			if i%2 == 0 {
				d, err := b.Discard(t.Context(), "s-1", d.ID, "no")
				return draft.Receipt{Outcome: d.State}, err
			}
			return b.Apply(t.Context(), "s-1", d.ID, 1)
		})
		now, err := b.mem.GetDraft(t.Context(), d.ID)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := b.mem.Get(t.Context(), ada, 0)
		if saved := p.Revision == 2; saved != (now.State == draft.Applied) {
			t.Errorf("the draft is %s and the piece at revision %d (receipts %v, errors %v)", now.State, p.Revision, outcomes, codes)
		}
	})
}

func race(n int, f func(i int) (draft.Receipt, error)) (map[draft.State]int, map[fault.Code]int) {
	var mu sync.Mutex
	outcomes, codes := map[draft.State]int{}, map[fault.Code]int{}
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			r, err := f(i)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				codes[fault.CodeOf(err)]++
			} else {
				outcomes[r.Outcome]++
			}
		})
	}
	close(start)
	wg.Wait()
	return outcomes, codes
}
